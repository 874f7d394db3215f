//! A trace: started, stopped and read from the page. There is one at a time.
//!
//! Looking closer is no change, so it needs no right besides the token; what a trace may cost is bounded, and
//! one that would be too much stops itself. An event says the type of a message and never its content.

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

/// How many processes may be followed at a time.
const PROCESSES: usize = 20;
/// How many events a second, and in all, there may be, and how many are kept.
const PER_SECOND: u32 = 2000;
const IN_ALL: u64 = 100_000;
const KEPT: usize = 5000;
/// How many names are asked for at a time: whoever registers one waits meanwhile.
const NAMES: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    processes: Vec<String>,
}

/// Which events are asked for: all that are kept, unless it says otherwise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// Those of what one process did.
    pid: Option<String>,
    /// So many, the last ones.
    last: Option<usize>,
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
    /// The names of those that occur in the events, and of those that it follows, if they have one.
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
    /// The process that it is about, or that the message has come from, if that is known.
    other: Option<String>,
    /// Of a message that was sent, the number of its receipt, and the other way round, if both are there.
    partner: Option<u64>,
    /// The type of the message, the function that was spawned, or the reason of an exit.
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

/// A trace, and what those are called who occur in it, also after their end.
pub(crate) struct Tracing {
    trace: Trace,
    names: FxHashMap<ProcessId, String>,
}

impl Tracing {
    /// A trace of these processes.
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

    /// Follows those again that it follows, of whom another trace may have taken some.
    fn follow_again(&self) {
        for id in self.trace.status().processes {
            // Who has ended, or was never there, is followed no more; nor is anybody if it has stopped.
            let _ = self.trace.follow(id);
        }
    }

    /// All events that are kept; those who occur in them are asked for their names.
    fn read(&mut self, node: &Node) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        // WHY bounded: a trace that goes on has more each time.
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

/// Has another trace, of these processes, take the place of the one that there is. If it is refused, that one
/// goes on.
fn replace(
    current: &mut Option<Tracing>,
    node: &Node,
    processes: &[ProcessId],
) -> Result<(), FollowError> {
    let new = Tracing::start(node, processes);
    // WHY again: a process is followed by one trace, the last that asked it to.
    *current = Some(new.inspect_err(|_| current.iter().for_each(Tracing::follow_again))?);
    Ok(())
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
    let started = replace(&mut site.tracing(), &node, &ids);
    started.map_err(|error| Refusal::gone(error.to_string()))?;
    Ok(Done::YES)
}

/// Stops the trace; what it has seen can still be read.
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

/// The last events of that process, or of all, that many at most.
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

/// The same in the format that Chrome's trace viewer reads.
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
    fn everybody_is_called_by_their_own_name_however_many_they_are() {
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
    fn a_trace_that_is_refused_for_a_service_takes_nobody_from_the_one_under_way() {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let till = node.spawn(async |mut me: Process<()>| me.receive().await);
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let serve = async move {
            let _ = ended.await;
        };
        let service = node.serve(serve).expect("there is room");
        let mut current = None;
        assert_eq!(replace(&mut current, &node, &[till.id()]), Ok(()));
        let refused = replace(&mut current, &node, &[till.id(), service]);
        assert_eq!(refused, Err(FollowError::Serves(service)));
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
