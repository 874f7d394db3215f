//! A row for each process, kept in columns.
//!
//! Rows stand in the order of the processes' places in the node's table. Functions, types and the like
//! are the same few for most processes, so a row has the number of its *kind*; names, which few have,
//! lie beside the columns.
//!
//! COST: 81 bytes a row; beside the table that is whole there is one that is being made.

use std::time::Duration;

use purlin::observe::Seen;
use purlin::{Name, ProcessId, ProcessState};
use rustc_hash::FxHashMap;

/// How many rows a table may have.
pub const MOST_ROWS: usize = 1 << 22;

/// A row for each process of a node.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// When its making began and ended, in the time of the node.
    pub(super) from: Duration,
    pub(super) until: Duration,
    pub(super) ids: Vec<ProcessId>,
    pub(super) parents: Vec<Option<ProcessId>>,
    pub(super) kinds: Vec<u32>,
    pub(super) states: Vec<ProcessState>,
    pub(super) mailboxes: Vec<u32>,
    pub(super) received: Vec<u64>,
    pub(super) sent: Vec<u64>,
    pub(super) reductions: Vec<u64>,
    /// A second, since the table before.
    pub(super) received_rates: Vec<f32>,
    pub(super) sent_rates: Vec<f32>,
    pub(super) reduction_rates: Vec<f32>,
    /// When it was first seen.
    pub(super) first_seen: Vec<Moment>,
    /// Those that have a name, by row.
    pub(super) names: Vec<(u32, Name)>,
    pub(super) all_kinds: Vec<Kind>,
    numbers: FxHashMap<(usize, bool), u32>,
}

/// What many processes have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) function: &'static str,
    pub(super) message_type: &'static str,
    pub(super) serves: bool,
    supervises: bool,
    bytes: u32,
    bytes_of_message: u32,
}

/// Tenths of a second of the node's time, which last for six years, doubled, and one if a process that was first seen
/// then had been born a moment before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(u32);

/// One process of a table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row<'a> {
    /// Its identity.
    pub id: ProcessId,
    /// Its name, if it has one.
    pub name: Option<&'a Name>,
    /// What it was doing.
    pub state: ProcessState,
    /// The function it runs.
    pub function: &'static str,
    /// The type of its messages.
    pub message_type: &'static str,
    /// Who spawned it, if a process did.
    pub parent: Option<ProcessId>,
    /// It serves the node's processes and is none of a program's.
    pub serves: bool,
    /// It is a supervisor.
    pub supervises: bool,
    /// Messages that waited.
    pub mailbox_len: u64,
    /// Messages it had received.
    pub messages_in: u64,
    /// Messages received a second, since the table before.
    pub messages_in_per_second: f32,
    /// Messages and signals it had sent.
    pub messages_out: u64,
    /// Messages and signals sent a second, since the table before.
    pub messages_out_per_second: f32,
    /// Its reductions.
    pub reductions: u64,
    /// Reductions a second, since the table before.
    pub reductions_per_second: f32,
    /// Bytes of the process and of the messages that wait, without what they point to.
    pub memory: u64,
    /// How old it is.
    pub age: Age,
}

/// How old a process is, as far as whoever looks has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// It was born while somebody looked: so old it is, give or take the time between two tables.
    About(Duration),
    /// It was there when somebody began to look: it is older than that.
    MoreThan(Duration),
}

impl Age {
    /// The time, whichever it is.
    pub fn time(self) -> Duration {
        match self {
            Self::About(time) | Self::MoreThan(time) => time,
        }
    }
}

impl Moment {
    pub(super) fn new(at: Duration, born: bool) -> Self {
        let tenths = u32::try_from(at.as_millis() / 100).unwrap_or(u32::MAX);
        Self(tenths.min(u32::MAX >> 1) << 1 | u32::from(born))
    }

    /// In the node's time.
    pub(super) fn nanos(self) -> u64 {
        u64::from(self.0 >> 1) * 100_000_000
    }

