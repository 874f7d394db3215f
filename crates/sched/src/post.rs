//! A worker's post: its run queue and the slot of the process just woken.
//!
//! A post belongs to one thread at a time, which works through it, and can be taken from a thread
//! that is stuck in a turn and given to a fresh one (`monitor`). Nothing here runs code of a process.
//!
//! The queue has two parts. Who is *near* is the worker's own, reached by plain loads and stores;
//! who is *far* can be taken by thieves, who hold the other end. As many are near as the worker is
//! to get through without help (`Queue::patience`). When more come, half of the near move to the far
//! part, and all who come later stand behind them until both parts have been worked off.
//!
//! INVARIANT: whoever is near came before all who are far, save after the patience has shrunk.
//!
//! COST: for the near, a few plain reads and writes; for the far, an atomic addition each.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use purlin_raw::Runnable;

use crate::LIFO_STREAK;
use crate::queue::Queue;
use crate::sync::deque::{Injector, Steal, Stealer, Worker as Deque};

/// Ready processes of one worker.
pub(crate) struct Post {
    /// First in, first out, and only for this worker.
    near: RefCell<VecDeque<Runnable>>,
    /// Those behind them. Thieves hold the other end.
    far: Deque<Runnable>,
    /// There may be some far.
    beyond: Cell<bool>,
    /// What others see of it.
    queue: Arc<CachePadded<Queue>>,
    /// The process just woken or spawned: its data is in this core's cache.
    woken: Cell<Option<Runnable>>,
    /// Processes run in a row out of `woken`.
    streak: Cell<u32>,
}

/// In a queue of that length a process has left the core's cache by the time it runs.
const LONG: usize = 256;
/// How many come near at a time of those who are far.
const BATCH: usize = if cfg!(shuttle) { 2 } else { 64 };

impl Post {
    pub(crate) fn new() -> Self {
        // WHY first in, first out: everybody who is ready runs (F1).
        let far = Deque::new_fifo();
        Self {
            near: RefCell::default(),
            queue: Arc::new(CachePadded::new(Queue::new(far.stealer()))),
            far,
            beyond: Cell::new(false),
            woken: Cell::new(None),
            streak: Cell::new(0),
        }
    }

    /// What others see of it.
    pub(crate) fn queue(&self) -> &Arc<CachePadded<Queue>> {
        &self.queue
    }

    /// Makes a process the next to run; the one that was moves into the queue. Says whether others
    /// could take something off this worker now.
    #[inline]
    pub(crate) fn put_first(&self, runnable: Runnable) -> bool {
        self.woken.replace(Some(runnable)).is_some_and(|before| self.push(before))
    }

    /// Queues a process that yields. Says whether others could take something off this worker now.
    ///
    /// WHY not for a single one: it and the process it talks to take turns on this core, where
    /// their messages are, instead of following each other from core to core.
    #[inline]
    pub(crate) fn put_last(&self, runnable: Runnable) -> bool {
        self.push(runnable) && self.far.len() > 1
    }

    /// Queues a process. Says whether others could take it.
    #[inline]
    fn push(&self, runnable: Runnable) -> bool {
        let mut near = self.near.borrow_mut();
        if self.beyond.get() || near.len() >= self.queue.patience() {
            self.push_far(near, runnable);
            return true;
        }
        near.push_back(runnable);
        self.queue.set_near(near.len());
        false
    }

    #[cold]
    fn push_far(&self, mut near: RefMut<'_, VecDeque<Runnable>>, runnable: Runnable) {
        let patience = self.queue.patience();
        if !near.is_empty() && near.len() >= patience {
            // WHY half: whoever helps finds enough to do to make it worth the while.
            let rest = patience / 2;
            near.drain(rest..).for_each(|runnable| self.far.push(runnable));
            self.queue.set_near(rest);
        }
        self.far.push(runnable);
        self.beyond.set(true);
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
            self.push(runnable);
        }
        self.streak.set(0);
        self.first()
    }

    /// The first of the queue.
    #[inline]
    fn first(&self) -> Option<Runnable> {
        let mut near = self.near.borrow_mut();
        let first = match near.pop_front() {
            None if self.beyond.get() => self.approach(&mut near),
            first => first,
        }?;
        self.queue.set_near(near.len());
        if near.len() >= LONG || self.beyond.get() {
            // The processor fetches the next meanwhile.
            near.front().inspect(|next| next.prefetch());
        }
        Some(first)
    }

    /// The first of those who are far; some of the others come near.
    #[cold]
    fn approach(&self, near: &mut VecDeque<Runnable>) -> Option<Runnable> {
        let first = self.far.pop();
        // WHY in a long queue whatever the patience: there is enough left for others.
        let batch = if self.far.len() >= LONG { BATCH } else { self.queue.patience().min(BATCH) };
        near.extend(std::iter::from_fn(|| self.far.pop()).take(batch));
        self.beyond.set(!self.far.is_empty());
        first
    }

    /// Takes a share of what came from outside, and the first of it to run.
    pub(crate) fn take_from(&self, outside: &Injector<Runnable>) -> Option<Runnable> {
        self.taken(|far| outside.steal_batch_and_pop(far))
    }

    /// Takes half of what another worker has to give, and the first of it to run.
    pub(crate) fn steal_from(&self, other: &Stealer<Runnable>) -> Option<Runnable> {
        self.taken(|far| other.steal_batch_with_limit_and_pop(far, usize::MAX))
    }

    fn taken(&self, steal: impl Fn(&Deque<Runnable>) -> Steal<Runnable>) -> Option<Runnable> {
        loop {
            match steal(&self.far) {
                Steal::Success(runnable) => {
                    self.beyond.set(self.beyond.get() || !self.far.is_empty());
                    return Some(runnable);
                }
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Moves the processes that thieves cannot reach to where they can; `true` if there is anything
    /// for them now.
    pub(crate) fn lay_open(&mut self) -> bool {
        let near = self.near.get_mut().drain(..);
        near.chain(self.woken.take()).for_each(|runnable| self.far.push(runnable));
        self.queue.set_near(0);
        self.beyond.set(true);
        !self.far.is_empty()
    }
}
