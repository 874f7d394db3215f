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

/// Owner's end of a queue.
pub(crate) struct Worker<T>(Arc<Mutex<VecDeque<T>>>);

/// Thief's end of a queue.
pub(crate) struct Stealer<T>(Arc<Mutex<VecDeque<T>>>);

/// Global queue: any thread pushes and steals.
pub(crate) struct Injector<T>(Stealer<T>);

fn lock<T>(queue: &Mutex<VecDeque<T>>) -> MutexGuard<'_, VecDeque<T>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// WHY it yields: with a busy retry, PCT might never schedule the thread that holds the lock.
fn again<T>() -> Steal<T> {
    thread::yield_now();
    Steal::Retry
}

impl<T> Worker<T> {
    pub(crate) fn new_fifo() -> Self {
        Self(Arc::new(Mutex::new(VecDeque::new())))
    }

    pub(crate) fn stealer(&self) -> Stealer<T> {
        Stealer(Arc::clone(&self.0))
    }

    pub(crate) fn push(&self, item: T) {
        lock(&self.0).push_back(item);
    }

    pub(crate) fn pop(&self) -> Option<T> {
        lock(&self.0).pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.0).len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Stealer<T> {
    pub(crate) fn len(&self) -> usize {
        lock(&self.0).len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn steal(&self) -> Steal<T> {
        let Ok(mut queue) = self.0.try_lock() else { return again() };
        queue.pop_front().map_or(Steal::Empty, Steal::Success)
    }

    /// Steals half of the queue, and returns its first entry to the caller.
    pub(crate) fn steal_batch_with_limit_and_pop(&self, to: &Worker<T>, limit: usize) -> Steal<T> {
        let Ok(mut queue) = self.0.try_lock() else { return again() };
        let half = queue.len().div_ceil(2).min(limit);
        let mut batch: VecDeque<T> = queue.drain(..half).collect();
        drop(queue);
        let Some(first) = batch.pop_front() else { return Steal::Empty };
        lock(&to.0).append(&mut batch);
        Steal::Success(first)
    }
}

impl<T> Injector<T> {
    pub(crate) fn new() -> Self {
        Self(Worker::new_fifo().stealer())
    }

    pub(crate) fn push(&self, item: T) {
        lock(&self.0.0).push_back(item);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn steal(&self) -> Steal<T> {
        self.0.steal()
    }

    pub(crate) fn steal_batch_and_pop(&self, to: &Worker<T>) -> Steal<T> {
        self.0.steal_batch_with_limit_and_pop(to, 32)
    }
}