    fn age(self, now: Duration) -> Age {
        let age = now.saturating_sub(Duration::from_nanos(self.nanos()));
        if self.0 & 1 != 0 { Age::About(age) } else { Age::MoreThan(age) }
    }
}

/// What a row has of the table before.
pub(super) struct Since {
    pub(super) first_seen: Moment,
    pub(super) received_rate: f32,
    pub(super) sent_rate: f32,
    pub(super) reduction_rate: f32,
}

impl Table {
    /// An empty one with room for so many.
    pub(super) fn with_room(from: Duration, rows: usize) -> Self {
        let rows = rows.min(MOST_ROWS);
        Self {
            from,
            ids: Vec::with_capacity(rows),
            parents: Vec::with_capacity(rows),
            kinds: Vec::with_capacity(rows),
            states: Vec::with_capacity(rows),
            mailboxes: Vec::with_capacity(rows),
            received: Vec::with_capacity(rows),
            sent: Vec::with_capacity(rows),
            reductions: Vec::with_capacity(rows),
            received_rates: Vec::with_capacity(rows),
            sent_rates: Vec::with_capacity(rows),
            reduction_rates: Vec::with_capacity(rows),
            first_seen: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    /// How many processes there are in it.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// When its making began and when it ended, in the time of the node: each row was seen between.
    pub fn made(&self) -> (Duration, Duration) {
        (self.from, self.until)
    }

    /// A row; `None` if there are not so many.
    pub fn row(&self, row: usize) -> Option<Row<'_>> {
        let kind = self.kind_of(row)?;
        Some(Row {
            id: self.ids[row],
            name: self.name_of(row),
            state: self.states[row],
            function: kind.function,
            message_type: kind.message_type,
            parent: self.parents[row],
            serves: kind.serves,
            supervises: kind.supervises,
            mailbox_len: self.mailboxes[row].into(),
            messages_in: self.received[row],
            messages_in_per_second: self.received_rates[row],
            messages_out: self.sent[row],
            messages_out_per_second: self.sent_rates[row],
            reductions: self.reductions[row],
            reductions_per_second: self.reduction_rates[row],
            memory: self.memory_of(row),
            age: self.first_seen[row].age(self.until),
        })
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).filter_map(|row| self.row(row))
    }

    /// Each row's process, who spawned it, and whether it is a supervisor.
    pub(crate) fn kin(&self) -> impl Iterator<Item = (ProcessId, Option<ProcessId>, bool)> {
        let supervises = self.kinds.iter().map(|kind| self.all_kinds[*kind as usize].supervises);
        let kin = self.ids.iter().zip(&self.parents).zip(supervises);
        kin.map(|((id, parent), supervises)| (*id, *parent, supervises))
    }

    /// The row of a process, if it is there.
    pub fn find(&self, id: ProcessId) -> Option<usize> {
        self.at_place(id.id()).filter(|&row| self.ids[row] == id)
    }

    /// The row of the process that has that [`ProcessId::id`].
    pub(super) fn at_place(&self, place: u32) -> Option<usize> {
        self.ids.binary_search_by_key(&place, |known| known.id()).ok()
    }

    /// How many messages wait for each process, row by row.
    pub(crate) fn mailboxes(&self) -> &[u32] {
        &self.mailboxes
    }

