//! The current or last trace, and the names of the processes in it.

use purlin::trace::{Event, FollowError, Options, Trace};
use purlin::{Node, ProcessId};
use rustc_hash::FxHashMap;

/// Largest number of traced processes.
pub(crate) const PROCESSES: usize = 20;
/// Limits of events per second and in total, and the number of events kept.
const PER_SECOND: u32 = 2000;
const IN_ALL: u64 = 100_000;
pub(crate) const KEPT: usize = 5000;
/// Names looked up per lock of the name registry. Registrations wait meanwhile.
const NAMES: usize = 256;

/// A trace and the names of the processes in it, kept beyond their end.
pub(crate) struct Tracing {
    pub(crate) trace: Trace,
    pub(crate) names: FxHashMap<ProcessId, String>,
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
    pub(crate) fn read(&mut self, node: &Node) -> Vec<Event> {
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
    /// Replaces the current trace by one of these processes. On error the current trace continues.
    pub(crate) fn replace(
        current: &mut Option<Self>,
        node: &Node,
        processes: &[ProcessId],
    ) -> Result<(), FollowError> {
        let new = Self::start(node, processes);
        // WHY again: a process is followed by one trace at a time, the last that asked for it.
        *current = Some(new.inspect_err(|_| current.iter().for_each(Self::follow_again))?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use purlin::trace::{FollowError, Options, Trace};
    use purlin::{Node, Process};
    use rustc_hash::FxHashMap;

    use super::{NAMES, Tracing};

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
        assert_eq!(Tracing::replace(&mut current, &node, &[till.id()]), Ok(()));
        let refused = Tracing::replace(&mut current, &node, &[till.id(), service]);
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
