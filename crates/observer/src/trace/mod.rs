//! Presentation of traced events: sequence diagrams and files for Chrome's trace viewer.
//!
//! Pure functions of the events of a [`purlin::trace::Trace`].
//!
//! | file | role |
//! |---|---|
//! | `sequence` | pairing of sent and received messages |
//! | `chrome` | Chrome's trace event format |

mod chrome;
mod sequence;

pub use chrome::chrome;
pub use sequence::{Step, sequence};

#[cfg(test)]
mod fixture {
    //! Sample events for tests.

    use purlin::trace::{Event, EventKind, Options, Trace};
    use purlin::{Node, Process, ProcessId, spawn};

    /// Returns the events of three traced processes that pass a number on, and their pids in sending order.
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
            // Sent by a process that is not traced.
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