    /// The names there are, and who has them.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Name, ProcessId)> {
        self.names.iter().map(|(row, name)| (name, self.ids[*row as usize]))
    }

    pub(super) fn kind_of(&self, row: usize) -> Option<&Kind> {
        self.all_kinds.get(*self.kinds.get(row)? as usize)
    }

    pub(super) fn memory_of(&self, row: usize) -> u64 {
        let bytes = |kind: &Kind| {
            u64::from(kind.bytes)
                + u64::from(self.mailboxes[row]) * u64::from(kind.bytes_of_message)
        };
        self.kind_of(row).map_or(0, bytes)
    }

    pub(super) fn name_of(&self, row: usize) -> Option<&Name> {
        let at = self.names.binary_search_by_key(&(row as u32), |(row, _)| *row).ok()?;
        Some(&self.names[at].1)
    }

    /// Adds a process, whose place in the node's table is behind all that are there; `false` if there is no
    /// room.
    pub(super) fn push(&mut self, seen: &Seen, since: &Since) -> bool {
        if self.len() == MOST_ROWS {
            return false;
        }
        let kind = self.number_of(seen);
        self.ids.push(seen.id);
        self.parents.push(seen.parent);
        self.kinds.push(kind);
        self.states.push(seen.state);
        self.mailboxes.push(u32::try_from(seen.mailbox_len).unwrap_or(u32::MAX));
        self.received.push(seen.messages_in);
        self.sent.push(seen.messages_out);
        self.reductions.push(seen.reductions);
        self.received_rates.push(since.received_rate);
        self.sent_rates.push(since.sent_rate);
        self.reduction_rates.push(since.reduction_rate);
        self.first_seen.push(since.first_seen);
        true
    }

    fn number_of(&mut self, seen: &Seen) -> u32 {
        let kinds = &mut self.all_kinds;
        *self.numbers.entry((seen.kind.number(), seen.serves)).or_insert_with(|| {
            kinds.push(Kind {
                function: seen.kind.function(),
                message_type: seen.kind.message_type(),
                serves: seen.serves,
                supervises: seen.kind.supervises(),
                bytes: seen.kind.bytes() as u32,
                bytes_of_message: seen.kind.bytes_of_message() as u32,
            });
            kinds.len() as u32 - 1
        })
    }

    /// A table that a test makes up: these processes, in the order of their places, seen at that time.
    #[cfg(test)]
    pub(crate) fn made_up(rows: &[Row<'_>], at: Duration) -> Self {
        let mut table = Self { from: at, until: at, ..Self::default() };
        for row in rows {
            table.names.extend(row.name.map(|name| (table.ids.len() as u32, name.clone())));
            table.ids.push(row.id);
            table.parents.push(row.parent);
            let kind = Kind {
                function: row.function,
                message_type: row.message_type,
                serves: row.serves,
                supervises: row.supervises,
                bytes: row.memory as u32,
                bytes_of_message: 0,
            };
            let known = table.all_kinds.iter().position(|known| *known == kind);
            table.kinds.push(known.unwrap_or(table.all_kinds.len()) as u32);
            if known.is_none() {
                table.all_kinds.push(kind);
            }
            table.states.push(row.state);
            table.mailboxes.push(u32::try_from(row.mailbox_len).unwrap_or(u32::MAX));
            table.received.push(row.messages_in);
            table.sent.push(row.messages_out);
            table.reductions.push(row.reductions);
            table.received_rates.push(row.messages_in_per_second);
            table.sent_rates.push(row.messages_out_per_second);
            table.reduction_rates.push(row.reductions_per_second);
            let born = matches!(row.age, Age::About(_));
            table.first_seen.push(Moment::new(at.saturating_sub(row.age.time()), born));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Age, Moment};

    #[test]
    fn an_age_is_known_of_who_was_born_while_somebody_looked() {
        let (then, now) = (Duration::from_millis(1200), Duration::from_secs(5));
        assert_eq!(Moment::new(then, true).age(now), Age::About(now - then));
        assert_eq!(Moment::new(then, false).age(now), Age::MoreThan(now - then));
        assert_eq!(Moment::new(now, true).age(then).time(), Duration::ZERO);
        let late = Moment::new(Duration::MAX, true);
        assert_eq!(
            late.age(Duration::MAX),
            Age::About(Duration::MAX - Duration::from_millis(100 * (u64::MAX >> 33)))
        );
    }

    #[test]
    fn a_process_of_a_node_that_has_run_for_years_is_as_old_as_it_is() {
        let (years, second) = (Duration::from_secs(6 * 365 * 86_400), Duration::from_secs(1));
        assert_eq!(Moment::new(years, true).age(years + second), Age::About(second));
    }
}
