//! A row for each process, kept in columns.
//!
//! Rows stand in the order of the processes' places in the node's table. Functions, types and the like
//! are the same few for most processes, so a row has the number of its *kind*; names, which few have,
//! lie beside the columns.
//!
//! COST: 52 bytes a row.

use std::time::Duration;

use purlin::{Name, ProcessId, ProcessInfo, ProcessState};
use rustc_hash::FxHashMap;

/// How many rows a table may have.
pub const MOST_ROWS: usize = 1 << 22;

/// A row for each process of a node.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// When its making began and ended, in the time of the node.
    pub(crate) from: Duration,
    pub(crate) until: Duration,
    pub(super) ids: Vec<ProcessId>,
    pub(super) parents: Vec<Option<ProcessId>>,
    pub(super) kinds: Vec<u32>,
    pub(super) states: Vec<ProcessState>,
    pub(super) mailboxes: Vec<u32>,
    pub(super) received: Vec<u64>,
    pub(super) reductions: Vec<u64>,
    pub(super) memory: Vec<u64>,
    /// Those that have a name, by row.
    pub(super) names: Vec<(u32, Name)>,
    pub(super) all_kinds: Vec<Kind>,
    numbers: FxHashMap<(usize, usize, bool), u32>,
}

/// What many processes have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) function: &'static str,
    pub(super) message_type: &'static str,
    pub(super) serves: bool,
}

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
    /// Messages that waited.
    pub mailbox_len: u64,
    /// Messages it had received.
    pub messages_in: u64,
    /// Its reductions.
    pub reductions: u64,
    /// Bytes of the process and of the messages that wait, without what they point to.
    pub memory: u64,
}

impl Table {
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
            mailbox_len: self.mailboxes[row].into(),
            messages_in: self.received[row],
            reductions: self.reductions[row],
            memory: self.memory[row],
        })
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).filter_map(|row| self.row(row))
    }

    /// The row of a process, if it is there.
    pub fn find(&self, id: ProcessId) -> Option<usize> {
        let row = self.ids.binary_search_by_key(&id.id(), |known| known.id()).ok()?;
        (self.ids[row] == id).then_some(row)
    }

    /// How many messages wait for each process, row by row.
    pub(crate) fn mailboxes(&self) -> &[u32] {
        &self.mailboxes
    }

    /// The names there are, and who has them.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Name, ProcessId)> {
        self.names.iter().map(|(row, name)| (name, self.ids[*row as usize]))
    }

    /// What its rows hold, in bytes.
    pub(crate) fn memory_of_all(&self) -> u64 {
        self.memory.iter().sum()
    }

    pub(super) fn kind_of(&self, row: usize) -> Option<&Kind> {
        self.all_kinds.get(*self.kinds.get(row)? as usize)
    }

    pub(super) fn name_of(&self, row: usize) -> Option<&Name> {
        let at = self.names.binary_search_by_key(&(row as u32), |(row, _)| *row).ok()?;
        Some(&self.names[at].1)
    }

    /// Adds a process, whose place in the node's table is behind all that are there; `false` if there
    /// is no room.
    pub(super) fn push(&mut self, info: ProcessInfo) -> bool {
        if self.len() == MOST_ROWS {
            return false;
        }
        let kind =
            Kind { function: info.function, message_type: info.message_type, serves: info.serves };
        let kind = self.number_of(kind);
        self.names.extend(info.name.map(|name| (self.ids.len() as u32, name)));
        self.ids.push(info.id);
        self.parents.push(info.parent);
        self.kinds.push(kind);
        self.states.push(info.state);
        self.mailboxes.push(u32::try_from(info.mailbox_len).unwrap_or(u32::MAX));
        self.received.push(info.messages_in);
        self.reductions.push(info.reductions);
        self.memory.push(info.memory as u64);
        true
    }

    /// WHY by the places of the names: they stand where they are for as long as the program runs, and
    /// need not be read.
    fn number_of(&mut self, kind: Kind) -> u32 {
        let places =
            (kind.function.as_ptr().addr(), kind.message_type.as_ptr().addr(), kind.serves);
        *self.numbers.entry(places).or_insert_with(|| {
            self.all_kinds.push(kind);
            self.all_kinds.len() as u32 - 1
        })
    }

    /// A table that a test makes up: these processes, in the order of their places, seen at that time.
    #[cfg(test)]
    pub(crate) fn made_up(rows: &[Row<'_>], at: Duration) -> Self {
        let mut table = Self { from: at, until: at, ..Self::default() };
        for row in rows {
            let kind =
                Kind { function: row.function, message_type: row.message_type, serves: row.serves };
            let kind = table.number_of(kind);
            table.names.extend(row.name.map(|name| (table.ids.len() as u32, name.clone())));
            table.ids.push(row.id);
            table.parents.push(row.parent);
            table.kinds.push(kind);
            table.states.push(row.state);
            table.mailboxes.push(u32::try_from(row.mailbox_len).unwrap_or(u32::MAX));
            table.received.push(row.messages_in);
            table.reductions.push(row.reductions);
            table.memory.push(row.memory);
        }
        table
    }
}
