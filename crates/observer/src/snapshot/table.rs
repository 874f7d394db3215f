//! Process table in columns, one row per process.
//!
//! Rows are in the order of the slots in the node's process table. Most processes share few functions and message
//! types, so a row stores the number of its *kind*. Few processes have names, so names are in a separate sparse list.
//!
//! COST: 81 bytes per row. While a new table is made, the last complete one is kept as well.

use std::time::Duration;

use purlin::observe::ProcessSnapshot;
use purlin::{Name, ProcessId, ProcessState};
use rustc_hash::FxHashMap;

/// Largest number of rows in a table.
pub const MOST_ROWS: usize = 1 << 22;

/// A row for each process of a node.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Node uptime at the start and at the end of the walk.
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
    /// Rates per second since the previous table.
    pub(super) received_rates: Vec<f32>,
    pub(super) sent_rates: Vec<f32>,
    pub(super) reduction_rates: Vec<f32>,
    /// Time at which the process was first seen.
    pub(super) first_seen: Vec<Moment>,
    /// Names by row, for the rows that have one.
    pub(super) names: Vec<(u32, Name)>,
    pub(super) all_kinds: Vec<Kind>,
    numbers: FxHashMap<(usize, bool), u32>,
}

/// Type information that many processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) function: &'static str,
    pub(super) message_type: &'static str,
    pub(super) serves: bool,
    supervises: bool,
    bytes: u32,
    bytes_of_message: u32,
}

/// Node uptime at which a process was first seen, in tenths of a second, shifted left by one bit; it saturates after
/// six years. The low bit is set if the process had been spawned shortly before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(u32);

/// A row of a table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row<'a> {
    /// Identity.
    pub id: ProcessId,
    /// Registered name.
    pub name: Option<&'a Name>,
    /// State when it was sampled.
    pub state: ProcessState,
    /// Function of the process.
    pub function: &'static str,
    /// Message type.
    pub message_type: &'static str,
    /// Process that spawned it, if any.
    pub parent: Option<ProcessId>,
    /// Whether it is a system process, which serves the node and not the program.
    pub serves: bool,
    /// Whether it is a supervisor.
    pub supervises: bool,
    /// Queued messages.
    pub mailbox_len: u64,
    /// Messages received.
    pub messages_in: u64,
    /// Messages received per second since the previous table.
    pub messages_in_per_second: f32,
    /// Messages and signals sent.
    pub messages_out: u64,
    /// Messages and signals sent per second since the previous table.
    pub messages_out_per_second: f32,
    /// Reductions.
    pub reductions: u64,
    /// Reductions per second since the previous table.
    pub reductions_per_second: f32,
    /// Bytes of the process and of its queued messages, without heap data that they point to.
    pub memory: u64,
    /// Age.
    pub age: Age,
}

/// Age of a process, as far as the sampler knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// The process was spawned while the sampler was active: its age, accurate to the time between two tables.
    About(Duration),
    /// The process existed when the sampler became active: a lower bound of its age.
    MoreThan(Duration),
}

impl Age {
    /// Returns the duration in either case.
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

    /// Returns the time as node uptime in nanoseconds.
    pub(super) fn nanos(self) -> u64 {
        u64::from(self.0 >> 1) * 100_000_000
    }

    fn age(self, now: Duration) -> Age {
        let age = now.saturating_sub(Duration::from_nanos(self.nanos()));
        if self.0 & 1 != 0 { Age::About(age) } else { Age::MoreThan(age) }
    }
}

/// Values of a row that depend on the previous table.
pub(super) struct Since {
    pub(super) first_seen: Moment,
    pub(super) received_rate: f32,
    pub(super) sent_rate: f32,
    pub(super) reduction_rate: f32,
}

impl Table {
    /// Returns an empty table with capacity for `rows` rows.
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

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns `true` if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the node uptime at the start and at the end of the walk. Each row was read in between.
    pub fn made(&self) -> (Duration, Duration) {
        (self.from, self.until)
    }

    /// Returns a row, or `None` if `row` is out of range.
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

    /// Iterates over all rows.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).filter_map(|row| self.row(row))
    }

    /// Iterates over each row's process, its parent, and whether it is a supervisor.
    pub(crate) fn kin(&self) -> impl Iterator<Item = (ProcessId, Option<ProcessId>, bool)> {
        let supervises = self.kinds.iter().map(|kind| self.all_kinds[*kind as usize].supervises);
        let kin = self.ids.iter().zip(&self.parents).zip(supervises);
        kin.map(|((id, parent), supervises)| (*id, *parent, supervises))
    }

    /// Returns the row of process `id`, if the table has it.
    pub fn find(&self, id: ProcessId) -> Option<usize> {
        self.at_place(id.id()).filter(|&row| self.ids[row] == id)
    }

    /// Returns the row of the process whose [`ProcessId::id`] is `place`.
    pub(super) fn at_place(&self, place: u32) -> Option<usize> {
        self.ids.binary_search_by_key(&place, |known| known.id()).ok()
    }

    /// Returns the number of queued messages of each row.
    pub(crate) fn mailboxes(&self) -> &[u32] {
        &self.mailboxes
    }

    /// Iterates over the registered names and their processes.
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

    /// Appends a process, whose slot in the node's table must follow those of all rows. Returns `false` if the table is
    /// full.
    pub(super) fn push(&mut self, seen: &ProcessSnapshot, since: &Since) -> bool {
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

    fn number_of(&mut self, seen: &ProcessSnapshot) -> u32 {
        let kinds = &mut self.all_kinds;
        *self.numbers.entry((seen.process_type.number(), seen.is_system)).or_insert_with(|| {
            kinds.push(Kind {
                function: seen.process_type.function(),
                message_type: seen.process_type.message_type(),
                serves: seen.is_system,
                supervises: seen.supervises(),
                bytes: seen.process_type.bytes() as u32,
                bytes_of_message: seen.process_type.bytes_of_message() as u32,
            });
            kinds.len() as u32 - 1
        })
    }

    /// Builds a table for tests: `rows` in the order of their slots, sampled at uptime `at`.
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
    fn an_age_is_exact_only_for_processes_spawned_while_sampling() {
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
    fn an_age_is_exact_after_six_years_of_uptime() {
        let (years, second) = (Duration::from_secs(6 * 365 * 86_400), Duration::from_secs(1));
        assert_eq!(Moment::new(years, true).age(years + second), Age::About(second));
    }
}
