//! A worker's post: its run queue and the slot of the process just woken.
//!
//! A post belongs to one thread at a time, which works through it, and can be taken from a thread
//! that is stuck in a turn and given to a fresh one (`monitor`). Thieves hold the other end of the
//! queue all along. Nothing here runs code of a process.

use std::cell::Cell;

use purlin_raw::Runnable;

use crate::LIFO_STREAK;
use crate::sync::deque::{Injector, Steal, Stealer, Worker as Deque};

/// Ready processes of one worker.
pub(crate) struct Post {
    /// First in, first out. Thieves hold the other end.
    queue: Deque<Runnable>,
    /// The process just woken or spawned: its data is in this core's cache.
    woken: Cell<Option<Runnable>>,
    /// Processes run in a row out of `woken`.
    streak: Cell<u32>,
    /// The first of a long queue, which the processor fetches meanwhile.
    ahead: Cell<Option<Runnable>>,
}

/// In a queue of that length a process has left the core's cache by the time it runs.
const LONG: usize = 256;

impl Post {
    pub(crate) fn new() -> Self {
        // WHY first in, first out: everybody who is ready runs (F1).
        Self {
            queue: Deque::new_fifo(),
            woken: Cell::new(None),
            streak: Cell::new(0),
            ahead: Cell::new(None),
        }
    }

    pub(crate) fn stealer(&self) -> Stealer<Runnable> {
        self.queue.stealer()
    }

    /// Makes a process the next to run; the one that was moves into the queue. Says how many others
    /// could take off this worker now, if any have come.
    #[inline]
    pub(crate) fn put_first(&self, runnable: Runnable) -> usize {
        match self.woken.replace(Some(runnable)) {
            Some(before) => {
                self.queue.push(before);
                self.queue.len()
            }
            None => 0,
        }
    }

    /// Queues a process that yields. Says how many others could take off this worker now.
    ///
    /// WHY not for a single one: it and the process it talks to take turns on this core, where
    /// their messages are, instead of following each other from core to core.
    #[inline]
    pub(crate) fn put_last(&self, runnable: Runnable) -> usize {
        self.queue.push(runnable);
        let waiting = self.queue.len();
        if waiting > 1 { waiting } else { 0 }
    }

    /// The next process to run here.
    #[inline]
    pub(crate) fn next(&self) -> Option<Runnable> {
        if let Some(runnable) = self.woken.take() {
            let streak = self.streak.get() + 1;
            if streak <= LIFO_STREAK {
                self.streak.set(streak);
                return Some(runnable);
            }
            // F1: it has had its share; those in the queue come first.
            self.queue.push(runnable);
        }
        self.streak.set(0);
        self.first()
    }

    /// The first of the queue.
    #[inline]
    fn first(&self) -> Option<Runnable> {
        let first = match self.ahead.take() {
            None => self.queue.pop(),
            ahead => ahead,
        };
        if self.queue.len() >= LONG {
            self.ahead.set(self.queue.pop().inspect(Runnable::prefetch));
        }
        first
    }

    /// Takes a share of what came from outside, and the first of it to run.
    pub(crate) fn take_from(&self, outside: &Injector<Runnable>) -> Option<Runnable> {
        until_certain(|| outside.steal_batch_and_pop(&self.queue))
    }

    /// Takes half of another worker's queue, and the first of it to run.
    pub(crate) fn steal_from(&self, other: &Stealer<Runnable>) -> Option<Runnable> {
        until_certain(|| other.steal_batch_with_limit_and_pop(&self.queue, usize::MAX))
    }

    /// Moves the processes that thieves cannot reach to the end of the queue, where they can; `true`
    /// if there is anything for them now.
    pub(crate) fn lay_open(&mut self) -> bool {
        for runnable in [self.ahead.take(), self.woken.take()].into_iter().flatten() {
            self.queue.push(runnable);
        }
        !self.queue.is_empty()
    }
}

fn until_certain(steal: impl Fn() -> Steal<Runnable>) -> Option<Runnable> {
    loop {
        match steal() {
            Steal::Success(runnable) => return Some(runnable),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
