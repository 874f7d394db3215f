//! Process table endpoint: filters and sorts on the server, returns one page.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Asked, State};
use purlin::{ProcessId, ProcessState};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::values::{AgeFields, ns, pid, state_name};
use crate::snapshot::{Call, Column, Filter, MOST_ROWS_A_PAGE, Query, Row, Snapshot};
use crate::web::refusal::Refusal;
use crate::web::state::Site;

/// Longest accepted search text, in bytes.
const LONGEST_TEXT: usize = 256;

/// Query parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wish {
    sort: Column,
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
        let (sort, order, limit) = (Column::Pid, Order::Asc, 100);
        Self { sort, order, offset, limit, text, state, mailbox, parent, services }
    }
}

/// Sort order.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Asc,
    Desc,
}

/// States by which the table can be filtered.
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
    age: AgeFields,
}

impl Shown {
    fn of(row: &Row<'_>, calls: &FxHashMap<ProcessId, ProcessId>) -> Self {
        Self {
            pid: row.id.to_string(),
            name: row.name.map(ToString::to_string),
            function: row.function,
            message_type: row.message_type,
            state: state_name(row.state),
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
            sort: self.sort,
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
    let snapshot = site.snapshot().await?;
    site.run_blocking(move || Json(page(&snapshot, &query))).await
}

fn page(snapshot: &Snapshot, query: &Query) -> Processes {
    let table = &snapshot.processes;
    let found = query.ask(table);
    let rows: Vec<_> = found.rows.iter().filter_map(|&row| table.row(row)).collect();
    let mut calls: FxHashMap<_, _> = FxHashMap::default();
    if !snapshot.calls.is_empty() {
        let wanted: rustc_hash::FxHashSet<_> = rows.iter().map(|row| row.id).collect();
        let ours = snapshot.calls.iter().filter(|Call { caller, .. }| wanted.contains(caller));
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
