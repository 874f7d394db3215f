//! The shared part of the scheduler: queues, workers, start and stop.

use std::io;
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Duration;

use crossbeam_utils::CachePadded;
use purlin_raw::{Host, Ran, Runnable, Slot};

use crate::above::Above;
use crate::clock::Clock;
use crate::crew::{Assignment, Crew};
use crate::hogs::Hogs;
use crate::idle::Idle;
use crate::load::Tally;
use crate::monitor::Monitor;
use crate::post::Post;
use crate::queue::Queue;
use crate::sync::deque::{Injector, Steal};
use crate::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Condvar, Instant, Mutex, MutexGuard, Ordering, Parker,
    Unparker, fence,
};
use crate::timers::Timers;
use crate::worker::schedule_here;

/// A handle on a set of workers.
#[derive(Clone)]
pub struct Scheduler {
    pub(crate) shared: Arc<Shared>,
}

/// What all workers share.
pub(crate) struct Shared {
    pub(crate) injector: CachePadded<Injector<Runnable>>,
    pub(crate) queues: Box<[Arc<CachePadded<Queue<Runnable>>>]>,
    pub(crate) idle: Idle,
    pub(crate) timers: Timers,
    pub(crate) hogs: Hogs,
    /// What each worker has done.
    pub(crate) tallies: Box<[CachePadded<Tally>]>,
    /// How many want to know how long workers sleep.
    pub(crate) measuring: AtomicUsize,
    /// How often the monitor has looked.
    pub(crate) ticks: AtomicU64,
    /// What ends the sleep of the thread that is that worker now.
    wakers: Box<[Mutex<Waker>]>,
    monitor: Unparker,
    stop: CachePadded<AtomicBool>,
    ends: Mutex<Ends>,
    ended: Condvar,
}

/// The parts that wait for their threads, then the threads that run.
struct Ends {
    waiting: Option<(Vec<Assignment>, Parker)>,
    running: usize,
}

/// How the workers stopped.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All threads have ended.
    All,
    /// So many had not ended when the time was up, because of a turn that would not.
    Except(usize),
}

impl Scheduler {
    /// Prepares that many workers; [`Scheduler::start`] gives them their threads.
    pub fn new(workers: usize) -> Self {
        Self::with_clock(workers, Clock::machine())
    }

    /// [`Scheduler::new`] with another clock for the timers.
    pub fn with_clock(workers: usize, clock: Clock) -> Self {
        let workers = workers.max(1);
        let posts: Vec<_> = (0..workers).map(|_| Post::new()).collect();
        let queues = posts.iter().map(|post| Arc::clone(post.queue())).collect();
        let waiting: Vec<_> = (0..).zip(posts).map(|(i, post)| Assignment::new(i, post)).collect();
        let wakers: Vec<_> = waiting.iter().map(Assignment::waker).collect();
        let timers = Timers::new(wakers.iter().cloned(), clock);
        let wakers = wakers.into_iter().map(Mutex::new).collect();
        let monitor = Parker::new();
        Self {
            shared: Arc::new(Shared {
                injector: CachePadded::new(Injector::new()),
                queues,
                idle: Idle::new(workers),
                timers,
                hogs: Hogs::default(),
                tallies: (0..workers).map(|_| CachePadded::default()).collect(),
                measuring: AtomicUsize::new(0),
                ticks: AtomicU64::new(0),
                wakers,
                monitor: monitor.unparker().clone(),
                stop: CachePadded::new(AtomicBool::new(false)),
                ends: Mutex::new(Ends { waiting: Some((waiting, monitor)), running: 0 }),
                ended: Condvar::new(),
            }),
        }
    }

    /// What a realm needs to have its processes run here.
    pub fn host(&self) -> Box<dyn Host> {
        Box::new(self.clone())
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        self.shared.queues.len()
    }

    /// The timers.
    pub fn timers(&self) -> &Timers {
        &self.shared.timers
    }

    /// Starts the threads, whose names begin with `name`. An error of the operating system leaves
    /// those started so far running; call [`Scheduler::stop`].
    pub fn start(&self, name: &str, above: Arc<dyn Above>) -> io::Result<()> {
        let Some((waiting, parker)) = self.shared.ends().waiting.take() else { return Ok(()) };
        let crew = Crew { shared: Arc::clone(&self.shared), above, name: name.into() };
        let seats = waiting.iter().map(|assignment| Arc::clone(&assignment.seat)).collect();
        for assignment in waiting {
            crew.hire(&assignment.index.to_string(), || Some(assignment))?;
        }
        let monitor = Monitor::new(crew.clone(), parker, seats);
        crew.begin("monitor", || monitor.run())
    }

