//! Being told which nodes come and go.
//!
//! A node is told of before anything that it says is read, and its going after all that crossed the connection has
//! fired; so what somebody notes between the two is of one life of that connection.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use tracing::warn;

use super::Cluster;
use crate::name::NodeName;

/// A node has come or gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeChange {
    /// There is a connection to it.
    Up {
        /// Both nodes are published: Erlang's `nodes()` has it; else `nodes(hidden)`.
        visible: bool,
    },
    /// There is none any more.
    Down {
        /// As it was.
        visible: bool,
    },
}

/// Is told, and says whether it wants to hear of more.
type Told = Arc<dyn Fn(&NodeName, NodeChange) -> bool + Send + Sync>;

/// Who is told.
#[derive(Default)]
pub(super) struct Nodes(RwLock<Vec<Told>>);

impl Nodes {
    pub(super) fn add(&self, told: impl Fn(&NodeName, NodeChange) -> bool + Send + Sync + 'static) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(told));
    }

    pub(super) fn tell(&self, node: &NodeName, change: NodeChange) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        for told in all {
            // WHY caught: it is a function of the user's, in a task of ours.
            let goes_on =
                catch_unwind(AssertUnwindSafe(|| told(node, change))).unwrap_or_else(|_| {
                    warn!(%node, "a function that is called when nodes come and go has panicked");
                    true
                });
            if !goes_on {
                let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
                all.retain(|other| !Arc::ptr_eq(other, &told));
            }
        }
    }
}

impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes").finish_non_exhaustive()
    }
}

impl Cluster {
    /// Has `told` called whenever a node comes or goes, as long as this node is in the cluster: Erlang's
    /// `net_kernel:monitor_nodes`, hidden nodes included. It is called by the connections, and must not block.
    ///
    /// ```no_run
    /// # use purlin_dist::cluster::{Cluster, NodeChange};
    /// # fn example(cluster: &Cluster) {
    /// cluster.monitor_nodes(|node, change| match change {
    ///     NodeChange::Up { .. } => println!("{node} is there"),
    ///     NodeChange::Down { .. } => println!("{node} is gone"),
    ///     _ => {}
    /// });
    /// # }
    /// ```
    pub fn monitor_nodes(&self, told: impl Fn(&NodeName, NodeChange) + Send + Sync + 'static) {
        self.core().nodes.add(move |node, change| {
            told(node, change);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn who_wants_to_hear_of_no_more_is_forgotten_and_who_panics_is_not() {
        let (nodes, node) = (Nodes::default(), "a@h".parse().expect("a name"));
        let (tell, told) = mpsc::channel();
        for wants in [false, true] {
            let tell = tell.clone();
            nodes.add(move |_, _| {
                tell.send(wants).expect("it is there");
                wants
            });
        }
        nodes.add(|_, _| panic!("it is the user's"));
        for _ in 0..2 {
            nodes.tell(&node, NodeChange::Up { visible: true });
        }
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(nodes.0.read().expect("nobody panics under the lock").len(), 2);
    }
}
