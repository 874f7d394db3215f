//! Wait list of senders waiting for mailbox capacity.
//!
//! A sender on any thread joins and *then* checks again for capacity or the end of the receiver; if
//! either holds, it leaves. The receiver releases all waiters at the end of a turn that leaves
//! capacity, and after its inbox has closed. Both sides take the list's lock, so one critical
//! section happens before the other: either the receiver finds the waiter and wakes it, or the
//! waiter sees the capacity.
//!
//! WHY all waiters: a woken sender may not send, and waking only one could strand the rest.
//!
//! COST: a lock; a waker per waiter.

use std::task::Waker;

use crate::World;
use crate::address::Ref;
use crate::quiet::quietly;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Wait list of one mailbox.
#[derive(Debug)]
pub(crate) struct Line {
    waiting: Mutex<Waiting>,
    /// Waiters with lower numbers have been released.
    gone: AtomicU64,
}

#[derive(Debug)]
struct Waiting {
    /// Number of the next waiter.
    next: u64,
    /// Wakers by ascending number.
    wakers: Vec<(u64, Waker)>,
}

/// Entry in the wait list of a mailbox. Dropping it leaves the list.
#[must_use]
pub struct Place<W: World> {
    to: Ref<W>,
    number: u64,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::new(Waiting { next: 0, wakers: Vec::new() }),
            gone: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // WHY ignore poisoning: no code panics while the lock is held.
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn join(&self, waker: Waker) -> u64 {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.wakers.push((number, waker));
        number
    }

    fn leave(&self, number: u64) {
        let mut waiting = self.lock();
        let place = waiting.wakers.binary_search_by_key(&number, |(number, _)| *number);
        let waker = place.ok().map(|place| waiting.wakers.remove(place));
        drop(waiting);
        // The waker may be foreign, and its destructor may panic.
        quietly(|| drop(waker));
    }

    fn is_gone(&self, number: u64) -> bool {
        // ORDER: relaxed: a released waiter is also woken, and the wake synchronizes.
        self.gone.load(Ordering::Relaxed) > number
    }

    /// Releases and wakes all waiters.
    pub(crate) fn let_go(&self) {
        let mut waiting = self.lock();
        if waiting.wakers.is_empty() {
            return;
        }
        let wakers = std::mem::take(&mut waiting.wakers);
        self.gone.store(waiting.next, Ordering::Relaxed);
        drop(waiting);
        wakers.into_iter().for_each(|(_, waker)| quietly(|| waker.wake()));
    }
}

impl<W: World> Ref<W> {
    /// Joins the wait list of this process's mailbox. Returns `None` if there is no reason to wait:
    /// the mailbox has capacity or no bound, or the process has ended.
    pub fn line_up(&self, waker: Waker) -> Option<Place<W>> {
        let edge = self.edge()?;
        let place = Place { to: self.clone(), number: edge.line.join(waker) };
        (!self.has_room() && !self.has_ended()).then_some(place)
    }
}

impl<W: World> Place<W> {
    /// Returns whether the wait is over.
    pub fn is_over(&self) -> bool {
        self.to.has_ended() || self.to.edge().is_none_or(|edge| edge.line.is_gone(self.number))
    }

    /// Returns whether this waits for the given process's mailbox.
    pub fn is_before(&self, process: &Ref<W>) -> bool {
        self.to.is_same(process)
    }
}

impl<W: World> Drop for Place<W> {
    fn drop(&mut self) {
        if let Some(edge) = self.to.edge().filter(|edge| !edge.line.is_gone(self.number)) {
            edge.line.leave(self.number);
        }
    }
}

impl<W: World> std::fmt::Debug for Place<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("to", &self.to).field("number", &self.number).finish()
    }
}
