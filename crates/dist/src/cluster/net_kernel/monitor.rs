//! Monitors of nodes, for processes and for functions: Erlang's `monitor_node` and `net_kernel:monitor_nodes`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use purlin::Process;
use purlin::remote::with_sender;
use purlin_dist_protocol::NodeName;
use tracing::warn;

use crate::cluster::connection::sender_number;
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::net_kernel::nodes::NodeChange;

/// Number of monitors of a node from which on those of ended processes are removed now and then.
const SWEEP_AT: usize = 64;

/// A monitor of a node, or of all nodes; [`Cluster::demonitor_node`] removes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeMonitor {
    number: u64,
    /// `None` for all nodes.
    node: Option<NodeName>,
}

/// Message of a monitor of [`Cluster::monitor_node`]: the connection to the node has ended, or could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeDown {
    /// The monitor, which has been removed.
    pub monitor: NodeMonitor,
    /// The node.
    pub node: NodeName,
}

/// Message of a monitor of [`Cluster::monitor_nodes`]: a node has connected or disconnected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEvent {
    /// The monitor.
    pub monitor: NodeMonitor,
    /// The node.
    pub node: NodeName,
    /// The change.
    pub change: NodeChange,
}

/// A function that is called when a node is disconnected.
pub(in crate::cluster) struct Watch {
    number: u64,
    call: Box<dyn FnOnce(&NodeName) + Send>,
    /// Whether the process that receives the message has ended.
    is_over: Box<dyn Fn() -> bool + Send>,
}

impl Watch {
    /// Calls the function.
    pub(super) fn fire(self, node: &NodeName) {
        // WHY caught, here and where messages are decoded: user code runs in one of our tasks.
        let call = || with_sender(sender_number(node), || (self.call)(node));
        if catch_unwind(AssertUnwindSafe(call)).is_err() {
            warn!(%node, "a function that is called when a node is gone has panicked");
        }
    }
}

impl Core {
    /// Adds a watch of a node. COST: amortized constant, although watches of ended processes are removed.
    fn add_watch(&self, node: &NodeName, watch: Watch) {
        let mut state = self.state();
        let watches = state.watches.entry(node.clone()).or_default();
        if watches.len() >= SWEEP_AT && watches.len().is_power_of_two() {
            watches.retain(|watch| !(watch.is_over)());
        }
        watches.push(watch);
    }

    /// Removes a watch.
    fn take_watch(&self, node: &NodeName, number: u64) -> Option<Watch> {
        let mut state = self.state();
        let watches = state.watches.get_mut(node)?;
        let at = watches.iter().position(|watch| watch.number == number)?;
        let watch = watches.swap_remove(at);
        if watches.is_empty() {
            state.watches.remove(node);
        }
        Some(watch)
    }
}

impl Cluster {
    /// Monitors a node for a process, as Erlang's `monitor_node` does: connects to it unless it is connected, and sends
    /// the process one [`NodeDown`] when the connection ends or cannot be made. A second monitor sends another one. A monitor
    /// of this node sends none.
    ///
    /// ```no_run
    /// # use purlin::{Message, Process};
    /// # use purlin_dist::NodeName;
    /// # use purlin_dist::cluster::{Cluster, NodeDown};
    /// #[derive(Message)]
    /// enum Mail {
    ///     #[from]
    ///     NodeDown(NodeDown),
    /// }
    ///
    /// # async fn example(cluster: &Cluster, mut me: Process<Mail>, other: &NodeName) {
    /// cluster.monitor_node(&me, other);
    /// let Mail::NodeDown(down) = me.receive().await;
    /// println!("{} is gone", down.node);
    /// # }
    /// ```
    pub fn monitor_node<M>(&self, me: &Process<M>, node: &NodeName) -> NodeMonitor
    where
        M: From<NodeDown> + Send + 'static,
    {
        let (core, to) = (self.core(), me.pid());
        let monitor = NodeMonitor { number: core.nodes.number(), node: Some(node.clone()) };
        let (is_over, down) = (to.clone(), monitor.clone());
        let watch = Watch {
            number: monitor.number,
            call: Box::new(move |node| {
                to.send(M::from(NodeDown { monitor: down, node: node.clone() }));
            }),
            is_over: Box::new(move || !is_over.is_alive()),
        };
        core.add_watch(node, watch);
        // WHY afterwards: a connection that ends in between fires the watch.
        if node != self.name() && core.connection(node).is_none() {
            let (core, node, number) = (Arc::clone(core), node.clone(), monitor.number);
            self.core().runtime.spawn(async move {
                if core.connect(&node).await.is_err()
                    && let Some(watch) = core.take_watch(&node, number)
                {
                    watch.fire(&node);
                }
            });
        }
        monitor
    }

