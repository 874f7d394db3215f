//! The shared part of the scheduler: queues, workers, start and stop.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_deque::{Injector, Stealer, Worker as Deque};
use crossbeam_utils::CachePadded;
use crossbeam_utils::sync::{Parker, Unparker};
use purlin_raw::{Host, Runnable};

use crate::clock::Clock;
use crate::idle::Idle;
use crate::timers::Timers;
use crate::worker::{schedule_here, work};

/// What a worker thread runs around its loop: it is given the worker's number and the loop.
type Around = Arc<dyn Fn(usize, &mut dyn FnMut()) + Send + Sync>;

/// A handle on a set of workers.
#[derive(Clone)]
pub struct Scheduler {
    shared: Arc<Shared>,
}

/// What all workers share.
pub(crate) struct Shared {
    pub(crate) injector: CachePadded<Injector<Runnable>>,
    pub(crate) stealers: Box<[Stealer<Runnable>]>,
    pub(crate) idle: Idle,
    pub(crate) timers: Timers,
    unparkers: Box<[Unparker]>,
    stop: CachePadded<AtomicBool>,
    ends: Mutex<Ends>,
    ended: Condvar,
}

/// The parts that wait for their thread, then the threads that run.
struct Ends {
    waiting: Vec<(Deque<Runnable>, Parker)>,
    running: usize,
}

/// How the workers stopped.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// All threads have ended.
    All,
    /// So many were still in a turn that would not end when the time was up.
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
        // WHY: first in, first out, so that everybody who is ready runs (F1).
        let waiting: Vec<_> = (0..workers).map(|_| (Deque::new_fifo(), Parker::new())).collect();
        let stealers = waiting.iter().map(|(deque, _)| deque.stealer()).collect();
        let unparkers: Box<[_]> =
            waiting.iter().map(|(_, parker)| parker.unparker().clone()).collect();
        Self {
            shared: Arc::new(Shared {
                injector: CachePadded::new(Injector::new()),
                stealers,
                idle: Idle::new(workers),
                timers: Timers::new(unparkers.iter(), clock),
                unparkers,
                stop: CachePadded::new(AtomicBool::new(false)),
                ends: Mutex::new(Ends { waiting, running: 0 }),
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
        self.shared.stealers.len()
    }

    /// The timers.
    pub fn timers(&self) -> &Timers {
        &self.shared.timers
    }

    /// Starts the threads. Each calls `around` with its number and its loop, and must run the loop
    /// once. An error of the operating system leaves the threads started so far running; call
    /// [`Scheduler::stop`].
    pub fn start(&self, name: &str, around: Around) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.ends().waiting);
        for (index, (deque, parker)) in waiting.into_iter().enumerate() {
            let shared = Arc::clone(&self.shared);
            let around = Arc::clone(&around);
            self.ends().running += 1;
            let started = thread::Builder::new().name(format!("{name}-{index}")).spawn(move || {
                let _end = EndOfThread(Arc::clone(&shared));
                let mut own = Some((shared, deque, parker));
                around(index, &mut || {
                    if let Some((shared, queue, parker)) = own.take() {
                        work(shared, index, queue, parker);
                    }
                });
            });
            if let Err(error) = started {
                self.shared.thread_ended();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Tells the workers to end when nothing is ready, and waits for them as long as told. Timers
    /// that have not fired by then are dropped.
    pub fn stop(&self, patience: Duration) -> Stopped {
        let stopped = self.stop_workers(patience);
        self.shared.timers.close();
        stopped
    }

    fn stop_workers(&self, patience: Duration) -> Stopped {
        // ORDER: release to the workers' acquire in `stopping`.
        self.shared.stop.store(true, Ordering::Release);
        for worker in self.shared.idle.wake_all() {
            self.shared.unparkers[worker].unpark();
        }
        let deadline = Instant::now() + patience;
        let mut ends = self.ends();
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

    fn ends(&self) -> std::sync::MutexGuard<'_, Ends> {
        self.shared.ends.lock().unwrap_or_else(PoisonError::into_inner)
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
            self.unparkers[worker].unpark();
        }
    }

    /// Whether there is anything to do for a worker that has nothing of its own.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    fn thread_ended(&self) {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).running -= 1;
        self.ended.notify_all();
    }
}

impl Host for Scheduler {
    #[inline]
    fn schedule_here(&self, runnable: Runnable) -> Result<(), Runnable> {
        schedule_here(&self.shared, runnable)
    }

    fn schedule_from_outside(&self, runnable: Runnable) {
        self.shared.injector.push(runnable);
        self.shared.notify();
    }
}

/// Counts a thread out, also when `around` panics.
struct EndOfThread(Arc<Shared>);

impl Drop for EndOfThread {
    fn drop(&mut self) {
        self.0.thread_ended();
    }
}
