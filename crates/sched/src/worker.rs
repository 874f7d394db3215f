//! One thread's loop: what to run next, and when to sleep.
//!
//! The queue's own end and the slot of the process just woken belong to the thread; other threads
//! steal from the queue only. What the loop runs may call [`schedule_here`] on the same thread at
//! any time.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crossbeam_deque::{Steal, Worker as Deque};
use crossbeam_utils::sync::Parker;
use purlin_raw::{Ran, Runnable};

use crate::LIFO_STREAK;
use crate::scheduler::Shared;
use crate::timers::{Rest, TimerWheel};

/// How often a worker looks at what came from outside before its own work. Prime, so that it does
/// not fall into step with the work.
const OUTSIDE_EVERY: u32 = 61;
/// How often a searching worker looks at all queues before it sleeps.
const ROUNDS: u32 = 16;

/// One worker, where the processes it runs find it.
struct Worker {
    shared: Arc<Shared>,
    index: usize,
    parker: Parker,
    /// Ready processes. Thieves hold the other end.
    queue: Deque<Runnable>,
    /// The process just woken or spawned: its data is in this core's cache.
    lifo: Cell<Option<Runnable>>,
    /// Processes run since the start, modulo 2³².
    tick: Cell<u32>,
    /// Processes run in a row out of `lifo`.
    streak: Cell<u32>,
    searching: Cell<bool>,
}

thread_local! {
    static WORKER: OnceCell<Worker> = const { OnceCell::new() };
}

/// Queues a process if this thread is a worker of that scheduler, else gives it back.
#[inline]
pub(crate) fn schedule_here(shared: &Arc<Shared>, runnable: Runnable) -> Result<(), Runnable> {
    let mut runnable = Some(runnable);
    // WHY `try_with`: a destructor of another thread-local may wake a process after this one is
    // gone; that counts as outside.
    let _ = WORKER.try_with(|worker| {
        if let Some(worker) = worker.get().filter(|worker| Arc::ptr_eq(&worker.shared, shared))
            && let Some(runnable) = runnable.take()
        {
            worker.schedule(runnable);
        }
    });
    runnable.map_or(Ok(()), Err)
}

/// The loop of a worker's thread; returns when the scheduler stops and nothing is ready.
pub(crate) fn work(shared: Arc<Shared>, index: usize, queue: Deque<Runnable>, parker: Parker) {
    WORKER.with(|worker| {
        let worker = worker.get_or_init(|| Worker {
            shared,
            index,
            parker,
            queue,
            lifo: Cell::new(None),
            tick: Cell::new(0),
            streak: Cell::new(0),
            searching: Cell::new(false),
        });
        worker.timers().wake();
        loop {
            match worker.next() {
                Some(runnable) => worker.run(runnable),
                // What is ready is run before the end: a process that was told to end must do so.
                None if worker.shared.stopping() => break,
                None => worker.sleep(),
            }
        }
    });
}

impl Worker {
    /// Makes a process the next to run here; the one that was moves into the queue.
    #[inline]
    fn schedule(&self, runnable: Runnable) {
        if let Some(before) = self.lifo.replace(Some(runnable)) {
            self.queue.push(before);
            self.shared.notify();
        }
    }

    #[inline]
    fn run(&self, runnable: Runnable) {
        if self.searching.replace(false) && self.shared.idle.end_search() {
            // There may be more where this came from.
            self.shared.notify();
        }
        if let Ran::Again(runnable) = runnable.run() {
            // WHY nobody is woken for one process that yields: it and the process it talks to take
            // turns on this core, where their messages are, instead of following each other from
            // core to core.
            let alone = self.queue.is_empty();
            self.queue.push(runnable);
            if !alone {
                self.shared.notify();
            }
        }
    }

    #[inline]
    fn next(&self) -> Option<Runnable> {
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        if tick.is_multiple_of(OUTSIDE_EVERY) {
            self.timers().look();
            if let Some(runnable) = self.take_outside() {
                return Some(runnable);
            }
        }
        if let Some(runnable) = self.lifo.take() {
            let streak = self.streak.get() + 1;
            if streak <= LIFO_STREAK {
                self.streak.set(streak);
                return Some(runnable);
            }
            // F1: it has had its share; those in the queue come first.
            self.queue.push(runnable);
        }
        self.streak.set(0);
        self.queue.pop().or_else(|| self.search())
    }

    fn take_outside(&self) -> Option<Runnable> {
        loop {
            match self.shared.injector.steal_batch_and_pop(&self.queue) {
                Steal::Success(runnable) => return Some(runnable),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Looks everywhere for work.
    fn search(&self) -> Option<Runnable> {
        if let Some(runnable) = self.take_outside() {
            return Some(runnable);
        }
        if !self.searching.get() {
            if !self.shared.idle.begin_search() {
                return None;
            }
            self.searching.set(true);
        }
        for _ in 0..ROUNDS {
            if let Some(runnable) = self.steal().or_else(|| self.take_outside()) {
                return Some(runnable);
            }
            std::hint::spin_loop();
        }
        None
    }

    /// Takes half of the first queue that has something, beginning with the next worker's.
    fn steal(&self) -> Option<Runnable> {
        let stealers = &self.shared.stealers;
        let others = (1..stealers.len()).map(|i| &stealers[(self.index + i) % stealers.len()]);
        for other in others {
            loop {
                match other.steal_batch_and_pop(&self.queue) {
                    Steal::Success(runnable) => return Some(runnable),
                    Steal::Empty => break,
                    Steal::Retry => {}
                }
            }
        }
        None
    }

    fn timers(&self) -> &TimerWheel {
        self.shared.timers.wheel(self.index)
    }

    /// Sleeps until somebody has work, or a timer is due. Wakes as a searcher.
    fn sleep(&self) {
        let rest = self.timers().fall_asleep();
        if rest == Rest::Fired {
            return;
        }
        let idle = &self.shared.idle;
        idle.fall_asleep(self.index, self.searching.replace(false));
        if !self.shared.has_work() && !self.shared.stopping() {
            match rest {
                Rest::For(time) => self.parker.park_timeout(time),
                _ => self.parker.park(),
            }
        }
        // If somebody has woken it, that has made it a searcher already. An unpark that is still to
        // come makes the next sleep a short one.
        idle.wake_self(self.index);
        self.searching.set(true);
        self.timers().wake();
    }
}