    /// Who is in a turn that was found to hold up others, and since when.
    pub fn hogs(&self) -> Vec<(Slot, Instant)> {
        self.shared.hogs.now()
    }

    /// The threads that have not ended: workers, the monitor, one that may be kept in reserve, and
    /// those that were relieved and are still in their turn.
    pub fn threads(&self) -> usize {
        self.shared.ends().running
    }

    /// How often the monitor has looked, and whether it rests now.
    pub fn watch(&self) -> (u64, bool) {
        (self.shared.ticks.load(Ordering::Relaxed), self.shared.idle.resting())
    }

    /// Runs one turn on this thread, which is none of the workers, and lets it block.
    pub fn run_elsewhere(&self, runnable: Runnable) {
        self.shared.run_detached(runnable);
        self.shared.run_what_nobody_will();
    }

    /// Tells the workers to end when nothing is ready, and waits for them as long as told. Timers
    /// that have not fired by then are dropped.
    pub fn stop(&self, patience: Duration) -> Stopped {
        let stopped = self.stop_workers(patience);
        self.shared.timers.close();
        stopped
    }

    fn stop_workers(&self, patience: Duration) -> Stopped {
        // ORDER: release to the acquire in `stopping`; see also `run_what_nobody_will`.
        self.shared.stop.store(true, Ordering::SeqCst);
        for worker in self.shared.idle.wake_all() {
            self.shared.unpark(worker);
        }
        self.shared.monitor.unpark();
        let deadline = Instant::now() + patience;
        let mut ends = self.shared.ends();
        while ends.running > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Stopped::Except(ends.running);
            }
            let waited = self.shared.ended.wait_timeout(ends, left);
            ends = waited.unwrap_or_else(PoisonError::into_inner).0;
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
    /// Whether the workers are to end.
    #[inline]
    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Work was queued: wakes a sleeper if nobody would find it.
    #[inline]
    pub(crate) fn notify(&self) {
        if let Some(worker) = self.idle.notify() {
            self.unpark(worker);
        }
    }

    /// A worker has queued work for itself that others may help with.
    #[inline]
    pub(crate) fn notify_for_own(&self) {
        if let Some(worker) = self.idle.notify_for_own() {
            self.unpark(worker);
        }
    }

    /// Wakes a worker that was taken from the sleepers, or that has to see something. It may have been woken by a
    /// timer meanwhile, and even been relieved: then this makes a sleep of its successor a short one.
    #[cold]
    pub(crate) fn unpark(&self, worker: usize) {
        self.waker(worker).wake_by_ref();
    }

    fn waker(&self, worker: usize) -> MutexGuard<'_, Waker> {
        self.wakers[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another thread is that worker from now on.
    pub(crate) fn set_waker(&self, worker: usize, waker: Waker) {
        self.timers.wheel(worker).set_worker(waker.clone());
        *self.waker(worker) = waker;
    }

    /// A worker was taken from the sleepers, or a relieved thread is done: the monitor is to watch
    /// again.
    pub(crate) fn rouse_monitor(&self) {
        if self.idle.rouse() {
            self.monitor.unpark();
        }
    }

    /// Queues a process from a thread that has no post.
    pub(crate) fn inject(&self, runnable: Runnable) {
        self.injector.push(runnable);
        self.notify();
    }

    /// Runs one turn on a thread that has no post.
    fn run_detached(&self, runnable: Runnable) {
        if let Ran::Again(runnable) = runnable.run() {
            self.inject(runnable);
        }
    }

    /// For a thread that has no post and ends now: if the workers have been told to end they may
    /// have gone, so it runs what it has queued itself.
    pub(crate) fn run_what_nobody_will(&self) {
        // ORDER: partner of the fence in `worker::work`: either this sees the stop, or the last
        // look of a worker that saw it sees what this thread queued before.
        fence(Ordering::SeqCst);
        while self.stopping() {
            match self.injector.steal() {
                Steal::Success(runnable) => self.run_detached(runnable),
                Steal::Empty => break,
                Steal::Retry => {}
            }
        }
    }

    /// Whether there is anything to do for a worker that has nothing of its own.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.queues.iter().any(|queue| queue.wants_help())
    }

    pub(crate) fn thread_begins(&self) {
        self.ends().running += 1;
    }

    pub(crate) fn thread_ended(&self) {
        self.ends().running -= 1;
        self.ended.notify_all();
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
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
