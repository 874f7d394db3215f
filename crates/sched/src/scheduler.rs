//! Scheduler: creation, start, statistics and stop of the workers.

use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use purlin_raw::{Host, Runnable, Slot};

use crate::clock::Clock;
use crate::hooks::Hooks;
use crate::shared::{Shared, Threads};
use crate::sync::deque::Injector;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Condvar, Instant, Mutex, Ordering, Parker};
use crate::sysmon::period::SleepWatch;
use crate::sysmon::stalled::HandOffs;
use crate::sysmon::thread::Sysmon;
use crate::timers::Timers;
use crate::worker::core::Core;
use crate::worker::counters::Load;
use crate::worker::idle::Idle;
use crate::worker::init::WorkerInit;
use crate::worker::launcher::Launcher;
use crate::worker::processors::Processors;
use crate::worker::run::schedule_here;

/// Handle to a set of workers.
#[derive(Clone)]
pub struct Scheduler {
    pub(crate) shared: Arc<Shared>,
}

/// Guard that keeps the measurement of sleep time on.
#[must_use]
#[derive(Debug)]
pub struct Measuring(Scheduler);

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
                hand_offs: HandOffs::default(),
                counters: (0..workers).map(|_| CachePadded::default()).collect(),
                processors: Processors::new(workers),
                measuring: AtomicUsize::new(0),
                ticks: AtomicU64::new(0),
                wakers,
                sysmon: parker.unparker().clone(),
                sleep_watch: SleepWatch::new(),
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
        self.shared.hand_offs.now()
    }

    /// Returns the number of running threads: workers, sysmon, the spare thread if there is one,
    /// and detached threads.
    pub fn threads(&self) -> usize {
        self.shared.lock_threads().running
    }

    /// Returns the statistics of the workers.
    ///
    /// COST: a few loads per worker and one allocation.
    pub fn load(&self) -> Load {
        let shared = &self.shared;
        let now = shared.timers.clock().now();
        let workers = shared.counters.iter().zip(&shared.queues);
        let workers = workers.map(|(counters, queue)| counters.load(now, queue.waiting()));
        Load { workers: workers.collect(), global_queue: shared.injector.len() }
    }

    /// Turns on the measurement of sleep time until the returned guard is dropped. Wakes sleeping
    /// workers once, so that their next sleep is measured.
    pub fn measure(&self) -> Measuring {
        self.shared.measuring.fetch_add(1, Ordering::Relaxed);
        for worker in 0..self.workers() {
            self.shared.unpark(worker);
        }
        Measuring(self.clone())
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
        // ORDER: release to the acquire in `stopping`; see also `drain_after_stop`.
        self.shared.stop.store(true, Ordering::SeqCst);
        for worker in self.shared.idle.wake_all() {
            self.shared.unpark(worker);
        }
        self.shared.sysmon.unpark();
        let deadline = Instant::now() + timeout;
        let mut threads = self.shared.lock_threads();
        let mut left = timeout;
        while threads.running > 0 && !left.is_zero() {
            let waited = self.shared.ended.wait_timeout(threads, left);
            threads = waited.unwrap_or_else(PoisonError::into_inner).0;
            left = deadline.saturating_duration_since(Instant::now());
        }
        let running = threads.running;
        drop(threads);
        self.shared.timers.close();
        if running == 0 { Stopped::All } else { Stopped::Except(running) }
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        self.0.shared.measuring.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("workers", &self.workers()).finish()
    }
}

impl Host for Scheduler {
    #[inline]
    fn schedule_local(&self, runnable: Runnable) -> Result<(), Runnable> {
        schedule_here(&self.shared, runnable)
    }

    fn schedule_remote(&self, runnable: Runnable) {
        self.shared.inject(runnable);
    }
}
