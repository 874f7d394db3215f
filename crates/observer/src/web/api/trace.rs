//! Traces: started, stopped and read from the page. There is one at a time.
//!
//! Tracing does not change the traced processes, so the token suffices to start a trace. Its cost is bounded: a trace
//! that exceeds the limits stops. An event contains the type of a message and never its content.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query as Asked, State};
use purlin::{Node, ProcessId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::values::{Done, ns, pid};
use crate::trace::{Step, chrome, sequence};
use crate::web::refusal::Refusal;
use crate::web::state::{KEPT, PROCESSES, Site, Tracing};

/// Body of the request that starts a trace: the processes to trace.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    processes: Vec<String>,
}

/// Selection of events; by default all that are kept.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// Only events of this process.
    pid: Option<String>,
    /// Only this number of events, counted from the newest.
    last: Option<usize>,
}

/// Response of `/api/trace`.
#[derive(Serialize)]
pub(crate) struct Answer {
    /// `None` if there has been no trace.
    trace: Option<Shown>,
}

/// State and events of a trace.
#[derive(Serialize)]
struct Shown {
    running: bool,
    /// Description of the state.
    state: String,
    processes: Vec<String>,
    seen: u64,
    /// Number of events that were lost or are no longer kept.
    dropped: u64,
    /// Registered names of the processes in the events and of the traced processes.
    names: BTreeMap<String, String>,
    events: Vec<Shot>,
}

/// An event of a process.
#[derive(Serialize)]
struct Shot {
    number: u64,
    at_ns: u64,
    kind: &'static str,
    pid: String,
    /// The process concerned, or the sender of the message, if known.
    other: Option<String>,
    /// For a send event the number of its receive event and vice versa, if both are there.
    partner: Option<u64>,
    /// Type of the message, function of the spawned process, or exit reason.
    label: String,
}

impl From<&Step<'_>> for Shot {
    fn from(step: &Step<'_>) -> Self {
        Self {
            number: step.event.number,
            at_ns: ns(step.event.at),
            kind: step.event.kind.name(),
            pid: step.event.process.to_string(),
            other: step.other.map(|other| other.to_string()),
            partner: step.partner,
            label: step.event.what.to_string(),
        }
    }
}

/// Starts a trace of these processes and discards the previous one.
pub(crate) async fn start(
    State(site): State<Arc<Site>>,
    wish: Result<Json<Wish>, JsonRejection>,
) -> Result<Json<Done>, Refusal> {
    let Json(Wish { processes }) = wish.map_err(|error| Refusal::bad(error.body_text()))?;
    if !(1..=PROCESSES).contains(&processes.len()) {
        return Err(Refusal::bad(format!("from 1 to {PROCESSES} processes can be followed")));
    }
    let node = site.node()?;
    let ids = processes.iter().map(|text| pid(text, &node)).collect::<Result<Vec<_>, _>>()?;
    let started = Tracing::replace(&mut site.tracing(), &node, &ids);
    started.map_err(|error| Refusal::gone(error.to_string()))?;
    Ok(Done::YES)
}

/// Stops the trace. Its events can still be read.
pub(crate) async fn stop(State(site): State<Arc<Site>>) -> Json<Done> {
    if let Some(tracing) = &*site.tracing() {
        tracing.trace.stop();
    }
    Done::YES
}

pub(crate) async fn trace(
    State(site): State<Arc<Site>>,
    which: Result<Asked<Which>, QueryRejection>,
) -> Result<Json<Answer>, Refusal> {
    let Asked(Which { pid: whose, last }) =
        which.map_err(|error| Refusal::bad(error.body_text()))?;
    let node = site.node()?;
    let whose = whose.map(|text| pid(&text, &node)).transpose()?;
    let last = last.unwrap_or(KEPT);
    if !(1..=KEPT).contains(&last) {
        return Err(Refusal::bad(format!("last has to be from 1 to {KEPT}")));
    }
    let trace = site.tracing().as_mut().map(|tracing| shown(tracing, &node, whose, last));
    Ok(Json(Answer { trace }))
}

/// Returns the last events of a process, or of all, at most `last`.
fn shown(tracing: &mut Tracing, node: &Node, whose: Option<ProcessId>, last: usize) -> Shown {
    let events = tracing.read(node);
    let status = tracing.trace.status();
    let steps = sequence(&events);
    let asked = steps.iter().rev().filter(|step| whose.is_none_or(|id| id == step.event.process));
    let mut asked: Vec<_> = asked.take(last).collect();
    asked.reverse();
    let occur = asked.iter().flat_map(|step| [Some(step.event.process), step.other]).flatten();
    let named = |id: ProcessId| Some((id.to_string(), tracing.names.get(&id)?.clone()));
    Shown {
        running: status.state == purlin::trace::State::Running,
        state: status.state.to_string(),
        processes: status.processes.iter().map(ToString::to_string).collect(),
        seen: status.seen,
        dropped: status.gone + status.lost,
        names: occur.chain(status.processes.iter().copied()).filter_map(named).collect(),
        events: asked.into_iter().map(Shot::from).collect(),
    }
}

/// Returns the trace in Chrome's trace event format.
pub(crate) async fn file(State(site): State<Arc<Site>>) -> Result<Json<Value>, Refusal> {
    let node = site.node()?;
    let mut tracing = site.tracing();
    let tracing = tracing.as_mut().ok_or_else(|| Refusal::gone("nothing has been traced yet"))?;
    let events = tracing.read(&node);
    Ok(Json(chrome(&site.name, &events, |id| tracing.names.get(&id).cloned())))
}
