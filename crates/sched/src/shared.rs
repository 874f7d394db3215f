//! State shared by the threads of a scheduler: queues, counters, timers, and the threads that run.

use std::sync::{Arc, PoisonError};
use std::task::Waker;

use crossbeam_utils::CachePadded;
use purlin_raw::{Runnable, TurnOutcome};

use crate::sync::deque::{Injector, Steal};
use crate::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, Parker, Unparker,
    fence,
};
use crate::sysmon::period::SleepWatch;
use crate::sysmon::stalled::HandOffs;
use crate::timers::Timers;
use crate::worker::counters::WorkerCounters;
use crate::worker::idle::Idle;
use crate::worker::init::WorkerInit;
use crate::worker::processors::Processors;
use crate::worker::shared_queue::SharedQueue;

/// State shared by all workers.
pub(crate) struct Shared {
    pub(crate) injector: CachePadded<Injector<Runnable>>,
    pub(crate) queues: Box<[Arc<CachePadded<SharedQueue<Runnable>>>]>,
    pub(crate) idle: Idle,
    pub(crate) timers: Timers,
    pub(crate) hand_offs: HandOffs,
    /// Counters of each worker.
    pub(crate) counters: Box<[CachePadded<WorkerCounters>]>,
    pub(crate) processors: Processors,
    /// Number of guards that request the measurement of sleep time.
    pub(crate) measuring: AtomicUsize,
    /// Number of sysmon's ticks.
    pub(crate) ticks: AtomicU64,
    /// Waker of the thread that is each worker at present.
    pub(crate) wakers: Box<[Mutex<Waker>]>,
    pub(crate) sysmon: Unparker,
    pub(crate) sleep_watch: SleepWatch,
    pub(crate) stop: CachePadded<AtomicBool>,
    pub(crate) threads: Mutex<Threads>,
    pub(crate) ended: Condvar,
}

/// Workers whose threads have not been started, and the number of threads that run.
pub(crate) struct Threads {
    pub(crate) waiting: Option<(Vec<WorkerInit>, Parker)>,
    pub(crate) running: usize,
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
            self.wake_for_work(worker);
        }
    }

    /// Reports work that a worker has queued for itself and that others can steal.
    #[inline]
    pub(crate) fn notify_for_own(&self) {
        if let Some(worker) = self.idle.notify_for_own() {
            self.wake_for_work(worker);
        }
    }

    /// Wakes a worker for queued work. WHY apart only while processes compute: a message between
    /// two processors costs more than a short turn on one.
    #[cold]
    fn wake_for_work(&self, worker: usize) {
        if self.queues.iter().any(|queue| queue.computes()) {
            self.processors.wake_apart(worker, || self.unpark(worker));
        } else {
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

    /// Records that a worker falls asleep. Wakes sysmon from a long period.
    pub(crate) fn record_sleep(&self) {
        if self.sleep_watch.falls_asleep() {
            self.sysmon.unpark();
        }
    }

    /// Queues a process from a thread that has no core.
    pub(crate) fn inject(&self, runnable: Runnable) {
        self.injector.push(runnable);
        self.notify();
    }

    /// Runs one turn on a thread that has no core.
    pub(crate) fn run_detached(&self, runnable: Runnable) {
        if let TurnOutcome::Again { runnable, .. } = runnable.run() {
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

    pub(crate) fn lock_threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
