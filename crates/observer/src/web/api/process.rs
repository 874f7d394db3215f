//! Details of one process, and exit signals.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query as Asked, State};
use purlin::{ExitReason, Monitored, Node, Overflow, ProcessDetails, ProcessId};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::values::{AgeFields, Done, ns, pid, state_name};
use crate::web::refusal::Refusal;
use crate::web::state::Site;

/// Timeout of a process's report on itself. It reports in its next turn.
const REPORT_TIMEOUT: Duration = Duration::from_millis(300);
/// Largest number of links, and of monitors of each kind, that is shown.
const MOST: usize = 100;

/// Query of `/api/process`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    pid: String,
}

/// One process.
#[derive(Serialize)]
pub(crate) struct Shown {
    pid: String,
    /// Node uptime at which it was read.
    at_ns: u64,
    name: Option<String>,
    state: &'static str,
    waits_for: Option<String>,
    function: &'static str,
    message_type: &'static str,
    parent: Option<String>,
    mailbox: usize,
    bound: Option<Bound>,
    messages_in: u64,
    messages_out: u64,
    reductions: u64,
    memory: usize,
    /// `None` if it has been spawned since the last table.
    #[serde(flatten)]
    age: Option<AgeFields>,
    /// Its own report; `None` if it has not had a turn in time.
    details: Option<Details>,
}

/// Limit of a mailbox, and the messages it has discarded.
#[derive(Serialize)]
struct Bound {
    limit: usize,
    overflow: &'static str,
    dropped: u64,
}

/// The part of a process that only the process itself can report.
#[derive(Serialize)]
struct Details {
    links: Vec<Other>,
    monitors: Vec<Other>,
    monitored_by: Vec<Other>,
    /// Number of links and monitors that are not shown.
    more: usize,
    traps_exits: bool,
    reported_memory: usize,
}

/// A linked, monitoring or monitored process.
#[derive(Serialize)]
struct Other {
    /// Its pid, if it is a live process of this node.
    id: Option<String>,
    label: String,
}

impl Other {
    fn process(id: ProcessId, node: &Node) -> Self {
        let info = node.process_info(id);
        let name = info.as_ref().and_then(|info| info.name.as_ref());
        let label = name.map_or_else(|| id.to_string(), ToString::to_string);
        Self { id: info.map(|info| info.id.to_string()), label }
    }

    fn monitored(monitored: &Monitored, node: &Node) -> Self {
        match monitored {
            Monitored::Process(id) => Self::process(*id, node),
            Monitored::Name(name) => Self { id: None, label: name.to_string() },
            _ => Self { id: None, label: "something else".to_string() },
        }
    }
}

impl Details {
    fn of(details: &ProcessDetails, node: &Node) -> Self {
        let process = |list: &[ProcessId]| -> Vec<_> {
            list.iter().take(MOST).map(|&id| Other::process(id, node)).collect()
        };
        let (links, monitored_by) = (process(&details.links), process(&details.monitored_by));
        let monitors = details.monitors.iter().take(MOST);
        let monitors: Vec<_> = monitors.map(|it| Other::monitored(it, node)).collect();
        let all = details.links.len() + details.monitors.len() + details.monitored_by.len();
        Self {
            more: all - links.len() - monitors.len() - monitored_by.len(),
            links,
            monitors,
            monitored_by,
            traps_exits: details.traps_exits,
            reported_memory: details.reported_memory,
        }
    }
}

pub(crate) async fn process(
    State(site): State<Arc<Site>>,
    which: Result<Asked<Which>, QueryRejection>,
) -> Result<Json<Shown>, Refusal> {
    let Asked(Which { pid: text }) = which.map_err(|error| Refusal::bad(error.body_text()))?;
    let (id, info, at) = {
        let node = site.node()?;
        let id = pid(&text, &node)?;
        (id, node.process_info(id).ok_or_else(|| ended(id))?, node.uptime())
    };
    // WHY no reference to the node is held: the wait may be long, and the node may end meanwhile.
    let snapshot = site.snapshot().await?;
    let node = site.node()?;
    let table = &snapshot.processes;
    let row = table.find(id).and_then(|row| table.row(row));
    let waits_for = snapshot.calls.iter().find(|call| call.caller == id).map(|call| call.callee);
    let details = timeout(REPORT_TIMEOUT, site.questions.details(&node, id)).await.ok().flatten();
    Ok(Json(Shown {
        pid: id.to_string(),
        at_ns: ns(at),
        name: info.name.map(|name| name.to_string()),
        state: state_name(info.state),
        waits_for: waits_for.map(|callee| callee.to_string()),
        function: info.function,
        message_type: info.message_type,
        parent: info.parent.map(|parent| parent.to_string()),
        mailbox: info.mailbox_len,
        bound: info.bound.map(|bound| Bound {
            limit: bound.limit,
            overflow: match bound.overflow {
                Overflow::Wait => "wait",
                Overflow::Reject => "reject",
                Overflow::DropNewest => "drop_newest",
                Overflow::DropOldest => "drop_oldest",
                _ => "other",
            },
            dropped: bound.dropped,
        }),
        messages_in: info.messages_in,
        messages_out: info.messages_out,
        reductions: info.reductions,
        memory: info.memory,
        age: row.map(|row| row.age.into()),
        details: details.map(|details| Details::of(&details, &node)),
    }))
}

fn ended(id: ProcessId) -> Refusal {
    Refusal::gone(format!("the process {id} does not live any more"))
}

/// Body of an exit request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pid: String,
    reason: Reason,
}

/// Exit reasons that can be sent.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    Shutdown,
    Kill,
}

/// Sends a process an exit signal, if the page permits it.
pub(crate) async fn exit(
    State(site): State<Arc<Site>>,
    end: Result<Json<End>, JsonRejection>,
) -> Result<Json<Done>, Refusal> {
    if !site.settings.may_exit {
        return Err(Refusal::forbidden(
            "this page is read-only: Observer::allow_exit gives the right to end processes",
        ));
    }
    let Json(End { pid: text, reason }) = end.map_err(|error| Refusal::bad(error.body_text()))?;
    let node = site.node()?;
    let id = pid(&text, &node)?;
    node.process_info(id).ok_or_else(|| ended(id))?;
    let reason = match reason {
        Reason::Shutdown => ExitReason::Shutdown,
        Reason::Kill => ExitReason::Kill,
    };
    tracing::warn!(pid = %id, %reason, "an exit signal was sent from the observer's page");
    node.exit(id, reason);
    Ok(Done::YES)
}
