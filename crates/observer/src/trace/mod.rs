//! What has been seen of processes that were followed, for others to show: as the steps of a sequence diagram,
//! and as a file for Chrome's trace viewer.
//!
//! Pure: it is given the events of a [`purlin::trace::Trace`].
//!
//! | file | role |
//! |---|---|
//! | `sequence` | which receipt belongs to which message that was sent |
//! | `chrome` | Chrome's trace format |

mod chrome;
mod sequence;

pub use chrome::chrome;
pub use sequence::{Step, sequence};

#[cfg(test)]
mod fixture {
    //! Events that tests make up.

    use purlin::trace::{Event, EventKind, Options, Trace};
    use purlin::{Node, Process, ProcessId, spawn};

    /// What three processes do that pass a number on, each followed: first the one that sends.
    pub(super) fn passed_on() -> (Vec<Event>, [ProcessId; 3]) {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let (events, ids) = node.block_on(async |mut me: Process<u64>| {
            let node = Node::current().expect("a process has a node");
            let trace = Trace::start(&node, Options::default());
            let home = me.pid();
            let last = spawn(async move |mut it: Process<u64>| home.send(it.receive().await));
            let to = last.clone();
            let middle = spawn(async move |mut it: Process<u64>| {
                to.send(it.receive().await);
                it.receive().await;
            });
            let first = middle.clone();
            let first = spawn(async move |mut it: Process<()>| {
                it.receive().await;
                first.send(7);
            });
            let ids = [first.id(), middle.id(), last.id()];
            ids.iter().for_each(|id| trace.follow(*id).expect("it lives"));
            first.send(());
            me.receive().await;
            // Nobody who is followed has sent this one.
            middle.send(8);
            middle.ended().await;
            last.ended().await;
            (trace.events(0), ids)
        });
        node.stop_blocking();
        assert!(events.iter().any(|event| event.kind == EventKind::End));
        (events, ids)
    }
}
