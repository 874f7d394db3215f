//! A trace: started, stopped and read from the page. There is one at a time.
//!
//! Looking closer is no change, so it needs no right besides the token; what a trace may cost is bounded, and
//! one that would be too much stops itself. An event says the type of a message and never its content.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use purlin::trace::{Event, Options, Trace};
use purlin::{Node, ProcessId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::Refusal;
use super::look::ns;
use super::process::Done;
use super::site::{Site, pid};

/// How many processes may be followed at a time.
const PROCESSES: usize = 20;
/// How many events a second, and in all, there may be, and how many are kept.
const PER_SECOND: u32 = 2000;
const IN_ALL: u64 = 100_000;
const KEPT: usize = 5000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    processes: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    /// Nothing if there has been none.
    trace: Option<Shown>,
}

/// What a trace has seen.
#[derive(Serialize)]
struct Shown {
    running: bool,
    /// What became of it, in words.
    state: String,
    processes: Vec<String>,
    seen: u64,
    /// Events that were lost, or are not kept any more.
    dropped: u64,
    /// The names of those that occur and have one.
    names: BTreeMap<String, String>,
    events: Vec<Shot>,
}

/// One thing that a process did.
#[derive(Serialize)]
struct Shot {
    number: u64,
    at_ns: u64,
    kind: &'static str,
    pid: String,
    other: Option<String>,
    label: String,
}

impl From<&Event> for Shot {
    fn from(event: &Event) -> Self {
        Self {
            number: event.number,
            at_ns: ns(event.at),
            kind: event.kind.name(),
            pid: event.process.to_string(),
            other: event.other.map(|other| other.to_string()),
            label: event.what.to_string(),
        }
    }
}

/// Follows these processes from now on; what was traced before is forgotten.
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
    let options = Options::default()
        .processes(PROCESSES)
        .events_per_second(PER_SECOND)
        .events(IN_ALL)
        .kept(KEPT);
    let trace = Trace::start(&node, options);
    for id in ids {
        trace.follow(id).map_err(|error| Refusal::gone(error.to_string()))?;
    }
    site.tracing().replace(trace);
    Ok(Done::YES)
}

/// Stops the trace; what it has seen can still be read.
pub(crate) async fn stop(State(site): State<Arc<Site>>) -> Json<Done> {
    if let Some(trace) = &*site.tracing() {
        trace.stop();
    }
    Done::YES
}

pub(crate) async fn trace(State(site): State<Arc<Site>>) -> Result<Json<Answer>, Refusal> {
    let node = site.node()?;
    let trace = site.tracing().as_ref().map(|trace| shown(trace, &node));
    Ok(Json(Answer { trace }))
}

fn shown(trace: &Trace, node: &Node) -> Shown {
    let status = trace.status();
    let events = all(trace);
    let mut whom: Vec<ProcessId> = status.processes.clone();
    whom.extend(events.iter().flat_map(|event| [Some(event.process), event.other]).flatten());
    whom.sort_unstable();
    whom.dedup();
    let mut names = BTreeMap::new();
    node.names_of(&whom, |at, name| {
        names.insert(whom[at].to_string(), name.to_string());
    });
    Shown {
        running: status.state == purlin::trace::State::Running,
        state: status.state.to_string(),
        processes: status.processes.iter().map(ToString::to_string).collect(),
        seen: status.seen,
        dropped: status.gone + status.lost,
        names,
        events: events.iter().map(Shot::from).collect(),
    }
}

/// All events that are kept.
fn all(trace: &Trace) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    // WHY bounded: a trace that goes on has more each time.
    while events.len() < KEPT {
        let more = trace.events(events.last().map_or(0, |last| last.number));
        if more.is_empty() {
            break;
        }
        events.extend(more);
    }
    events
}

/// The same in the format that Chrome's trace viewer and Perfetto read: an instant for each event, on a line for
/// each process.
pub(crate) async fn chrome(State(site): State<Arc<Site>>) -> Result<Json<Value>, Refusal> {
    let node = site.node()?;
    let (events, names) = match &*site.tracing() {
        Some(trace) => {
            let shown = shown(trace, &node);
            (shown.events, shown.names)
        }
        None => return Err(Refusal::gone("nothing has been traced yet")),
    };
    let mut lines: Vec<&str> = events.iter().map(|event| &*event.pid).collect();
    lines.sort_unstable();
    lines.dedup();
    let line = |pid: &str| lines.binary_search(&pid).map_or(0, |line| line + 1);
    let called = |pid: &str| names.get(pid).map_or(pid.to_string(), |name| format!("{name} {pid}"));
    let titles = lines.iter().map(|pid| {
        json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": line(pid), "args": {"name": called(pid)}})
    });
    let shots = events.iter().map(|event| {
        json!({
            "ph": "i", "s": "t", "name": event.kind, "cat": "purlin", "pid": 1, "tid": line(&event.pid),
            // Chrome counts in microseconds.
            "ts": event.at_ns as f64 / 1000.0,
            "args": {"what": event.label, "other": event.other.as_deref().map(called)},
        })
    });
    let title = json!({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": site.name}});
    let events: Vec<_> = [title].into_iter().chain(titles).chain(shots).collect();
    Ok(Json(json!({"traceEvents": events, "displayTimeUnit": "ns"})))
}
