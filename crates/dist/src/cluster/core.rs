//! State shared by all handles of a cluster: connections, proxies, and the tables of its features.
//!
//! Methods of a feature stand with it, in `impl Core` blocks: connections in `net_kernel/connect.rs`, proxies in
//! `proxy/lookup.rs`, delivery in `receive/deliver.rs`.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use purlin::remote::{LocalProcess, RemoteSignal};
use purlin::{ExitReason, ProcessId};
use purlin_dist_protocol::control::{Control, Named};
use purlin_dist_protocol::frame::Payload;
use purlin_dist_protocol::handshake::{Established, LocalNode};
use purlin_dist_protocol::link::{Link, Origin, Settings};
use purlin_dist_protocol::{ConnectionTable, NodeName, Stream};
use purlin_term::Term;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio::task::AbortHandle;

use crate::cluster::connection::{Connection, Deferred};
use crate::cluster::global::handle::Global;
use crate::cluster::groups::sharers::Sharers;
use crate::cluster::ids::Ids;
use crate::cluster::links::remote_links::RemoteLinks;
use crate::cluster::net_kernel::monitor::Watch;
use crate::cluster::net_kernel::nodes::Nodes;
use crate::cluster::net_kernel::reach::Reach;
use crate::cluster::proxy::registry::{Proxies, ProxyCounts};
use crate::cluster::receive::decoders::Decoders;
use crate::cluster::rpc::export::Exports;
use crate::cluster::rpc::unsent::Unsent;
use crate::cluster::serving::system::Systems;

/// Maximum number of calls to other nodes at a time. A peer can cause calls to any number of nodes, by pids of them.
const MAX_DIALS: usize = 64;

/// Starts the link of a new connection. WHY a function pointer: receiving uses all features, which use the core.
pub(super) type StartLink = fn(&Arc<Core>, &Arc<Connection>, Stream, Established) -> Link;

/// State of a cluster, shared by all its handles.
pub(super) struct Core {
    pub(super) ids: Arc<Ids>,
    pub(super) local: LocalNode,
    pub(super) reach: Reach,
    pub(super) settings: Settings,
    pub(super) start_link: StartLink,
    /// Maximum wait for a local process that a remote tool inspects.
    pub(super) answers_within: Duration,
    pub(super) runtime: Handle,
    state: Mutex<State>,
    /// Links to the processes of all nodes.
    links: Mutex<RemoteLinks<Arc<Connection>>>,
    /// Counts of `State::proxies`.
    pub(super) proxy_counts: Arc<ProxyCounts>,
    pub(super) unsent: Unsent,
    /// One permit for each call in progress.
    pub(super) dials: Semaphore,
    /// Notified when a connection is established or an attempt ends.
    pub(super) changed: Notify,
    pub(super) decoders: Decoders,
    /// Functions for `sys` requests, by message type of the process.
    pub(super) systems: Systems,
    pub(super) exports: Exports,
    pub(super) nodes: Nodes,
    pub(super) sharers: Sharers,
    /// Set on a published node.
    pub(super) global: OnceLock<Global>,
    /// Number of remote messages dropped because they could not be decoded.
    pub(super) undecoded: AtomicU64,
}

/// The part of it behind the lock.
pub(super) struct State {
    pub(super) connection_table: ConnectionTable,
    pub(super) connections: HashMap<NodeName, Arc<Connection>>,
    /// Outgoing calls in progress.
    pub(super) calls: HashMap<NodeName, AbortHandle>,
    pub(super) proxies: Proxies,
    /// The node has left the cluster.
    pub(super) left: bool,
    pub(super) watches: HashMap<NodeName, Vec<Watch>>,
}

