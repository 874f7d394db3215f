//! Node: a set of processes and the threads that run them.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use purlin_raw::NodeCore;
use purlin_sched::Scheduler;
use tokio::runtime::{Handle, Runtime};

use crate::node::context::{ErlangTypes, NodeState, Parent, is_worker, with_context};
use crate::node::stop::Stopper;
use crate::process::pid;
use crate::process::spawn::{SpawnError, ended_placeholder, try_spawn_on};
use crate::signals::local_state::LocalState;
use crate::signals::signal::Peer;
use crate::{
    Builder, ExitReason, Name, Outcome, Pid, Process, ProcessDetails, ProcessId, ProcessInfo,
};

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
/// A node has its own tokio runtime, with one thread for sockets and timers. The process's worker
/// polls the futures that a process awaits, and the runtime wakes them. A node may be started
/// inside another tokio runtime, whose tasks can send to its processes and call them.
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
    /// The node's own runtime, with one thread.
    Own(Runtime),
    /// The runtime of a simulation, which runs the node and tokio alternately.
    Simulated(Handle),
}

/// Error of a look-up of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// No live process of this node has this id.
    NoProcess(ProcessId),
    /// No live process of this node has this name.
    NoName(Name),
    /// The process receives messages of another type.
    OtherType {
        /// The requested process.
        id: ProcessId,
        /// The requested message type.
        wanted: &'static str,
        /// The message type of the process.
        receives: &'static str,
    },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess(id) => write!(f, "noproc: no process {id} lives on this node"),
            Self::NoName(name) => write!(f, "noproc: no process has the name {name:?}"),
            Self::OtherType { id, wanted, receives } => {
                write!(f, "process {id} receives messages of type {receives}, not {wanted}")
            }
        }
    }
}

impl std::error::Error for LookupError {}

/// Numbers of messages that were never received, by cause (M4, B3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drops {
    /// Sent by this node's processes and timers to processes that had ended, or still waiting when
    /// a process of this node ended.
    pub ended: u64,
    /// Sent to an alias that had been removed, or whose process ended before it took them out.
    pub alias: u64,
    /// Rejected by a full mailbox, from senders that did not ask for them back.
    pub rejected: u64,
    /// Dropped by a full mailbox that drops the newest message, or by one that drops the oldest and
    /// whose process had not had a turn to do so.
    pub newest: u64,
    /// Dropped by a full mailbox that drops the oldest message.
    pub oldest: u64,
}

impl Drops {
    /// Returns the total.
    pub fn all(&self) -> u64 {
        let Self { ended, alias, rejected, newest, oldest } = self;
        ended + alias + rejected + newest + oldest
    }
}

impl Inner {
    pub(crate) fn new(node_core: NodeCore<ErlangTypes>, scheduler: Scheduler, io: Io) -> Self {
        Self { node_core, scheduler, io: Mutex::new(Some(io)) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(stopper) = Stopper::begin(self) {
            stopper.in_background();
        }
    }
}

impl Node {
    /// Returns a builder with default settings.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(crate) fn shared(&self) -> &Arc<Inner> {
        &self.inner
    }

    pub(crate) fn node_core(&self) -> &NodeCore<ErlangTypes> {
        &self.inner.node_core
    }

    /// Returns the node of the current process; `None` outside of processes.
    pub fn current() -> Option<Self> {
        with_context(|here| here.node.upgrade()).flatten().map(Self::new)
    }

    /// Returns the name of the node.
    pub fn name(&self) -> &str {
        &self.inner.node_core.state().name
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
    pub fn uptime(&self) -> std::time::Duration {
        self.inner.scheduler.timers().wheel(0).now()
    }

    /// Returns [`Node::uptime`] of the current process's node; `None` outside of processes.
    ///
    /// ```
    /// use purlin::{Node, yield_now};
    ///
    /// #[purlin::main]
    /// async fn main() {
    ///     let before = Node::current_uptime();
    ///     yield_now().await;
    ///     assert!(before.is_some() && before <= Node::current_uptime());
    /// }
    /// ```
    ///
    /// COST: a reading of the clock. Unlike [`Node::current`] it writes to no memory that threads
    /// share.
    pub fn current_uptime() -> Option<std::time::Duration> {
        with_context(|here| here.timers.now())
    }

    /// Spawns a process on this node, from any thread; see [`spawn()`](crate::spawn()).
    pub fn spawn<M, F, Fut>(&self, function: F) -> Pid<M>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        self.try_spawn(function).unwrap_or_else(|error| {
            ended_placeholder(&self.inner.node_core, Parent::current(), error)
        })
    }

