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

use crate::catch_panic::catch_panic;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Wait list of one mailbox.
#[derive(Debug)]
pub(crate) struct WaitList {
    waiting: Mutex<Waiting>,
    /// Waiters with lower numbers have been released.
    woken_below: AtomicU64,
}

/// The waiting senders.
#[derive(Debug)]
struct Waiting {
    /// Number of the next waiter.
    next: u64,
    /// Wakers by ascending number.
    wakers: Vec<(u64, Waker)>,
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

    pub(crate) fn join(&self, waker: Waker) -> u64 {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.wakers.push((number, waker));
        number
    }

    pub(crate) fn leave(&self, number: u64) {
        let mut waiting = self.lock();
        let index = waiting.wakers.binary_search_by_key(&number, |(number, _)| *number);
        let waker = index.ok().map(|index| waiting.wakers.remove(index));
        drop(waiting);
        // The waker may be foreign, and its destructor may panic.
        catch_panic(|| drop(waker));
    }

    pub(crate) fn is_woken(&self, number: u64) -> bool {
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
