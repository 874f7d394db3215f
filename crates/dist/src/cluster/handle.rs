//! Handle to a node's membership in a cluster: its connections and its exported functions.
//!
//! Methods of other features stand with them, in `impl Cluster` blocks.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};

use purlin::{Node, Process, ProcessId};
use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::connect::NoConnection;
use purlin_dist_protocol::epmd::Registration;
use purlin_dist_protocol::link::Traffic;
use purlin_term::{Atom, Term};
use tokio::task::AbortHandle;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::rpc::export::Outcome;

/// Handle to a node's membership in a cluster. Clones refer to the same membership; dropping the last one leaves it.
#[derive(Clone, Debug)]
pub struct Cluster {
    inner: Arc<Inner>,
}

/// Weak handle to a node's membership in a cluster. Clones refer to the same membership.
#[derive(Clone, Debug)]
pub struct WeakCluster(Weak<Inner>);

impl WeakCluster {
    /// Returns the cluster, or `None` if the node has left it.
    #[must_use]
    pub fn upgrade(&self) -> Option<Cluster> {
        self.0.upgrade().map(|inner| Cluster { inner })
    }
}

/// Membership of a node; leaving the cluster ends it.
#[derive(Debug)]
struct Inner {
    core: Arc<Core>,
    /// Listener task; like the registration, `None` on an outgoing-only node.
    answering: Option<AbortHandle>,
    registration: Option<Registration>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(answering) = &self.answering {
            answering.abort();
        }
        self.core.leave();
    }
}

impl Cluster {
    pub(super) fn new(
        core: Arc<Core>,
        answering: Option<AbortHandle>,
        registration: Option<Registration>,
    ) -> Self {
        Self { inner: Arc::new(Inner { core, answering, registration }) }
    }

    /// Whether the node accepts connections, if it shall, and is registered with epmd, if it uses one.
    pub(super) fn is_up(&self) -> (bool, bool) {
        let Inner { answering, registration, .. } = &*self.inner;
        let listens = answering.as_ref().is_none_or(|answering| !answering.is_finished());
        (listens, registration.as_ref().is_none_or(Registration::is_registered))
    }

    pub(super) fn core(&self) -> &Arc<Core> {
        &self.inner.core
    }

    /// Returns a weak handle, which does not keep the node in the cluster.
    #[must_use]
    pub fn downgrade(&self) -> WeakCluster {
        WeakCluster(Arc::downgrade(&self.inner))
    }

    /// The node's name in the cluster.
    #[must_use]
    pub fn name(&self) -> &NodeName {
        &self.core().ids.name
    }

    /// The local node.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.core().ids.node
    }

    /// Returns the connected nodes, sorted by name, as Erlang's `nodes(connected)` does.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeName> {
        self.core().connected()
    }

    /// Returns the connected nodes, with the traffic of each connection.
    ///
    /// COST: takes two locks that senders also take, each for a few instructions.
    #[must_use]
    pub fn traffic(&self) -> Vec<(NodeName, Traffic)> {
        // WHY outside the lock: a link's lock is held while a message is written to it, which can take long.
        let all: Vec<_> = self.core().state().connections.values().cloned().collect();
        let up = |there: Arc<Connection>| Some((there.node.clone(), there.link()?.traffic()));
        let mut nodes: Vec<_> = all.into_iter().filter_map(up).collect();
        nodes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        nodes
    }

    /// Connects to a node, unless it is connected, as Erlang's `net_kernel:connect_node` does.
    ///
    /// *Cancellation*: the attempt continues.
    ///
    /// # Errors
    /// [`NoConnection`]: the node is not registered with epmd, does not answer, or has another cookie.
    pub async fn connect(&self, node: &NodeName) -> Result<(), Arc<NoConnection>> {
        self.core().connect(node).await.map(drop)
    }

    /// Closes the connection to a node. Returns whether there was one. Links and monitors over it fire `noconnection`.
    ///
    /// The next signal to the node, or [`Cluster::connect`], makes a new connection, once the closed one has ended: when
    /// everything sent before is written, or after half of the tick time if the node does not read.
    pub fn disconnect(&self, node: &NodeName) -> bool {
        self.core().connection(node).inspect(|connection| connection.close()).is_some()
    }

    /// Returns the external pid of a local process, for use in terms sent to other nodes.
    #[must_use]
    pub fn term_of(&self, process: ProcessId) -> purlin_term::Pid {
        self.core().ids.pid(process)
    }

    /// Exports a function: remote nodes can call it by module, name and arity with `rpc:call` and `erpc:call`, and
    /// spawn a process that runs it. An `Err` becomes the reason of an `error` there.
    ///
    /// # Errors
    /// A name is too long for an atom.
    pub fn export<F, Fut>(
        &self,
        module: &str,
        name: &str,
        arity: usize,
        function: F,
    ) -> Result<(), purlin_term::AtomTooLong>
    where
        F: Fn(Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        self.export_process(module, name, arity, move |_, arguments| function(arguments))
    }

    /// Like [`Cluster::export`], for a function that also receives the process that runs it: to receive messages from
    /// the process that spawned it, to link, or to send its own pid. It should not hold a [`Cluster`], because then the
    /// node would never leave.
    ///
    /// ```no_run
    /// # use purlin_dist::cluster::Cluster;
    /// # use purlin_term::Term;
    /// # fn example(cluster: &Cluster) -> Result<(), purlin_term::AtomTooLong> {
    /// // spawn_monitor('shop@127.0.0.1', shop, wait, [])
    /// cluster.export_process("shop", "wait", 0, async |mut me, _| Ok(me.receive().await))
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Cluster::export`].
    pub fn export_process<F, Fut>(
        &self,
        module: &str,
        name: &str,
        arity: usize,
        function: F,
    ) -> Result<(), purlin_term::AtomTooLong>
    where
        F: Fn(Process<Term>, Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let (module, name) = (Atom::new(module)?, Atom::new(name)?);
        self.core().exports.insert(module, name, arity, function);
        Ok(())
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.name(), f)
    }
}
