//! Node: a set of processes and the threads that run them.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use purlin_raw::NodeCore;
use purlin_sched::Scheduler;
use tokio::runtime::Handle;

use crate::node::drops::Drops;
use crate::node::erlang_types::{ErlangTypes, Peer};
use crate::node::io::IoRuntime;
use crate::node::state::NodeState;
use crate::{LookupError, Pid, ProcessId};

/// A node: a set of processes and the threads that run them.
///
/// A node is a value. A program may have several nodes, which share nothing. Cloning returns
/// another handle on the same node. When the last handle is dropped, the node stops in the
/// background; to wait for the stop, use [`Node::stop`] or [`Node::stop_blocking`].
///
/// ```
/// use purlin::{Node, Process};
///
/// # fn main() -> Result<(), purlin::BuildError> {
/// let node = Node::builder().workers(2).build()?;
/// let sum = node.block_on(|mut me: Process<u32>| async move {
///     me.pid().send(40);
///     me.pid().send(2);
///     me.receive().await + me.receive().await
/// });
/// assert_eq!(sum, 42);
/// node.stop_blocking();
/// # Ok(())
/// # }
/// ```
///
/// A node has its own tokio runtime for sockets and timers ([`Builder::io_threads`]). The process's
/// worker polls the futures that a process awaits, and the runtime wakes them. A node may be started
/// inside another tokio runtime, whose tasks can send to its processes and call them.
///
/// [`Builder::io_threads`]: crate::Builder::io_threads
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
}

/// State shared by all handles.
pub(crate) struct Inner {
    pub(crate) node_core: NodeCore<ErlangTypes>,
    pub(crate) scheduler: Scheduler,
    /// Taken by the `Stopper` of the node.
    pub(crate) io: Mutex<Option<Io>>,
}

/// The tokio runtime of the futures that processes await.
pub(crate) enum Io {
    /// The node's own runtime.
    Own(IoRuntime),
    /// The runtime of a simulation, which runs the node and tokio alternately.
    Simulated(Handle),
}

impl Inner {
    pub(crate) fn new(node_core: NodeCore<ErlangTypes>, scheduler: Scheduler, io: Io) -> Self {
        Self { node_core, scheduler, io: Mutex::new(Some(io)) }
    }
}

impl Node {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    pub(crate) fn node_core(&self) -> &NodeCore<ErlangTypes> {
        &self.inner.node_core
    }

    /// Returns the name of the node.
    pub fn name(&self) -> &str {
        &self.node_state().name
    }

    /// Returns the number of worker threads.
    pub fn workers(&self) -> usize {
        self.inner.scheduler.workers()
    }

    /// Returns the maximum number of live processes (E2).
    pub fn max_processes(&self) -> u32 {
        self.inner.node_core.limit()
    }

    /// Returns how long the node has been running, on the node's clock, which all its timers use.
    /// In a test the clock may be virtual.
    pub fn uptime(&self) -> Duration {
        self.inner.scheduler.timers().wheel(0).now()
    }

    /// Returns the address of the process with this id.
    ///
    /// # Errors
    /// Returns [`LookupError`] if no live process has the id, or if it receives messages of another
    /// type.
    pub fn pid<M: Send + 'static>(&self, id: ProcessId) -> Result<Pid<M>, LookupError> {
        let process = self.find(id).ok_or(LookupError::NoProcess(id))?;
        Pid::typed(process)
    }

    pub(crate) fn node_state(&self) -> &NodeState {
        self.inner.node_core.state()
    }

    pub(crate) fn find(&self, id: ProcessId) -> Option<Peer> {
        let slot = id.slot_on(self.node_state().creation)?;
        self.inner.node_core.find(slot)
    }

    /// Returns the number of messages that were never received (M4, B3); see [`Node::drops`] for
    /// the causes.
    pub fn dropped_messages(&self) -> u64 {
        self.drops().all()
    }

    /// Returns the numbers of messages that were never received, by cause (M4, B3).
    pub fn drops(&self) -> Drops {
        let mut drops = self.node_state().dropped.read();
        drops.ended += self.inner.scheduler.timers().dropped();
        drops
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("name", &self.name())
            .field("workers", &self.workers())
            .finish_non_exhaustive()
    }
}
