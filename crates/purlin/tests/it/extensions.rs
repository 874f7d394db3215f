//! Extensions: values that are created with a node and dropped when it stops.

use std::io;
use std::sync::mpsc::{Sender, channel};

use purlin::{BuildError, Node, Process};

/// Sends its name when dropped.
struct NotifyOnDrop(Sender<&'static str>, &'static str);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

// E1: extensions outlive the processes
#[test]
fn attached_values_are_dropped_after_the_processes_in_reverse_order() {
    let (tx, rx) = channel();
    let first = tx.clone();
    let second = tx.clone();
    let node = Node::builder()
        .workers(1)
        .attach(move |_| Ok(NotifyOnDrop(first.clone(), "first")))
        .attach(move |_| Ok(NotifyOnDrop(second.clone(), "second")))
        .build()
        .expect("the node starts");
    let (begun, began) = channel();
    node.spawn(move |mut me: Process<()>| async move {
        let _notify = NotifyOnDrop(tx, "process");
        let _ = begun.send(());
        me.receive().await
    });
    began.recv().expect("the process runs");
    assert!(rx.try_recv().is_err(), "nothing ends while the node runs");
    node.stop_blocking();
    assert_eq!(rx.iter().collect::<Vec<_>>(), ["process", "second", "first"]);
}

#[test]
fn build_fails_if_a_value_cannot_be_attached() {
    let (tx, rx) = channel();
    let built = Node::builder()
        .workers(1)
        .attach(move |_| Ok(NotifyOnDrop(tx.clone(), "first")))
        .attach(|_| Err::<(), _>(io::Error::other("no room for it")))
        .build();
    let Err(BuildError::Io(error)) = built else { panic!("{built:?}") };
    assert_eq!(error.to_string(), "no room for it");
    assert_eq!(rx.recv(), Ok("first"), "what was attached before ends");
}