impl Core {
    /// Creates the state. Must be called within the tokio runtime that drives the connections.
    pub(super) fn new(
        ids: Ids,
        local: LocalNode,
        reach: Reach,
        settings: Settings,
        answers_within: Duration,
        start_link: StartLink,
    ) -> Arc<Self> {
        let connection_table = ConnectionTable::new(ids.name.clone());
        let (connections, calls, watches) = Default::default();
        let (proxies, left) = (Proxies::new(), false);
        let proxy_counts = proxies.counts();
        let state = State { connection_table, connections, calls, proxies, left, watches };
        let (decoders, systems, exports, undecoded) = Default::default();
        let (nodes, sharers, global, unsent) = Default::default();
        Arc::new(Self {
            ids: Arc::new(ids),
            local,
            reach,
            settings,
            start_link,
            answers_within,
            runtime: Handle::current(),
            state: Mutex::new(state),
            links: Mutex::default(),
            proxy_counts,
            unsent,
            dials: Semaphore::new(MAX_DIALS),
            changed: Notify::new(),
            decoders,
            systems,
            exports,
            nodes,
            sharers,
            global,
            undecoded,
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // No code under the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table of links. INVARIANT: what the table requires is delivered and sent under its lock. So a local process
    /// and the peer receive signals about links in the order in which the table changed, and the loss of a connection
    /// between the signals of this connection and of the next one. The lock is the innermost of the cluster.
    pub(super) fn links(&self) -> MutexGuard<'_, RemoteLinks<Arc<Connection>>> {
        // No code under the lock panics.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A remote process links to a local one, which receives the link from the proxy.
    pub(super) fn linked(&self, ours: ProcessId, theirs: &purlin_term::Pid, proxy: &LocalProcess) {
        let mut links = self.links();
        if links.linked(ours, theirs, proxy.clone()) {
            self.ids.node.deliver(proxy, ours, RemoteSignal::Link);
        }
    }

    /// The established connection to a node, or `None`. WHY not a lost or closed one: a process that has received
    /// `noconnection` or has disconnected the node sends its next message over a new connection.
    pub(super) fn connection(&self, node: &NodeName) -> Option<Arc<Connection>> {
        let state = self.state();
        let there = state.connections.get(node);
        there.filter(|there| there.link().is_some() && !there.is_closed()).cloned()
    }

    pub(super) fn connected(&self) -> Vec<NodeName> {
        let mut nodes: Vec<_> = self.state().connections.keys().cloned().collect();
        nodes.sort_unstable();
        nodes
    }

    /// Leaves the cluster: connections and proxies end.
    pub(super) fn leave(&self) {
        if let Some(global) = self.global.get() {
            global.end();
        }
        self.sharers.end(&self.ids.node);
        let (connections, proxies) = {
            let mut state = self.state();
            state.left = true;
            let connections: Vec<_> = state.connections.values().cloned().collect();
            (connections, state.proxies.take())
        };
        self.links().leave();
        for connection in connections {
            connection.close();
        }
        self.end(proxies);
        self.changed.notify_waiters();
    }

    /// [`Core::put_after_pending`] of a term.
    pub(super) fn send_after_pending(
        &self,
        connection: &Arc<Connection>,
        theirs: &purlin_term::Pid,
        own: Option<ProcessId>,
        (control, payload): (Control, Option<Term>),
    ) {
        let message = (control, payload.map(Payload::Term));
        self.put_after_pending(connection, theirs, own, message);
    }

    /// Sends an answer or an exit signal to a remote process from a local process that may have sent it messages through
    /// any proxy. It is sent after the pending messages of all proxies (M2) except `own`, which has none left.
    pub(super) fn put_after_pending(
        &self,
        connection: &Arc<Connection>,
        theirs: &purlin_term::Pid,
        own: Option<ProcessId>,
        message: (Control, Option<Payload<'static>>),
    ) {
        let mut others = Vec::new();
        // COST: without a proxy, no lock of the cluster.
        if self.proxy_counts.may_have(theirs) {
            let process = (connection.node.clone(), Named::Pid(theirs.clone()));
            others = self.state().proxies.of(&process);
            others.retain(|other| Some(other.id()) != own);
        }
        if others.is_empty() {
            let (control, payload) = message;
            return connection.put(Origin::Peer, Some(theirs), &control, payload);
        }
        let Some(behind) = Deferred::new(connection, theirs, message) else { return };
        let all_before = ExitReason::error(behind);
        for other in others {
            let signal = RemoteSignal::Down(self.ids.monitor(), all_before.clone());
            self.ids.node.deliver(&other, other.id(), signal);
        }
    }

    /// Ends proxies after all their pending messages.
    pub(super) fn end(&self, proxies: Vec<LocalProcess>) {
        for proxy in proxies {
            let nobody_left = RemoteSignal::Down(self.ids.monitor(), ExitReason::Normal);
            self.ids.node.deliver(&proxy, proxy.id(), nobody_left);
        }
    }

    /// The local process that receives remote messages to this name.
    pub(super) fn local_name(&self, name: &str) -> Option<LocalProcess> {
        self.sharers.find(name).or_else(|| self.ids.node.local_name(name))
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("name", &self.ids.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use purlin::{Exit, Node, Process};
    use purlin_term::{Atom, Pid};
    use tokio::runtime::Builder;

    use crate::cluster::handle::Cluster;

    use super::*;

    // L2: the proxy ends before the process acknowledges the loss of the link.
    #[test]
    fn no_link_is_stored_after_the_node_has_left_the_cluster() {
        let mut tokio = Builder::new_current_thread();
        let tokio = tokio.enable_all().start_paused(true);
        let mut simulated = Node::builder().simulated(1, tokio).expect("a node");
        let node = simulated.node().clone();
        let lost = simulated.run(async move |mut me: Process<Exit>| {
            let builder = Cluster::builder("here@h".parse().expect("a name"));
            let cluster = builder.cookie("secret").only_calls().start(&node).await;
            let cluster = cluster.expect("it starts");
            let core = Arc::clone(cluster.core());
            let remote = Pid { node: Atom::from_static("there@h"), id: 1, serial: 0, creation: 1 };
            let proxy = cluster.pid::<Term>(&remote).expect("there is room");
            me.trap_exit(true);
            me.link(&proxy);
            drop(cluster);
            let reason = me.receive().await.reason;
            LocalProcess::from(&proxy).ended().await;
            (reason, core.links().len())
        });
        assert_eq!(lost.expect("it ends"), (ExitReason::NoConnection, 0));
    }
}
