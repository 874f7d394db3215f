//! Who sleeps, who searches, and whom to wake.
//!
//! A worker is *busy*, *searching* for work, or *asleep*. Whoever queues work wakes a sleeper only
//! if nobody is searching: a searcher finds the work, and wakes the next when it has found some.
//! So a burst of work wakes the workers one after the other, each only if there is more to do.
//!
//! # No wake-up is lost
//!
//! `state` counts the sleepers and the searchers. Queuing work is followed by a read-modify-write of
//! `state` (`notify`); going to sleep changes `state` and then looks at all queues once more. In the
//! order of the changes of `state` either the notification comes first, and then the sleeper's look
//! sees the work; or the sleeper comes first, and the notification sees the sleeper.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

const SEARCHER: usize = 1;
const SLEEPER: usize = 1 << 32;

/// Who sleeps and how many search. It tells whom to wake; parking is its caller's.
pub struct Idle {
    state: CachePadded<AtomicUsize>,
    sleepers: Mutex<Vec<usize>>,
    workers: usize,
}

fn searchers(state: usize) -> usize {
    state & (SLEEPER - 1)
}

fn sleepers(state: usize) -> usize {
    state / SLEEPER
}

impl Idle {
    /// All workers busy.
    pub fn new(workers: usize) -> Self {
        Self {
            state: CachePadded::new(AtomicUsize::new(0)),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            workers,
        }
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<usize>> {
        // WHY: nothing can panic while the list is locked, so it is never half-changed.
        self.sleepers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Work was queued: the worker to wake, if nobody would find it.
    #[must_use]
    pub fn notify(&self) -> Option<usize> {
        // ORDER: a read-modify-write, so that it stands in one order with `fall_asleep`; release
        // of the queued work, acquired there.
        let state = self.state.fetch_add(0, Ordering::AcqRel);
        if searchers(state) > 0 || sleepers(state) == 0 {
            return None;
        }
        let mut list = self.sleepers();
        // Another notifier may have been faster; its worker is a searcher now.
        if searchers(self.state.load(Ordering::Relaxed)) > 0 {
            return None;
        }
        let worker = list.pop()?;
        self.state.fetch_add(SEARCHER.wrapping_sub(SLEEPER), Ordering::AcqRel);
        Some(worker)
    }

    /// A worker begins to search, unless half of them do already.
    pub fn begin_search(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        if 2 * searchers(state) >= self.workers.max(2) {
            return false;
        }
        self.state.fetch_add(SEARCHER, Ordering::AcqRel);
        true
    }

    /// A searcher has found work; `true` if it was the last and should notify for the rest.
    pub fn end_search(&self) -> bool {
        searchers(self.state.fetch_sub(SEARCHER, Ordering::AcqRel)) == 1
    }

    /// Puts a worker to the sleepers. It must look at all queues once more, and then either
    /// [`Idle::wake_self`] or park.
    pub fn fall_asleep(&self, worker: usize, searching: bool) {
        let mut list = self.sleepers();
        list.push(worker);
        let searcher = if searching { SEARCHER } else { 0 };
        // ORDER: see `notify`.
        self.state.fetch_add(SLEEPER - searcher, Ordering::AcqRel);
    }

    /// Takes a worker from the sleepers again, as a searcher; `false` if somebody has woken it and
    /// its next park will return at once.
    pub fn wake_self(&self, worker: usize) -> bool {
        let mut list = self.sleepers();
        let Some(at) = list.iter().position(|&sleeper| sleeper == worker) else { return false };
        list.swap_remove(at);
        self.state.fetch_add(SEARCHER.wrapping_sub(SLEEPER), Ordering::AcqRel);
        true
    }

    /// Takes everybody from the sleepers, for the end: the workers to wake.
    #[must_use]
    pub fn wake_all(&self) -> Vec<usize> {
        let mut list = self.sleepers();
        let woken = std::mem::take(&mut *list);
        let change = SEARCHER.wrapping_sub(SLEEPER).wrapping_mul(woken.len());
        self.state.fetch_add(change, Ordering::AcqRel);
        woken
    }
}
