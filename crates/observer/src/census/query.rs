//! Which rows of a table, in which order.
//!
//! Pure: it looks at a table that nobody changes. What a function, a type or a name says is compared
//! once for each of them, not for each row; each row that matches gets a number to be put in order by,
//! and only the rows that are asked for are put in order.
//!
//! COST: a look at each row, 16 bytes for each that matches, and sorting those of the page. A million rows
//! take some 20 ms.

use purlin::{ProcessId, ProcessState};

use super::Table;
use super::text::{Digits, contains};

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

/// A column that rows can be put in order by. What it leaves open the place in the node's table decides.
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
    /// What it is doing, the busiest first.
    State,
    /// Messages that wait.
    Mailbox,
    /// Messages received.
    MessagesIn,
    /// Messages received a second.
    MessagesInRate,
    /// Messages and signals sent.
    MessagesOut,
    /// Messages and signals sent a second.
    MessagesOutRate,
    /// Reductions.
    Reductions,
    /// Reductions a second.
    ReductionsRate,
    /// Memory.
    Memory,
    /// The place of who spawned it; those whom no process spawned come first.
    Parent,
    /// How old it is.
    Age,
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
        let mut found = self.numbered(table, self.filter.of(table));
        let matching = found.len();
        let from = self.offset.min(matching);
        let until = from.saturating_add(self.limit.min(MOST_ROWS_A_PAGE)).min(matching);
        if from == until {
            return Page { rows: Vec::new(), matching };
        }
        if until < matching {
            found.select_nth_unstable(until);
            found.truncate(until);
        }
        if from > 0 {
            found.select_nth_unstable(from);
        }
        let page = &mut found[from..];
        page.sort_unstable();
        Page { rows: page.iter().map(|(_, row)| *row as usize).collect(), matching }
    }

    /// Gives each row a number; the smallest comes first.
    fn numbered(&self, table: &Table, rows: impl Iterator<Item = usize>) -> Vec<(u64, u32)> {
        // WHY less one: the greatest is for those who come last in any case.
        let last = u64::MAX - 1;
        let directed =
            |number: u64| if self.descending { last.saturating_sub(number) } else { number };
        let mut found = Vec::new();
        let all = |number: &dyn Fn(usize) -> u64| {
            found.extend(rows.map(|row| (number(row), row as u32)));
        };
        match self.sort {
            Column::Pid => all(&|row| directed(row as u64)),
            Column::Name => {
                let ranks = ranks(table.names.iter().map(|(_, name)| &**name));
                let rank = |row: usize| {
                    let at = table.names.binary_search_by_key(&(row as u32), |(row, _)| *row);
                    at.map_or(u64::MAX, |at| directed(ranks[at]))
                };
                all(&rank);
            }
            Column::Function => {
                let ranks = ranks(table.all_kinds.iter().map(|kind| kind.function));
                all(&|row| directed(ranks[table.kinds[row] as usize]));
            }
            Column::MessageType => {
                let ranks = ranks(table.all_kinds.iter().map(|kind| kind.message_type));
                all(&|row| directed(ranks[table.kinds[row] as usize]));
            }
            Column::State => all(&|row| directed(business(table.states[row]))),
            Column::Mailbox => all(&|row| directed(table.mailboxes[row].into())),
            Column::MessagesIn => all(&|row| directed(table.received[row])),
            Column::MessagesInRate => all(&|row| directed(rate(table.received_rates[row]))),
            Column::MessagesOut => all(&|row| directed(table.sent[row])),
            Column::MessagesOutRate => all(&|row| directed(rate(table.sent_rates[row]))),
            Column::Reductions => all(&|row| directed(table.reductions[row])),
            Column::ReductionsRate => all(&|row| directed(rate(table.reduction_rates[row]))),
            Column::Memory => all(&|row| directed(table.memory_of(row))),
            Column::Parent => all(&|row| {
                directed(table.parents[row].map_or(0, |parent| u64::from(parent.id()) + 1))
            }),
            Column::Age => {
                let now = table.until.as_nanos() as u64;
                all(&|row| directed(now.saturating_sub(table.first_seen[row].nanos())));
            }
        }
        found
    }
}

/// The place of each of some texts among them, when they are put in order; equal ones have the same.
fn ranks<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u64> {
    let mut order: Vec<_> = texts.enumerate().map(|(at, text)| (text, at)).collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    let mut rank = 0;
    for (place, (text, at)) in order.iter().enumerate() {
        if place > 0 && order[place - 1].0 != *text {
            rank += 1;
        }
        ranks[*at] = rank;
    }
    ranks
}

/// The order of states: the busiest first.
fn business(state: ProcessState) -> u64 {
    match state {
        ProcessState::Running => 0,
        ProcessState::Runnable => 1,
        ProcessState::Receiving => 2,
        ProcessState::Waiting => 3,
        _ => 4,
    }
}

/// A number that grows with a rate, which is never negative.
fn rate(rate: f32) -> u64 {
    rate.max(0.0).to_bits().into()
}

impl Filter {
    /// The numbers of the rows that match.
    fn of<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = usize> + 'a {
        let text = self.text.to_lowercase();
        let kind = |kind: &super::table::Kind| {
            let says = contains(kind.function, &text) || contains(kind.message_type, &text);
            (self.services || !kind.serves, says)
        };
        let kinds: Vec<_> = table.all_kinds.iter().map(kind).collect();
        let names = table.names.iter().filter(|(_, name)| contains(name, &text));
        let named: Vec<u32> = names.map(|(row, _)| *row).collect();
        let digits = Digits::of(&text);
        (0..table.len()).filter(move |&row| {
            let (wanted, says) = kinds[table.kinds[row] as usize];
            wanted
                && u64::from(table.mailboxes[row]) >= self.mailbox_at_least
                && (self.states.is_empty() || self.states.contains(&table.states[row]))
                && self.parent.is_none_or(|parent| table.parents[row] == Some(parent))
                && (says
                    || digits.as_ref().is_some_and(|digits| digits.are_in(table.ids[row]))
                    || named.binary_search(&(row as u32)).is_ok())
        })
    }
}

#[cfg(test)]
mod tests;
