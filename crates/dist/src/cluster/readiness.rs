//! Readiness of a node: what a readiness probe asks.

use std::fmt;

use crate::cluster::handle::Cluster;

/// What is up of a node, by [`Cluster::readiness`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Readiness {
    /// The node accepts connections, or is outgoing-only ([`Builder::only_calls`](crate::cluster::Builder::only_calls)).
    pub listens: bool,
    /// The node is registered with epmd, or uses none. It is not while epmd is restarted.
    pub registered: bool,
    /// Number of connected nodes.
    pub connected: usize,
}

impl Readiness {
    /// Whether other nodes can connect to this one. A program that needs other nodes also compares
    /// [`Readiness::connected`].
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.listens && self.registered
    }
}

/// One line for the answer to a probe.
impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { listens, registered, connected } = self;
        let is = if self.is_ready() { "ready" } else { "not ready" };
        write!(f, "{is}: listens {listens}, registered {registered}, connected {connected}")
    }
}

impl Cluster {
    /// Returns what is up of the node.
    ///
    /// ```no_run
    /// # use purlin_dist::cluster::Cluster;
    /// # fn example(cluster: &Cluster) {
    /// let readiness = cluster.readiness();
    /// let status = if readiness.is_ready() && readiness.connected >= 2 { 200 } else { 503 };
    /// # }
    /// ```
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        let (listens, registered) = self.is_up();
        Readiness { listens, registered, connected: self.nodes().len() }
    }
}
