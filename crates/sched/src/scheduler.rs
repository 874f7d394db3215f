//! Shared state of the scheduler: queues, workers, start and stop.

use std::io;
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Duration;

use crossbeam_utils::CachePadded;
use purlin_raw::{Host, Runnable, Slot, TurnOutcome};

use crate::clock::Clock;
use crate::hooks::Hooks;
use crate::sync::deque::{Injector, Steal};
use crate::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Condvar, Instant, Mutex, MutexGuard, Ordering, Parker,
    Unparker, fence,
};
use crate::sysmon::stalled::StalledThreads;
use crate::sysmon::thread::Sysmon;
use crate::timers::Timers;
use crate::worker::core::Core;
use crate::worker::counters::WorkerCounters;
use crate::worker::idle::Idle;
use crate::worker::launcher::{Launcher, WorkerInit};
use crate::worker::schedule_here;
use crate::worker::shared_queue::SharedQueue;

/// Handle to a set of workers.
#[derive(Clone)]
pub struct Scheduler {
    pub(crate) shared: Arc<Shared>,
}

/// State shared by all workers.
pub(crate) struct Shared {
    pub(crate) injector: CachePadded<Injector<Runnable>>,
    pub(crate) queues: Box<[Arc<CachePadded<SharedQueue<Runnable>>>]>,
    pub(crate) idle: Idle,
    pub(crate) timers: Timers,
    pub(crate) stalled: StalledThreads,
    /// Counters of each worker.
    pub(crate) counters: Box<[CachePadded<WorkerCounters>]>,
    /// Number of guards that request the measurement of sleep time.
    pub(crate) measuring: AtomicUsize,
    /// Number of sysmon's ticks.
    pub(crate) ticks: AtomicU64,
    /// Waker of the thread that is each worker at present.
    wakers: Box<[Mutex<Waker>]>,
    sysmon: Unparker,
    stop: CachePadded<AtomicBool>,
    threads: Mutex<Threads>,
    ended: Condvar,
}

/// Workers whose threads have not been started, and the number of threads that run.
struct Threads {
    waiting: Option<(Vec<WorkerInit>, Parker)>,
    running: usize,
}

/// Outcome of stopping the workers.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All threads have ended.
    All,
    /// This number of threads had not ended at the timeout, because their turn still runs.
    Except(usize),
}

impl Scheduler {
    /// Creates a scheduler with `workers` workers; [`Scheduler::start`] starts their threads.
    pub fn new(workers: usize) -> Self {
        Self::with_clock(workers, Clock::machine())
    }

    /// Like [`Scheduler::new`], with another clock for the timers.
    pub fn with_clock(workers: usize, clock: Clock) -> Self {
        let workers = workers.max(1);
        let cores: Vec<_> = (0..workers).map(|_| Core::new()).collect();
        let queues = cores.iter().map(|core| Arc::clone(core.queue())).collect();
        let waiting: Vec<_> = (0..).zip(cores).map(|(i, core)| WorkerInit::new(i, core)).collect();
        let wakers: Vec<_> = waiting.iter().map(WorkerInit::waker).collect();
        let timers = Timers::new(wakers.iter().cloned(), clock);
        let wakers = wakers.into_iter().map(Mutex::new).collect();
        let parker = Parker::new();
        Self {
            shared: Arc::new(Shared {
                injector: CachePadded::new(Injector::new()),
                queues,
                idle: Idle::new(workers),
                timers,
                stalled: StalledThreads::default(),
                counters: (0..workers).map(|_| CachePadded::default()).collect(),
                measuring: AtomicUsize::new(0),
                ticks: AtomicU64::new(0),
                wakers,
                sysmon: parker.unparker().clone(),
                stop: CachePadded::new(AtomicBool::new(false)),
                threads: Mutex::new(Threads { waiting: Some((waiting, parker)), running: 0 }),
                ended: Condvar::new(),
            }),
        }
    }

    /// Returns the host with which a node core's processes run on this scheduler.
    pub fn host(&self) -> Box<dyn Host> {
        Box::new(self.clone())
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.shared.queues.len()
    }

    /// Returns the timers.
    pub fn timers(&self) -> &Timers {
        &self.shared.timers
    }

    /// Starts the threads, whose names begin with `name`. On error, threads that were already
    /// started keep running; call [`Scheduler::stop`].
    pub fn start(&self, name: &str, hooks: Arc<dyn Hooks>) -> io::Result<()> {
        let Some((waiting, parker)) = self.shared.lock_threads().waiting.take() else {
            return Ok(());
        };
        let launcher = Launcher { shared: Arc::clone(&self.shared), hooks, name: name.into() };
        let statuses = waiting.iter().map(|init| Arc::clone(&init.status)).collect();
        for init in waiting {
            launcher.launch(&init.index.to_string(), || Some(init))?;
        }
        let sysmon = Sysmon::new(launcher.clone(), parker, statuses);
        launcher.spawn_thread("sysmon", || sysmon.run())
    }

