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

use crate::RuntimeTypes;
use crate::catch_panic::catch_panic;
use crate::process::address::Ref;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Wait list of one mailbox.
#[derive(Debug)]
pub(crate) struct WaitList {
    waiting: Mutex<Waiting>,
    /// Waiters with lower numbers have been released.
    woken_below: AtomicU64,
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
pub struct Waiter<W: RuntimeTypes> {
    to: Ref<W>,
    number: u64,
}

impl WaitList {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::new(Waiting { next: 0, wakers: Vec::new() }),
            woken_below: AtomicU64::new(0),
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
        let index = waiting.wakers.binary_search_by_key(&number, |(number, _)| *number);
        let waker = index.ok().map(|index| waiting.wakers.remove(index));
        drop(waiting);
        // The waker may be foreign, and its destructor may panic.
        catch_panic(|| drop(waker));
    }

    fn is_woken(&self, number: u64) -> bool {
        // ORDER: relaxed: a released waiter is also woken, and the wake synchronizes.
        self.woken_below.load(Ordering::Relaxed) > number
    }

    /// Releases and wakes all waiters.
    pub(crate) fn wake_all(&self) {
        let mut waiting = self.lock();
        if waiting.wakers.is_empty() {
            return;
        }
        let wakers = std::mem::take(&mut waiting.wakers);
        self.woken_below.store(waiting.next, Ordering::Relaxed);
        drop(waiting);
        wakers.into_iter().for_each(|(_, waker)| catch_panic(|| waker.wake()));
    }
}

impl<W: RuntimeTypes> Ref<W> {
    /// Joins the wait list of this process's mailbox. Returns `None` if there is no reason to wait:
    /// the mailbox has capacity or no bound, or the process has ended.
    pub fn join_wait_list(&self, waker: Waker) -> Option<Waiter<W>> {
        let bound = self.bound()?;
        let waiter = Waiter { to: self.clone(), number: bound.wait_list.join(waker) };
        (!self.has_capacity() && !self.has_ended()).then_some(waiter)
    }
}

impl<W: RuntimeTypes> Waiter<W> {
    /// Returns whether the wait is over.
    pub fn is_over(&self) -> bool {
        self.to.has_ended()
            || self.to.bound().is_none_or(|bound| bound.wait_list.is_woken(self.number))
    }

    /// Returns whether this waits for the given process's mailbox.
    pub fn waits_for(&self, process: &Ref<W>) -> bool {
        self.to.is_same(process)
    }
}

impl<W: RuntimeTypes> Drop for Waiter<W> {
    fn drop(&mut self) {
        if let Some(bound) = self.to.bound().filter(|bound| !bound.wait_list.is_woken(self.number))
        {
            bound.wait_list.leave(self.number);
        }
    }
}

impl<W: RuntimeTypes> std::fmt::Debug for Waiter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiter").field("to", &self.to).field("number", &self.number).finish()
    }
}
