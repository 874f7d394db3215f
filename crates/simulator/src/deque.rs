//! Work-stealing deque and global queue with the functions of `crossbeam-deque` that purlin uses.
//!
//! The items are in a queue behind a lock that is never contended in a simulation. The accesses
//! charged are those of crossbeam's: the owner's end has a line of its own, as has the thieves'.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sync::atomic::{AtomicUsize, Ordering, fence};

/// Maximum number of items of a steal without a limit of its own, as in crossbeam.
const MAX_BATCH: usize = 32;

/// Result of a steal. Never `Retry`: a simulated steal succeeds at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steal<T> {
    /// The queue is empty.
    Empty,
    /// The stolen item.
    Success(T),
    /// The thief lost a race.
    Retry,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Index(AtomicUsize);

#[derive(Debug)]
struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    front: Index,
    back: Index,
}

impl<T> Queue<T> {
    fn new() -> Arc<Self> {
        let items = Mutex::new(VecDeque::new());
        Arc::new(Self { items, front: Index::default(), back: Index::default() })
    }

    fn items(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads both ends.
    fn len(&self) -> usize {
        self.front.0.load(Ordering::Acquire);
        self.back.0.load(Ordering::Acquire);
        self.items().len()
    }

    /// Takes up to `limit` items, at most half of them, as a thief.
    fn steal(&self, limit: usize) -> VecDeque<T> {
        self.front.0.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        self.back.0.load(Ordering::Acquire);
        if self.items().is_empty() {
            return VecDeque::new();
        }
        self.front.0.fetch_add(1, Ordering::AcqRel);
        let mut items = self.items();
        let count = items.len().div_ceil(2).min(limit);
        items.drain(..count).collect()
    }
}

/// Owner's end of a deque.
#[derive(Debug)]
pub struct Worker<T>(Arc<Queue<T>>);

/// Thief's end of a deque.
#[derive(Debug)]
pub struct Stealer<T>(Arc<Queue<T>>);

/// Global queue.
#[derive(Debug)]
pub struct Injector<T>(Arc<Queue<T>>);

impl<T> Worker<T> {
    /// Creates a first-in, first-out deque.
    pub fn new_fifo() -> Self {
        Self(Queue::new())
    }

    /// Returns the thief's end.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer(Arc::clone(&self.0))
    }

    /// Appends an item.
    pub fn push(&self, item: T) {
        self.0.back.0.load(Ordering::Relaxed);
        self.0.items().push_back(item);
        self.0.back.0.store(0, Ordering::Release);
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        if self.0.len() == 0 {
            return None;
        }
        self.0.front.0.fetch_add(1, Ordering::SeqCst);
        self.0.items().pop_front()
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the deque is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn receive(&self, mut stolen: VecDeque<T>) -> Steal<T> {
        let Some(first) = stolen.pop_front() else { return Steal::Empty };
        if !stolen.is_empty() {
            self.0.items().append(&mut stolen);
            self.0.back.0.store(0, Ordering::Release);
        }
        Steal::Success(first)
    }
}

impl<T> Stealer<T> {
    /// Returns whether the deque is empty.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Steals one item.
    pub fn steal(&self) -> Steal<T> {
        self.0.steal(1).pop_front().map_or(Steal::Empty, Steal::Success)
    }

    /// Steals half of the items, up to a limit, and returns the first of them.
    pub fn steal_batch_with_limit_and_pop(&self, to: &Worker<T>, limit: usize) -> Steal<T> {
        to.receive(self.0.steal(limit))
    }
}

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Injector<T> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self(Queue::new())
    }

    /// Appends an item: one read-modify-write of the index, and a store to the slot.
    pub fn push(&self, item: T) {
        self.0.back.0.fetch_add(1, Ordering::SeqCst);
        self.0.items().push_back(item);
    }

    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Steals one item.
    pub fn steal(&self) -> Steal<T> {
        self.0.steal(1).pop_front().map_or(Steal::Empty, Steal::Success)
    }

    /// Steals a batch and returns its first item.
    pub fn steal_batch_and_pop(&self, to: &Worker<T>) -> Steal<T> {
        to.receive(self.0.steal(MAX_BATCH))
    }
}
