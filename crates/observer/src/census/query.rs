//! Which rows of a table, in which order.
//!
//! Pure: it looks at a table that nobody changes. What a function, a type or a name says is compared
//! once for each kind, not for each row, and only the rows that are asked for are put in order.
//!
//! COST: a look at each row, four bytes for each that matches, and sorting those of the page.

use std::cmp::Ordering;

use purlin::{ProcessId, ProcessState};

use super::Table;

/// How many rows a page may have.
pub const MOST_ROWS_A_PAGE: usize = 500;

/// Which rows are wanted, in which order, and which of those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Which rows.
    pub filter: Filter,
    /// By what they are put in order.
    pub sort: Column,
    /// The greatest first.
    pub descending: bool,
    /// How many of the first are passed over.
    pub offset: usize,
    /// How many are wanted, at most [`MOST_ROWS_A_PAGE`].
    pub limit: usize,
}

/// Which rows are wanted: all that meet every demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// This is part of the pid, the name, the function or the message type, whatever the case of its
    /// letters. Everything has the empty text.
    pub text: String,
    /// It is in one of these states; in any, if there are none.
    pub states: Vec<ProcessState>,
    /// So many messages wait at least.
    pub mailbox_at_least: u64,
    /// This process spawned it.
    pub parent: Option<ProcessId>,
    /// Also those that serve the node's processes and are none of a program's.
    pub services: bool,
}

/// A column that rows can be put in order by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Column {
    /// The place in the node's table.
    #[default]
    Pid,
    /// The name; those without one come last, whichever way.
    Name,
    /// The function.
    Function,
    /// The type of the messages.
    MessageType,
    /// What it is doing.
    State,
    /// Messages that wait.
    Mailbox,
    /// Messages received.
    MessagesIn,
    /// Reductions.
    Reductions,
    /// Memory.
    Memory,
    /// Who spawned it.
    Parent,
}

/// The rows that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Their numbers in the table, in order.
    pub rows: Vec<usize>,
    /// How many match in all.
    pub matching: usize,
}

impl Query {
    /// Asks a table.
    pub fn ask(&self, table: &Table) -> Page {
        let mut rows = self.filter.of(table);
        let matching = rows.len();
        let from = self.offset.min(matching);
        let until = from.saturating_add(self.limit.min(MOST_ROWS_A_PAGE)).min(matching);
        let order = |a: &u32, b: &u32| self.order(table, *a as usize, *b as usize);
        if until < matching {
            rows.select_nth_unstable_by(until, order);
            rows.truncate(until);
        }
        if from > 0 && from < rows.len() {
            rows.select_nth_unstable_by(from, order);
        }
        let mut rows = rows.split_off(from);
        rows.sort_unstable_by(order);
        Page { rows: rows.into_iter().map(|row| row as usize).collect(), matching }
    }

    /// No two rows are equal: what the column leaves open the pid decides, upwards.
    fn order(&self, table: &Table, a: usize, b: usize) -> Ordering {
        let directed = |order: Ordering| if self.descending { order.reverse() } else { order };
        let kind = |row| table.kind_of(row);
        let by = match self.sort {
            Column::Pid => directed(a.cmp(&b)),
            Column::Name => match (table.name_of(a), table.name_of(b)) {
                (Some(a), Some(b)) => directed(a.cmp(b)),
                (a, b) => b.is_some().cmp(&a.is_some()),
            },
            Column::Function => {
                directed(kind(a).map(|kind| kind.function).cmp(&kind(b).map(|kind| kind.function)))
            }
            Column::MessageType => directed(
                kind(a).map(|kind| kind.message_type).cmp(&kind(b).map(|kind| kind.message_type)),
            ),
            Column::State => directed(number(table.states[a]).cmp(&number(table.states[b]))),
            Column::Mailbox => directed(table.mailboxes[a].cmp(&table.mailboxes[b])),
            Column::MessagesIn => directed(table.received[a].cmp(&table.received[b])),
            Column::Reductions => directed(table.reductions[a].cmp(&table.reductions[b])),
            Column::Memory => directed(table.memory[a].cmp(&table.memory[b])),
            Column::Parent => directed(table.parents[a].cmp(&table.parents[b])),
        };
        by.then(a.cmp(&b))
    }
}

/// The order of states: the busiest first.
fn number(state: ProcessState) -> u8 {
    match state {
        ProcessState::Running => 0,
        ProcessState::Runnable => 1,
        ProcessState::Receiving => 2,
        ProcessState::Waiting => 3,
        _ => 4,
    }
}

impl Filter {
    /// The numbers of the rows that match.
    fn of(&self, table: &Table) -> Vec<u32> {
        let text = self.text.to_lowercase();
        let kinds: Vec<_> = table
            .all_kinds
            .iter()
            .map(|kind| {
                let wanted = self.services || !kind.serves;
                let says = |it: &str| it.to_lowercase().contains(&text);
                (wanted, says(kind.function) || says(kind.message_type))
            })
            .collect();
        (0..table.len() as u32)
            .filter(|&row| {
                let at = row as usize;
                let (wanted, kind_says) = kinds[table.kinds[at] as usize];
                wanted
                    && u64::from(table.mailboxes[at]) >= self.mailbox_at_least
                    && (self.states.is_empty() || self.states.contains(&table.states[at]))
                    && self.parent.is_none_or(|parent| table.parents[at] == Some(parent))
                    && (kind_says || says(table, at, &text))
            })
            .collect()
    }
}

/// Whether the pid or the name of a process says that.
fn says(table: &Table, row: usize, text: &str) -> bool {
    table.name_of(row).is_some_and(|name| name.to_lowercase().contains(text))
        || table.ids[row].to_string().contains(text)
}
