//! Traces: started, stopped and read from the page. There is one at a time.
//!
//! Tracing does not change the traced processes, so the token suffices to start a trace. Its cost is bounded: a trace
//! that exceeds the limits stops. An event contains the type of a message and never its content.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query as Asked, State};
use purlin::trace::{Event, FollowError, Options, Trace};
use purlin::{Node, ProcessId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::Refusal;
use super::look::ns;
use super::process::Done;
use super::site::{Site, pid};
use crate::trace::{Step, chrome, sequence};

/// Largest number of traced processes.
const PROCESSES: usize = 20;
/// Limits of events per second and in total, and the number of events kept.
const PER_SECOND: u32 = 2000;
const IN_ALL: u64 = 100_000;
const KEPT: usize = 5000;
/// Names looked up per lock of the name registry. Registrations wait meanwhile.
const NAMES: usize = 256;

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

/// A trace and the names of the processes in it, kept beyond their end.
pub(crate) struct Tracing {
    trace: Trace,
    names: FxHashMap<ProcessId, String>,
}

impl Tracing {
    /// Starts a trace of these processes.
    fn start(node: &Node, processes: &[ProcessId]) -> Result<Self, FollowError> {
        let options = Options::default()
            .processes(PROCESSES)
            .events_per_second(PER_SECOND)
            .events(IN_ALL)
            .kept(KEPT);
        let mut tracing = Self { trace: Trace::start(node, options), names: FxHashMap::default() };
        tracing.ask_names(node, processes);
        for &id in processes {
            tracing.trace.follow(id)?;
        }
        Ok(tracing)
    }

    /// Traces its processes again, after another trace may have taken some of them over.
    fn follow_again(&self) {
        for id in self.trace.status().processes {
            // Fails for processes that have ended or never existed, and if the trace has stopped.
            let _ = self.trace.follow(id);
        }
    }

    /// Returns all events that are kept, and looks up the names of the processes in them.
    fn read(&mut self, node: &Node) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        // WHY bounded: a running trace may have new events at each read.
        while events.len() < KEPT {
            let more = self.trace.events(events.last().map_or(0, |last| last.number));
            if more.is_empty() {
                break;
            }
            events.extend(more);
        }
        let whom = events.iter().flat_map(|event| [Some(event.process), event.other]).flatten();
        let known = &self.names;
        let mut unknown: Vec<_> = whom.filter(|id| !known.contains_key(id)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        self.ask_names(node, &unknown);
        events
    }

    fn ask_names(&mut self, node: &Node, whom: &[ProcessId]) {
        let names = &mut self.names;
        for some in whom.chunks(NAMES) {
            node.names_of(some, |at, name| {
                names.insert(some[at], name.to_string());
            });
        }
    }
}

/// Replaces the current trace by one of these processes. On error the current trace continues.
fn replace(
    current: &mut Option<Tracing>,
    node: &Node,
    processes: &[ProcessId],
) -> Result<(), FollowError> {
    let new = Tracing::start(node, processes);
    // WHY again: a process is followed by one trace at a time, the last that asked for it.
    *current = Some(new.inspect_err(|_| current.iter().for_each(Tracing::follow_again))?);
    Ok(())
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
    let started = replace(&mut site.tracing(), &node, &ids);
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

#[cfg(test)]
mod tests {
    use purlin::trace::{FollowError, Options, Trace};
    use purlin::{Node, Process};
    use rustc_hash::FxHashMap;

    use super::{NAMES, Tracing, replace};

    #[test]
    fn names_are_looked_up_correctly_for_more_processes_than_one_batch() {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let one = |number: usize| {
            let pid = node.spawn(async |mut me: Process<()>| me.receive().await);
            node.register(&format!("till-{number}"), &pid).expect("the name is free");
            pid
        };
        let all: Vec<_> = (0..2 * NAMES + 1).map(one).collect();
        let ids: Vec<_> = all.iter().map(|pid| pid.id()).collect();
        let trace = Trace::start(&node, Options::default());
        let mut tracing = Tracing { trace, names: FxHashMap::default() };
        tracing.ask_names(&node, &ids);
        for (number, id) in ids.iter().enumerate() {
            assert_eq!(tracing.names[id], format!("till-{number}"));
        }
        node.stop_blocking();
    }

    #[test]
    fn a_trace_refused_for_a_system_process_leaves_the_running_one_intact() {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let till = node.spawn(async |mut me: Process<()>| me.receive().await);
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let serve = async move {
            let _ = ended.await;
        };
        let service = node.spawn_system(serve).expect("there is room");
        let mut current = None;
        assert_eq!(replace(&mut current, &node, &[till.id()]), Ok(()));
        let refused = replace(&mut current, &node, &[till.id(), service]);
        assert_eq!(refused, Err(FollowError::SystemProcess(service)));
        let id = till.id();
        node.block_on(async move |_: Process<()>| {
            till.send(());
            till.ended().await;
        });
        let events = current.expect("it goes on").trace.events(0);
        assert!(events.iter().any(|event| event.process == id), "{events:?}");
        drop(end);
        node.stop_blocking();
    }
}