    /// Sends a process a [`NodeEvent`] whenever a node connects or disconnects, until the process ends: Erlang's
    /// `net_kernel:monitor_nodes`, hidden nodes included.
    pub fn monitor_nodes<M>(&self, me: &Process<M>) -> NodeMonitor
    where
        M: From<NodeEvent> + Send + 'static,
    {
        let (nodes, to) = (&self.core().nodes, me.pid());
        let monitor = NodeMonitor { number: nodes.number(), node: None };
        let of = monitor.clone();
        nodes.insert(monitor.number, move |node, change| {
            to.send(M::from(NodeEvent { monitor: of.clone(), node: node.clone(), change }));
            to.is_alive()
        });
        monitor
    }

    /// Removes a monitor. Returns `false` if it has been removed or, for one of a single node, has fired. A message that
    /// was sent before may be in the mailbox.
    pub fn demonitor_node(&self, monitor: &NodeMonitor) -> bool {
        match &monitor.node {
            Some(node) => self.core().take_watch(node, monitor.number).is_some(),
            None => self.core().nodes.remove(monitor.number),
        }
    }

    /// Calls `callback` once when the connection to the node ends; immediately if it is not connected. For a process use
    /// [`Cluster::monitor_node`].
    ///
    /// ```no_run
    /// # use purlin_dist::{NodeName, cluster::Cluster};
    /// # fn example(cluster: &Cluster, other: &NodeName) {
    /// let monitor = cluster.when_down(other, |node| println!("{node} is gone"));
    /// assert!(cluster.demonitor_node(&monitor));
    /// # }
    /// ```
    pub fn when_down(
        &self,
        node: &NodeName,
        callback: impl FnOnce(&NodeName) + Send + 'static,
    ) -> NodeMonitor {
        let core = self.core();
        let monitor = NodeMonitor { number: core.nodes.number(), node: Some(node.clone()) };
        let (call, is_over) = (Box::new(callback), Box::new(|| false));
        core.add_watch(node, Watch { number: monitor.number, call, is_over });
        // WHY afterwards: a connection that ends in between fires the watch.
        let is_connected = core.state().connections.contains_key(node);
        if !is_connected && let Some(watch) = core.take_watch(node, monitor.number) {
            watch.fire(node);
        }
        monitor
    }

    /// Calls `callback` whenever a node connects or disconnects, as long as this node is in the cluster. The connection
    /// tasks call it, so it must not block. For a process use [`Cluster::monitor_nodes`].
    ///
    /// ```no_run
    /// # use purlin_dist::cluster::{Cluster, NodeChange};
    /// # fn example(cluster: &Cluster) {
    /// cluster.when_changed(|node, change| match change {
    ///     NodeChange::Up { .. } => println!("{node} is there"),
    ///     NodeChange::Down { .. } => println!("{node} is gone"),
    ///     _ => {}
    /// });
    /// # }
    /// ```
    pub fn when_changed(
        &self,
        callback: impl Fn(&NodeName, NodeChange) + Send + Sync + 'static,
    ) -> NodeMonitor {
        let nodes = &self.core().nodes;
        let monitor = NodeMonitor { number: nodes.number(), node: None };
        nodes.insert(monitor.number, move |node, change| {
            callback(node, change);
            true
        });
        monitor
    }
}
