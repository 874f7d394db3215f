//! A node: the processes that live together, and the threads that run them.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use purlin_raw::Realm;
use purlin_sched::Scheduler;
use tokio::runtime::{Handle, Runtime};

use crate::home::{Erlang, Home, Parent, here, is_worker};
use crate::local::Local;
use crate::signal::Peer;
use crate::spawn::{SpawnError, stillborn, try_spawn_on};
use crate::stop::Stopper;
use crate::{
    Builder, ExitReason, Name, Outcome, Pid, Process, ProcessDetails, ProcessId, ProcessInfo, pid,
};

/// A node: the processes that live together, and the threads that run them.
///
/// A node is a value; a program may have several, and they share nothing. Cloning gives another
/// handle on the same node. When the last handle is dropped the node stops by itself, in the
/// background; to wait for it use [`Node::stop`] or [`Node::stop_blocking`].
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
/// A node brings its own tokio runtime, of one thread, for sockets and timers: what a process
/// awaits is polled by the process's worker and woken from there. It may be started inside another
/// tokio runtime too, and its processes may be sent to and called from there.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
}

/// The one value behind all handles.
pub(crate) struct Inner {
    pub(crate) realm: Realm<Erlang>,
    pub(crate) scheduler: Scheduler,
    /// Taken by whoever stops the node.
    pub(crate) io: Mutex<Option<Io>>,
}

/// The tokio runtime with which processes await.
pub(crate) enum Io {
    /// The node's own, with a thread for it.
    Own(Runtime),
    /// That of a simulation, which runs the node and tokio in turn.
    Simulated(Handle),
}

/// Why a process could not be addressed by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// No process of this node has that id (any more).
    NoProcess(ProcessId),
    /// No process of this node has that name.
    NoName(Name),
    /// The process receives messages of another type.
    OtherType {
        /// The process asked for.
        id: ProcessId,
        /// The type asked for.
        wanted: &'static str,
        /// The type it receives.
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

/// Messages that nobody received, by the reason (M4, B3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drops {
    /// Sent by this node's processes and timers to processes that had ended, or waiting when one of
    /// this node's processes ended.
    pub ended: u64,
    /// For an alias that had been taken back, or whose process ended before it took them out.
    pub alias: u64,
    /// Sent to a full mailbox that rejects, by one who did not want them back.
    pub rejected: u64,
    /// Sent to a full mailbox that drops the newest; or to one that drops the oldest, whose process
    /// did not come to it.
    pub newest: u64,
    /// The oldest in a full mailbox that drops those.
    pub oldest: u64,
}

impl Drops {
    /// All of them together.
    pub fn all(&self) -> u64 {
        let Self { ended, alias, rejected, newest, oldest } = self;
        ended + alias + rejected + newest + oldest
    }
}

impl Inner {
    pub(crate) fn new(realm: Realm<Erlang>, scheduler: Scheduler, io: Io) -> Self {
        Self { realm, scheduler, io: Mutex::new(Some(io)) }
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
    /// Settings for a new node.
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

    pub(crate) fn realm(&self) -> &Realm<Erlang> {
        &self.inner.realm
    }

    /// The node on which the current process lives; `None` outside of processes.
    pub fn current() -> Option<Self> {
        here(|here| here.node.upgrade()).flatten().map(Self::new)
    }

    /// What the node is called.
    pub fn name(&self) -> &str {
        &self.inner.realm.home().name
    }

    /// The number of threads that run processes.
    pub fn workers(&self) -> usize {
        self.inner.scheduler.workers()
    }

    /// How many processes may live at a time (E2).
    pub fn max_processes(&self) -> u32 {
        self.inner.realm.limit()
    }

    /// How long the node has been running, on its own clock, which all of its timers obey. In a test
    /// that may be a virtual one.
    pub fn uptime(&self) -> std::time::Duration {
        self.inner.scheduler.timers().wheel(0).now()
    }

    /// [`Node::uptime`] of the node on which the current process lives; `None` outside of processes.
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
    /// COST: a look at the clock. Unlike [`Node::current`] it writes to nothing that threads share.
    pub fn current_uptime() -> Option<std::time::Duration> {
        here(|here| here.timers.now())
    }

    /// Makes a process on this node, from any thread; see [`spawn()`](crate::spawn()).
    pub fn spawn<M, F, Fut>(&self, function: F) -> Pid<M>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        self.try_spawn(function)
            .unwrap_or_else(|error| stillborn(&self.inner.realm, Parent::current(), error))
    }

