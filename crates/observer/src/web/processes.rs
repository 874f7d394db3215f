//! Process table endpoint: filters and sorts on the server, returns one page.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Asked, State};
use purlin::{ProcessId, ProcessState};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::answer::Refusal;
use super::look::ns;
use super::site::{Site, pid};
use crate::census::{Age, Call, Census, Column, Filter, MOST_ROWS_A_PAGE, Query, Row};

/// Longest accepted search text, in bytes.
const LONGEST_TEXT: usize = 256;

/// Query parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wish {
    sort: By,
    order: Order,
    offset: usize,
    limit: usize,
    text: String,
    state: Option<Doing>,
    mailbox: u64,
    parent: Option<String>,
    services: bool,
}

impl Default for Wish {
    fn default() -> Self {
        let (offset, mailbox, text, state, parent, services) = Default::default();
        let (sort, order, limit) = (By::Pid, Order::Asc, 100);
        Self { sort, order, offset, limit, text, state, mailbox, parent, services }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum By {
    Pid,
    Name,
    Function,
    Type,
    State,
    Mailbox,
    MessagesIn,
    MessagesInPerSecond,
    MessagesOut,
    MessagesOutPerSecond,
    Reductions,
    ReductionsPerSecond,
    Memory,
    Parent,
    Age,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Asc,
    Desc,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Doing {
    Running,
    Runnable,
    Receiving,
    Waiting,
}

/// A page of the table.
#[derive(Serialize)]
pub(crate) struct Processes {
    /// Number of rows in the table.
    all: usize,
    /// Number of matching rows.
    total: usize,
    offset: usize,
    /// Node uptime at the end of the walk.
    seen_ns: u64,
    rows: Vec<Shown>,
}

/// A row of the table.
#[derive(Serialize)]
pub(crate) struct Shown {
    pid: String,
    name: Option<String>,
    function: &'static str,
    #[serde(rename = "type")]
    message_type: &'static str,
    state: &'static str,
    /// The process whose reply it waits for.
    waits_for: Option<String>,
    mailbox: u64,
    messages_in: u64,
    messages_in_per_second: f32,
    messages_out: u64,
    messages_out_per_second: f32,
    reductions: u64,
    reductions_per_second: f32,
    memory: u64,
    parent: Option<String>,
    #[serde(flatten)]
    age: Old,
}

/// Age of a process.
#[derive(Serialize)]
pub(crate) struct Old {
    age_ns: u64,
    /// Whether the age is a lower bound, because the process existed before sampling started.
    age_at_least: bool,
}

impl From<Age> for Old {
    fn from(age: Age) -> Self {
        Self { age_ns: ns(age.time()), age_at_least: matches!(age, Age::MoreThan(_)) }
    }
}

/// Name of a state in the API.
pub(crate) fn word(state: ProcessState) -> &'static str {
    match state {
        ProcessState::Running => "running",
        ProcessState::Runnable => "runnable",
        ProcessState::Receiving => "receiving",
        ProcessState::Waiting => "waiting",
        _ => "ended",
    }
}

impl Shown {
    fn of(row: &Row<'_>, calls: &FxHashMap<ProcessId, ProcessId>) -> Self {
        Self {
            pid: row.id.to_string(),
            name: row.name.map(ToString::to_string),
            function: row.function,
            message_type: row.message_type,
            state: word(row.state),
            waits_for: calls.get(&row.id).map(ToString::to_string),
            mailbox: row.mailbox_len,
            messages_in: row.messages_in,
            messages_in_per_second: row.messages_in_per_second,
            messages_out: row.messages_out,
            messages_out_per_second: row.messages_out_per_second,
            reductions: row.reductions,
            reductions_per_second: row.reductions_per_second,
            age: row.age.into(),
            memory: row.memory,
            parent: row.parent.map(|parent| parent.to_string()),
        }
    }
}

impl Wish {
    fn query(self, site: &Site) -> Result<Query, Refusal> {
        if self.text.len() > LONGEST_TEXT {
            return Err(Refusal::bad(format!("the text may have {LONGEST_TEXT} bytes at most")));
        }
        if !(1..=MOST_ROWS_A_PAGE).contains(&self.limit) {
            return Err(Refusal::bad(format!("limit has to be from 1 to {MOST_ROWS_A_PAGE}")));
        }
        let parent =
            self.parent.map(|text| site.node().and_then(|node| pid(&text, &node))).transpose()?;
        let state = self.state.map(|state| match state {
            Doing::Running => ProcessState::Running,
            Doing::Runnable => ProcessState::Runnable,
            Doing::Receiving => ProcessState::Receiving,
            Doing::Waiting => ProcessState::Waiting,
        });
        Ok(Query {
            filter: Filter {
                text: self.text,
                states: state.into_iter().collect(),
                mailbox_at_least: self.mailbox,
                parent,
                services: self.services,
            },
            sort: match self.sort {
                By::Pid => Column::Pid,
                By::Name => Column::Name,
                By::Function => Column::Function,
                By::Type => Column::MessageType,
                By::State => Column::State,
                By::Mailbox => Column::Mailbox,
                By::MessagesIn => Column::MessagesIn,
                By::MessagesInPerSecond => Column::MessagesInRate,
                By::MessagesOut => Column::MessagesOut,
                By::MessagesOutPerSecond => Column::MessagesOutRate,
                By::Reductions => Column::Reductions,
                By::ReductionsPerSecond => Column::ReductionsRate,
                By::Memory => Column::Memory,
                By::Parent => Column::Parent,
                By::Age => Column::Age,
            },
            descending: self.order == Order::Desc,
            offset: self.offset,
            limit: self.limit,
        })
    }
}

pub(crate) async fn processes(
    State(site): State<Arc<Site>>,
    wish: Result<Asked<Wish>, QueryRejection>,
) -> Result<Json<Processes>, Refusal> {
    let Asked(wish) = wish.map_err(|error| Refusal::bad(error.body_text()))?;
    let query = wish.query(&site)?;
    let census = site.census().await?;
    aside(&site, move || Json(page(&census, &query))).await
}

/// Runs CPU-bound work on the blocking thread, one job at a time, so that it delays no other
/// response.
///
/// *Cancellation*: work that has not started is dropped; work that has started runs to its end and
/// its result is discarded.
pub(crate) async fn aside<T: Send + 'static>(
    site: &Site,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let turn = Arc::clone(&site.workshop).acquire_owned().await.map_err(|_| Refusal::stopped())?;
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    done.await.map_err(|_| Refusal::stopped())
}

fn page(census: &Census, query: &Query) -> Processes {
    let table = &census.processes;
    let found = query.ask(table);
    let rows: Vec<_> = found.rows.iter().filter_map(|&row| table.row(row)).collect();
    let mut calls: FxHashMap<_, _> = FxHashMap::default();
    if !census.calls.is_empty() {
        let wanted: rustc_hash::FxHashSet<_> = rows.iter().map(|row| row.id).collect();
        let ours = census.calls.iter().filter(|Call { caller, .. }| wanted.contains(caller));
        calls.extend(ours.map(|call| (call.caller, call.callee)));
    }
    Processes {
        all: table.len(),
        total: found.matching,
        offset: query.offset,
        seen_ns: ns(table.made().1),
        rows: rows.iter().map(|row| Shown::of(row, &calls)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{TryRecvError, channel};
    use std::time::Duration;

    use purlin::Node;
    use tokio::runtime::Builder;
    use tokio::time::timeout;

    use super::aside;
    use crate::web::observer::Observer;
    use crate::web::site::Site;
    use crate::web::token::Token;

    #[test]
    fn a_cancelled_job_leaves_the_queue_and_a_started_job_finishes_first() {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let observer = Observer::at(([127, 0, 0, 1], 0).into());
        let site = Site::new(&node, &observer, Token::random().expect("random")).expect("a thread");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (end, ended) = channel::<()>();
            let begun = aside(&site, move || {
                let _ = ended.recv();
            });
            assert!(timeout(Duration::ZERO, begun).await.is_err());
            assert!(site.workshop.try_acquire().is_err(), "it goes on for nobody");
            let (did, done) = channel();
            let waits = aside(&site, move || {
                let _ = did.send(());
            });
            assert!(timeout(Duration::ZERO, waits).await.is_err());
            assert_eq!(done.try_recv(), Err(TryRecvError::Disconnected), "it has left the queue");
            drop(end);
            assert_eq!(aside(&site, || 7).await.ok(), Some(7));
        });
        node.stop_blocking();
    }
}