    /// [`Node::spawn`], but returns the function if the node is full or stopping (E2).
    ///
    /// # Errors
    /// Returns [`SpawnError`], which contains the cause and the function.
    pub fn try_spawn<M, F, Fut>(&self, function: F) -> Result<Pid<M>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        self.spawn_from_outside(function, |function| {
            try_spawn_on(self.node_core(), Parent::current(), LocalState::default(), function)
        })
    }

    /// Spawns from any thread, unless the node is stopping.
    pub(crate) fn spawn_from_outside<M, F>(
        &self,
        function: F,
        spawn: impl FnOnce(F) -> Result<Pid<M>, SpawnError<F>>,
    ) -> Result<Pid<M>, SpawnError<F>> {
        // WHY: checked before the spawn is counted, so that repeated attempts do not delay the
        // stop.
        if self.inner.node_core.state().stopping.load(Ordering::Relaxed) {
            return Err(SpawnError::Stopping(function));
        }
        let _under_way = self.under_way();
        spawn(function)
    }

    /// Runs a process to its end and returns the result of its function. Blocks this thread.
    ///
    /// # Panics
    /// Panics with the exit reason if the process panicked, was ended by an exit signal, or could
    /// not be spawned. Panics on a worker thread, which it would stall.
    #[track_caller]
    pub fn block_on<M, R, F, Fut>(&self, function: F) -> R
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        match self.run(function) {
            Ok(result) => result,
            Err(reason) => panic!("the process that was waited for ended: {reason}"),
        }
    }

    /// Runs a process to its end. Returns the result of its function, or the exit reason.
    #[track_caller]
    fn run<M, R, F, Fut>(&self, function: F) -> Result<R, ExitReason>
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        assert!(!is_worker(), "blocked on a process inside a process: await it there");
        let (tell, told) = mpsc::channel();
        let pid = self.spawn(move |me| async move {
            let result = function(me).await;
            // The receiver is on this function's stack, so the send cannot fail.
            let _ = tell.send(result);
        });
        told.recv().map_err(|_| {
            // The function is dropped slightly before the exit reason is stored.
            let ended = async { pid.ended().await };
            crate::call::request::block_on(ended)
        })
    }

    /// Returns snapshots of the live processes (P5). No process is stopped. A process that starts
    /// or ends meanwhile may or may not be included.
    ///
    /// COST: one compare-and-swap for each process, and the list.
    pub fn processes(&self) -> Vec<ProcessInfo> {
        self.inner.node_core.processes().map(|process| self.info_of(&process)).collect()
    }

    /// Returns a snapshot of a process; `None` if no live process of this node has this id.
    pub fn process_info(&self, id: ProcessId) -> Option<ProcessInfo> {
        self.find(id).map(|process| self.info_of(&process))
    }

    fn info_of(&self, process: &Peer) -> ProcessInfo {
        ProcessInfo::of(process, self.node_state().names.of(process.slot()))
    }

    /// Returns the details of a process, which reports them itself; `None` if no live process of
    /// this node has this id. See [`Pid::details`].
    pub async fn process_details(&self, id: ProcessId) -> Option<ProcessDetails> {
        pid::details(&self.find(id)?).await
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

    /// Counts a spawn from outside as in progress until the returned guard is dropped.
    fn under_way(&self) -> impl Drop {
        struct UnderWay<'a>(&'a AtomicUsize);
        impl Drop for UnderWay<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let spawns = &self.inner.node_core.state().outside_spawns;
        spawns.fetch_add(1, Ordering::SeqCst);
        UnderWay(spawns)
    }

    pub(crate) fn node_state(&self) -> &NodeState {
        self.inner.node_core.state()
    }

    pub(crate) fn find(&self, id: ProcessId) -> Option<purlin_raw::Ref<ErlangTypes>> {
        let slot = id.slot_on(self.inner.node_core.state().creation)?;
        self.inner.node_core.find(slot)
    }

    /// Returns the number of messages that were never received (M4, B3); see [`Node::drops`] for
    /// the causes.
    pub fn dropped_messages(&self) -> u64 {
        self.drops().all()
    }

    /// Returns the numbers of messages that were never received, by cause (M4, B3).
    pub fn drops(&self) -> Drops {
        let counted = &self.node_state().dropped;
        Drops {
            ended: counted.ended.load(Ordering::Relaxed) + self.inner.scheduler.timers().dropped(),
            alias: counted.alias.load(Ordering::Relaxed),
            rejected: counted.at_bound.rejected.load(Ordering::Relaxed),
            newest: counted.at_bound.newest.load(Ordering::Relaxed),
            oldest: counted.at_bound.oldest.load(Ordering::Relaxed),
        }
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

/// Expansion of [`macro@crate::main`]: runs one process on a new node, then stops the node.
pub fn run_main<M, R, F, Fut>(builder: Builder, function: F) -> R
where
    M: Send + 'static,
    R: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    let node = builder.build().unwrap_or_else(|error| {
        eprintln!("purlin: {error}");
        std::process::exit(1)
    });
    let result = node.run(function);
    let report = node.stop_blocking();
    for hog in report.hogs.iter().chain(&report.stranded) {
        eprintln!("purlin: process {} ({}) would not end and was left", hog.id, hog.function);
    }
    result.unwrap_or_else(|reason| {
        eprintln!("purlin: the main process ended: {reason}");
        std::process::exit(101)
    })
}

/// Expansion of [`macro@crate::test`]: as `main`, but a failure fails the test.
#[track_caller]
pub fn run_test<M, R, F, Fut>(builder: Builder, function: F) -> R
where
    M: Send + 'static,
    R: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    let node = builder.build().expect("the test's node starts");
    let result = node.run(function);
    let report = node.stop_blocking();
    match result {
        Ok(result) => {
            let left = report.hogs.len() + report.stranded.len();
            assert_eq!(left, 0, "processes that would not end: {report:?}");
            result
        }
        Err(reason) => panic!("the test's process ended: {reason}"),
    }
}
