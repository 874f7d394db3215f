//! Notification of node changes.
//!
//! A node's `Up` is reported before any of its messages is processed, and its `Down` after all links and monitors over
//! the connection have fired. State recorded between the two therefore belongs to one connection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use purlin_dist_protocol::NodeName;
use tracing::warn;

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

/// Subscribers of node changes.
#[derive(Default)]
pub(crate) struct Nodes(RwLock<Vec<NodeSubscriber>>);

impl Nodes {
    pub(crate) fn add(
        &self,
        subscriber: impl Fn(&NodeName, NodeChange) -> bool + Send + Sync + 'static,
    ) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(subscriber));
    }

    pub(crate) fn notify(&self, node: &NodeName, change: NodeChange) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        for subscriber in all {
            // WHY caught: user code runs in one of our tasks.
            let goes_on = catch_unwind(AssertUnwindSafe(|| subscriber(node, change)))
                .unwrap_or_else(|_| {
                    warn!(%node, "a function that is called when nodes come and go has panicked");
                    true
                });
            if !goes_on {
                let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
                all.retain(|other| !Arc::ptr_eq(other, &subscriber));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

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
        for _ in 0..2 {
            nodes.notify(&node, NodeChange::Up { visible: true });
        }
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(nodes.0.read().expect("no panic under the lock").len(), 2);
    }
}