    /// [`Node::spawn`], but hands the function back when the node is full or stopping (E2).
    ///
    /// # Errors
    /// [`SpawnError`] says which, with the function in it.
    pub fn try_spawn<M, F, Fut>(&self, function: F) -> Result<Pid<M>, SpawnError<F>>
    where
        M: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        self.spawn_from_outside(function, |function| {
            try_spawn_on(self.realm(), Parent::current(), Local::default(), function)
        })
    }

    /// Spawns from any thread, if the node is not stopping.
    pub(crate) fn spawn_from_outside<M, F>(
        &self,
        function: F,
        spawn: impl FnOnce(F) -> Result<Pid<M>, SpawnError<F>>,
    ) -> Result<Pid<M>, SpawnError<F>> {
        // WHY asked before it is counted: those who try again and again must not hold up the stop.
        if self.inner.realm.home().stopping.load(Ordering::Relaxed) {
            return Err(SpawnError::Stopping(function));
        }
        let _under_way = self.under_way();
        spawn(function)
    }

    /// Runs a process to its end and returns what its function returned. Blocks this thread.
    ///
    /// # Panics
    /// If the process panicked, was told to end, or could not be spawned, with its exit reason; and
    /// in a process, where it would hold up the worker.
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

    /// Runs a process to its end and returns what its function returned, or why it did not.
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
            // Whoever waits is on this function's stack and cannot have gone.
            let _ = tell.send(result);
        });
        told.recv().map_err(|_| {
            // The function is dropped a moment before its reason is written.
            let ended = async { pid.ended().await };
            crate::call::block_on(ended)
        })
    }

    /// The processes that live now (P5). Nothing is stopped; a process that begins or ends
    /// meanwhile may be there or not.
    ///
    /// COST: one compare-and-swap for each process, and the list.
    pub fn processes(&self) -> Vec<ProcessInfo> {
        self.inner.realm.processes().map(|process| self.info_of(&process)).collect()
    }

    /// What can be seen of one process; `None` if it does not live on this node.
    pub fn process_info(&self, id: ProcessId) -> Option<ProcessInfo> {
        self.find(id).map(|process| self.info_of(&process))
    }

    fn info_of(&self, process: &Peer) -> ProcessInfo {
        ProcessInfo::of(process, self.home().names.of(process.slot()))
    }

    /// What a process of this node tells of itself; `None` if it does not live. See
    /// [`Pid::details`].
    pub async fn process_details(&self, id: ProcessId) -> Option<ProcessDetails> {
        pid::details(&self.find(id)?).await
    }

    /// The address of a process of which only the id is known.
    ///
    /// # Errors
    /// No such process, or one that receives another type.
    pub fn pid<M: Send + 'static>(&self, id: ProcessId) -> Result<Pid<M>, LookupError> {
        let process = self.find(id).ok_or(LookupError::NoProcess(id))?;
        Pid::typed(process)
    }

    /// Marks that a process is being spawned from outside, for as long as it is kept.
    fn under_way(&self) -> impl Drop {
        struct UnderWay<'a>(&'a AtomicUsize);
        impl Drop for UnderWay<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let spawns = &self.inner.realm.home().outside_spawns;
        spawns.fetch_add(1, Ordering::SeqCst);
        UnderWay(spawns)
    }

    pub(crate) fn home(&self) -> &Home {
        self.inner.realm.home()
    }

    pub(crate) fn find(&self, id: ProcessId) -> Option<purlin_raw::Ref<Erlang>> {
        let slot = id.slot_on(self.inner.realm.home().creation)?;
        self.inner.realm.find(slot)
    }

    /// Messages that nobody received (M4, B3), in all; [`Node::drops`] says why.
    pub fn dropped_messages(&self) -> u64 {
        self.drops().all()
    }

    /// Messages that nobody received, by the reason (M4, B3).
    pub fn drops(&self) -> Drops {
        let counted = &self.home().dropped;
        Drops {
            ended: counted.ended.load(Ordering::Relaxed) + self.inner.scheduler.timers().dropped(),
            alias: counted.alias.load(Ordering::Relaxed),
            rejected: counted.spilled.rejected.load(Ordering::Relaxed),
            newest: counted.spilled.newest.load(Ordering::Relaxed),
            oldest: counted.spilled.oldest.load(Ordering::Relaxed),
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

/// What [`macro@crate::main`] expands to: runs a node for one process, then stops it.
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

/// What [`macro@crate::test`] expands to: as `main`, but what goes wrong fails the test.
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
