//! Filtering, sorting and paging of a process table.
//!
//! Pure functions of an immutable table. Functions, types and names are matched once per distinct value, not per row.
//! Each matching row gets a numeric sort key, and only the requested rows are sorted.
//!
//! COST: one check per row, 16 bytes per matching row, and sorting the rows of the page. A million rows take some 20
//! ms.

use purlin::{ProcessId, ProcessState};
use serde::Deserialize;

use super::Table;
use super::text::{Digits, contains};

/// Largest number of rows in a page.
pub const MOST_ROWS_A_PAGE: usize = 500;

/// A filter, a sort order and a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Rows to include.
    pub filter: Filter,
    /// Column to sort by.
    pub sort: Column,
    /// Whether to sort in descending order.
    pub descending: bool,
    /// Number of matching rows to skip.
    pub offset: usize,
    /// Largest number of rows to return, capped at [`MOST_ROWS_A_PAGE`].
    pub limit: usize,
}

/// Row filter. A row matches if it meets all conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Substring of the pid, the name, the function or the message type, compared case-insensitively. The empty string
    /// matches every row.
    pub text: String,
    /// Accepted states. If empty, every state is accepted.
    pub states: Vec<ProcessState>,
    /// Smallest number of queued messages.
    pub mailbox_at_least: u64,
    /// The process that spawned it.
    pub parent: Option<ProcessId>,
    /// Whether to include system processes, which serve the node and not the program.
    pub services: bool,
}

/// Column to sort rows by. Ties are ordered by slot in the process table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Slot in the process table.
    #[default]
    Pid,
    /// Name. Rows without a name come last in both directions.
    Name,
    /// Function.
    Function,
    /// Message type.
    #[serde(rename = "type")]
    MessageType,
    /// State, busiest first.
    State,
    /// Queued messages.
    Mailbox,
    /// Messages received.
    MessagesIn,
    /// Messages received per second.
    #[serde(rename = "messages_in_per_second")]
    MessagesInRate,
    /// Messages and signals sent.
    MessagesOut,
    /// Messages and signals sent per second.
    #[serde(rename = "messages_out_per_second")]
    MessagesOutRate,
    /// Reductions.
    Reductions,
    /// Reductions per second.
    #[serde(rename = "reductions_per_second")]
    ReductionsRate,
    /// Memory.
    Memory,
    /// Slot of the parent. Rows without a parent come first.
    Parent,
    /// Age.
    Age,
}

/// Result of a [`Query`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Row numbers in the table, in sort order.
    pub rows: Vec<usize>,
    /// Number of matching rows on all pages.
    pub matching: usize,
}

impl Query {
    /// Runs the query on `table`.
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

    /// Returns each row with its sort key; the smallest key comes first.
    fn numbered(&self, table: &Table, rows: impl Iterator<Item = usize>) -> Vec<(u64, u32)> {
        // WHY minus one: `u64::MAX` is the key of rows that come last in both directions.
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

/// Returns the rank of each text in sorted order. Equal texts have equal ranks.
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

/// Returns the sort key of a state: the busiest state first.
fn business(state: ProcessState) -> u64 {
    match state {
        ProcessState::Running => 0,
        ProcessState::Runnable => 1,
        ProcessState::Receiving => 2,
        ProcessState::Waiting => 3,
        _ => 4,
    }
}

/// Returns a sort key that is monotonic in `rate`. Rates are never negative.
fn rate(rate: f32) -> u64 {
    rate.max(0.0).to_bits().into()
}

impl Filter {
    /// Returns the numbers of the matching rows.
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
