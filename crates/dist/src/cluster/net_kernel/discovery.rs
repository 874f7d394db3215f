//! Discovery of other nodes: a task that connects to the nodes of a list, or to those that DNS names.

use std::sync::Arc;
use std::time::Duration;

use purlin_dist_protocol::{BadName, NodeName};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tracing::{debug, warn};

use crate::cluster::handle::Cluster;
use crate::cluster::net_kernel::hosts::addresses;

/// Minimum time between two lookups.
const SHORTEST_PERIOD: Duration = Duration::from_millis(10);

/// Where other nodes are found.
///
/// ```
/// use purlin_dist::cluster::Discovery;
///
/// let list = Discovery::List(vec!["a@10.0.0.1".parse()?, "b@10.0.0.2".parse()?]);
/// let pods = Discovery::dns("market.default.svc.cluster.local", "ticker");
/// # Ok::<(), purlin_dist::BadName>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Discovery {
    /// These nodes: `Cluster.Strategy.Epmd` of libcluster.
    List(Vec<NodeName>),
    /// The node `alive@ADDRESS` of each address of the host: `Cluster.Strategy.DNSPoll` of libcluster.
    Dns {
        /// Host name, such as a headless service of Kubernetes.
        host: String,
        /// The part of the node names before the `@`.
        alive: String,
    },
}

impl Discovery {
    /// Creates a discovery by DNS.
    pub fn dns(host: impl Into<String>, alive: impl Into<String>) -> Self {
        Self::Dns { host: host.into(), alive: alive.into() }
    }

    /// Returns the nodes.
    async fn nodes(&self) -> Result<Vec<NodeName>, String> {
        match self {
            Self::List(nodes) => Ok(nodes.clone()),
            Self::Dns { host, alive } => {
                let found = addresses(host, 0).await.map_err(|error| error.to_string())?;
                let names = found.iter().map(|address| format!("{alive}@{}", address.ip()).parse());
                names.collect::<Result<_, BadName>>().map_err(|error| error.to_string())
            }
        }
    }
}

impl Cluster {
    /// Connects to the discovered nodes, now and after each `period` of at least 10 ms, unless they are connected. Ends when this node
    /// leaves the cluster. A lookup that fails is logged once until the next one that succeeds.
    pub fn discover(&self, discovery: Discovery, period: Duration) {
        let weak = self.downgrade();
        self.core().runtime.spawn(async move {
            let mut has_failed = false;
            while let Some(cluster) = weak.upgrade() {
                match discovery.nodes().await {
                    Ok(nodes) => {
                        has_failed = false;
                        cluster.connect_all(nodes).await;
                    }
                    Err(error) if has_failed => debug!("no nodes are discovered: {error}"),
                    Err(error) => {
                        has_failed = true;
                        warn!("no nodes are discovered: {error}");
                    }
                }
                drop(cluster);
                sleep(period.max(SHORTEST_PERIOD)).await;
            }
        });
    }

    /// Connects to those nodes that are not connected, at the same time.
    async fn connect_all(&self, nodes: Vec<NodeName>) {
        let mut calls = JoinSet::new();
        let known = self.nodes();
        for node in nodes.into_iter().filter(|node| node != self.name() && !known.contains(node)) {
            let core = Arc::clone(self.core());
            calls.spawn(async move {
                if let Err(error) = core.connect(&node).await {
                    debug!(%node, "a discovered node is not connected: {error}");
                }
            });
        }
        while calls.join_next().await.is_some() {}
    }
}