    /// Returns the processes whose turn stalls a worker, and since when.
    pub fn stalled(&self) -> Vec<(Slot, Instant)> {
        self.shared.stalled.now()
    }

    /// Returns the number of running threads: workers, sysmon, the spare thread if there is one,
    /// and detached threads.
    pub fn threads(&self) -> usize {
        self.shared.lock_threads().running
    }

    /// Returns the number of sysmon's ticks, and whether it rests now.
    pub fn sysmon_ticks(&self) -> (u64, bool) {
        (self.shared.ticks.load(Ordering::Relaxed), self.shared.idle.resting())
    }

    /// Runs one turn on the current thread, which must not be a worker, and lets it block.
    pub fn run_detached_turn(&self, runnable: Runnable) {
        self.shared.run_detached(runnable);
        self.shared.drain_after_stop();
    }

    /// Stops the workers once no process is ready, and waits for them at most `timeout`. Drops the
    /// timers that have not fired by then.
    pub fn stop(&self, timeout: Duration) -> Stopped {
        let stopped = self.stop_workers(timeout);
        self.shared.timers.close();
        stopped
    }

    fn stop_workers(&self, timeout: Duration) -> Stopped {
        // ORDER: release to the acquire in `stopping`; see also `drain_after_stop`.
        self.shared.stop.store(true, Ordering::SeqCst);
        for worker in self.shared.idle.wake_all() {
            self.shared.unpark(worker);
        }
        self.shared.sysmon.unpark();
        let deadline = Instant::now() + timeout;
        let mut threads = self.shared.lock_threads();
        while threads.running > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Stopped::Except(threads.running);
            }
            let waited = self.shared.ended.wait_timeout(threads, left);
            threads = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Stopped::All
    }
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("workers", &self.workers()).finish()
    }
}

impl Shared {
    /// Returns whether the scheduler is stopping.
    #[inline]
    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Reports queued work: wakes a sleeper if no other worker will find it.
    #[inline]
    pub(crate) fn notify(&self) {
        if let Some(worker) = self.idle.notify() {
            self.unpark(worker);
        }
    }

    /// Reports work that a worker has queued for itself and that others can steal.
    #[inline]
    pub(crate) fn notify_for_own(&self) {
        if let Some(worker) = self.idle.notify_for_own() {
            self.unpark(worker);
        }
    }

    /// Wakes a worker that has left the sleepers or that must observe a change. If a timer has
    /// woken it meanwhile, or its core was handed off, this only shortens a sleep of the worker's
    /// present thread.
    #[cold]
    pub(crate) fn unpark(&self, worker: usize) {
        self.waker(worker).wake_by_ref();
    }

    fn waker(&self, worker: usize) -> MutexGuard<'_, Waker> {
        self.wakers[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the waker after a hand-off: another thread is that worker from now on.
    pub(crate) fn set_waker(&self, worker: usize, waker: Waker) {
        self.timers.wheel(worker).set_worker(waker.clone());
        *self.waker(worker) = waker;
    }

    /// Wakes sysmon if it rests. Called when a worker has left the sleepers or a detached thread is
    /// done.
    pub(crate) fn wake_sysmon(&self) {
        if self.idle.wake_sysmon() {
            self.sysmon.unpark();
        }
    }

    /// Queues a process from a thread that has no core.
    pub(crate) fn inject(&self, runnable: Runnable) {
        self.injector.push(runnable);
        self.notify();
    }

    /// Runs one turn on a thread that has no core.
    fn run_detached(&self, runnable: Runnable) {
        if let TurnOutcome::Again(runnable) = runnable.run() {
            self.inject(runnable);
        }
    }

    /// Runs the processes of the global queue if the scheduler is stopping, because the workers may
    /// have exited. Called by a thread that has no core, after its last push.
    pub(crate) fn drain_after_stop(&self) {
        // ORDER: partner of the fence in `Worker::run_all`: either this sees the stop, or the final
        // check of a worker that saw it sees what this thread has queued before.
        fence(Ordering::SeqCst);
        while self.stopping() {
            match self.injector.steal() {
                Steal::Success(runnable) => self.run_detached(runnable),
                Steal::Empty => break,
                Steal::Retry => {}
            }
        }
    }

    /// Returns whether a worker with an empty core can find work elsewhere.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.queues.iter().any(|queue| queue.wants_help())
    }

    pub(crate) fn thread_begins(&self) {
        self.lock_threads().running += 1;
    }

    pub(crate) fn thread_ended(&self) {
        self.lock_threads().running -= 1;
        self.ended.notify_all();
    }

    fn lock_threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Scheduler {
    #[inline]
    fn schedule_here(&self, runnable: Runnable) -> Result<(), Runnable> {
        schedule_here(&self.shared, runnable)
    }

    fn schedule_from_outside(&self, runnable: Runnable) {
        self.shared.inject(runnable);
    }
}
