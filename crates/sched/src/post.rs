//! A worker's post: its run queue and the slot of the process just woken.
//!
//! A post belongs to one thread at a time, which works through it, and can be taken from a thread
//! that is stuck in a turn and given to a fresh one (`monitor`). Thieves reach the far part of the
//! queue all along (`backlog`). Nothing here runs code of a process.

use std::cell::Cell;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use purlin_raw::Runnable;

use crate::LIFO_STREAK;
use crate::backlog::Backlog;
use crate::queue::Queue;
use crate::sync::deque::{Injector, Stealer};

/// Ready processes of one worker.
pub(crate) struct Post {
    backlog: Backlog<Runnable>,
    /// The process just woken or spawned: its data is in this core's cache.
    woken: Cell<Option<Runnable>>,
    /// Processes run in a row out of `woken`.
    streak: Cell<u32>,
}

impl Post {
    pub(crate) fn new() -> Self {
        Self { backlog: Backlog::new(), woken: Cell::new(None), streak: Cell::new(0) }
    }

    /// What others see of its queue.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<Queue<Runnable>>> {
        self.backlog.queue()
    }

    /// Makes a process the next to run; the one that was moves into the queue. Says whether others
    /// could take something off this worker now.
    #[inline]
    pub(crate) fn put_first(&self, runnable: Runnable) -> bool {
        self.woken.replace(Some(runnable)).is_some_and(|before| self.backlog.push(before))
    }

    /// Queues a process that yields. Says whether others could take something off this worker now.
    ///
    /// WHY not for a single one: it and the process it talks to take turns on this core, where
    /// their messages are, instead of following each other from core to core.
    #[inline]
    pub(crate) fn put_last(&self, runnable: Runnable) -> bool {
        self.backlog.push(runnable) && self.backlog.far() > 1
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
            self.backlog.push(runnable);
        }
        self.streak.set(0);
        self.backlog.pop(Runnable::prefetch)
    }

    /// Takes a share of what came from outside, and the first of it to run.
    pub(crate) fn take_from(&self, outside: &Injector<Runnable>) -> Option<Runnable> {
        self.backlog.take_from(outside)
    }

    /// Takes half of what another worker has to give, and the first of it to run.
    pub(crate) fn steal_from(&self, other: &Stealer<Runnable>) -> Option<Runnable> {
        self.backlog.steal_from(other)
    }

    /// Moves the processes that thieves cannot reach to where they can; `true` if there is anything
    /// for them now.
    pub(crate) fn lay_open(&mut self) -> bool {
        self.backlog.lay_open(self.woken.take())
    }
}
