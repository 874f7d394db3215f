//! Notification of node changes.
//!
//! A node's `Up` is reported before any of its messages is processed, and its `Down` after all links and monitors over
//! the connection have fired, also as messages to a process. State recorded between the two therefore belongs to one connection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use purlin::remote::with_sender;
use purlin_dist_protocol::NodeName;
use tracing::warn;

use crate::cluster::connection::sender_number;

/// A change of a node's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeChange {
    /// The node is connected.
    Up {
        /// Whether both nodes are published: then Erlang's `nodes()` lists it, otherwise `nodes(hidden)`.
        visible: bool,
    },
    /// The node is disconnected.
    Down {
        /// As in the `Up` before.
        visible: bool,
    },
}

/// Subscriber. Returns `false` to unsubscribe.
type NodeSubscriber = Arc<dyn Fn(&NodeName, NodeChange) -> bool + Send + Sync>;

/// Subscribers of node changes, by number.
#[derive(Default)]
pub(crate) struct Nodes {
    subscribers: RwLock<Vec<(u64, NodeSubscriber)>>,
    last_number: AtomicU64,
}

impl Nodes {
    /// Returns a new number, for a subscriber or a monitor of one node.
    pub(super) fn number(&self) -> u64 {
        // ORDER: relaxed: only the numbers have to differ.
        self.last_number.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn add(
        &self,
        subscriber: impl Fn(&NodeName, NodeChange) -> bool + Send + Sync + 'static,
    ) {
        self.insert(self.number(), subscriber);
    }

    /// Adds a subscriber with a number from [`Nodes::number`].
    pub(super) fn insert(
        &self,
        number: u64,
        subscriber: impl Fn(&NodeName, NodeChange) -> bool + Send + Sync + 'static,
    ) {
        self.write().push((number, Arc::new(subscriber)));
    }

    /// Removes a subscriber. Returns whether it was subscribed. A notification in progress may still reach it.
    pub(super) fn remove(&self, number: u64) -> bool {
        let mut all = self.write();
        let at = all.iter().position(|(other, _)| *other == number);
        let removed = at.map(|at| all.remove(at));
        // WHY before the subscriber is dropped: what its function has captured may use the cluster.
        drop(all);
        removed.is_some()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<(u64, NodeSubscriber)>> {
        self.subscribers.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify(&self, node: &NodeName, change: NodeChange) {
        let all = self.subscribers.read().unwrap_or_else(PoisonError::into_inner).clone();
        for (number, subscriber) in all {
            let call = || with_sender(sender_number(node), || subscriber(node, change));
            if contained(node, call) == Some(false) {
                self.remove(number);
            }
            // What the function has captured is dropped here if it was removed meanwhile.
            contained(node, || drop(subscriber));
        }
    }
}

/// Runs user code, a function or its destructor, in a task of the cluster. Returns `None` if it panics.
fn contained<R>(node: &NodeName, f: impl FnOnce() -> R) -> Option<R> {
    let result = catch_unwind(AssertUnwindSafe(f)).ok();
    if result.is_none() {
        warn!(%node, "a function that is called when nodes come and go has panicked");
    }
    result
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("it is the user's");
        }
    }

    #[test]
    fn subscriber_is_removed_when_it_returns_false_and_kept_when_it_panics() {
        let (nodes, node) = (Nodes::default(), "a@h".parse().expect("a name"));
        let (tx, rx) = mpsc::channel();
        for wants in [false, true] {
            let tx = tx.clone();
            nodes.add(move |_, _| {
                tx.send(wants).expect("it is there");
                wants
            });
        }
        nodes.add(|_, _| panic!("it is the user's"));
        let panics = PanicsWhenDropped;
        nodes.add(move |_, _| {
            let _captured = &panics;
            false
        });
        for _ in 0..2 {
            nodes.notify(&node, NodeChange::Up { visible: true });
        }
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(nodes.subscribers.read().expect("no panic under the lock").len(), 2);
    }
}
