//! Fake of crossbeam-deque for the shuttle models: the same functions on a queue behind a lock.
//!
//! WHY: shuttle controls only its own atomics and would not switch threads inside the real deque. A
//! thief that finds the lock held gets `Retry`, as it does from the real deque when it loses a
//! race.

use std::collections::VecDeque;
use std::sync::PoisonError;

use shuttle::sync::{Arc, Mutex, MutexGuard};
use shuttle::thread;

/// Result of a steal.
pub(crate) enum Steal<T> {
    Empty,
    Success(T),
    Retry,
}

/// Queue with the functions of the owner's end, of a thief's end and of a global queue.
pub(crate) struct Queue<T>(Arc<Mutex<VecDeque<T>>>);

pub(crate) use Queue as Injector;
pub(crate) use Queue as Stealer;
pub(crate) use Queue as Worker;

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(VecDeque::new())))
    }

    pub(crate) fn new_fifo() -> Self {
        Self::new()
    }

    pub(crate) fn stealer(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, item: T) {
        self.lock().push_back(item);
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.lock().pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn steal(&self) -> Steal<T> {
        self.steal_batch_with_limit_and_pop(&Self::new(), 1)
    }

    pub(crate) fn steal_batch_and_pop(&self, to: &Self) -> Steal<T> {
        self.steal_batch_with_limit_and_pop(to, 32)
    }

    /// Steals half of the queue, and returns its first entry to the caller.
    pub(crate) fn steal_batch_with_limit_and_pop(&self, to: &Self, limit: usize) -> Steal<T> {
        let Ok(mut queue) = self.0.try_lock() else {
            // WHY it yields: with a busy retry, PCT might never schedule the thread that holds the
            // lock.
            thread::yield_now();
            return Steal::Retry;
        };
        let half = queue.len().div_ceil(2).min(limit);
        let mut batch: VecDeque<T> = queue.drain(..half).collect();
        drop(queue);
        let Some(first) = batch.pop_front() else { return Steal::Empty };
        if !batch.is_empty() {
            to.lock().append(&mut batch);
        }
        Steal::Success(first)
    }
}
