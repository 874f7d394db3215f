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
//!
//! A worker that queues work for itself only looks (`notify_for_own`): it is awake and gets to the
//! work in any case, and a sleeper it has missed is found by the monitor.
//!
//! A notification releases the work to the one who falls asleep, who acquires it. What comes between
//! them is read-modify-writes, which hand the release on though they are relaxed: the counts and the
//! bit carry nothing but themselves. Who is in the list of sleepers changes with `state` under the
//! list's lock, so whoever finds itself there, or not, knows of that change.
//!
//! # The monitor rests
//!
//! While all workers sleep the monitor has nothing to watch, as a rule, and *rests*; a bit of `state`
//! says so.
//! Setting it is a read-modify-write that tells whether all sleep. Whoever is taken from the
//! sleepers changes `state` first and then looks at the bit: either that change came before the bit,
//! and the monitor sees somebody awake and does not rest; or after it, and the worker sees the bit,
//! clears it and wakes the monitor.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

const SEARCHER: usize = 1;
/// The monitor rests.
const RESTING: usize = 1 << 31;
const SLEEPER: usize = 1 << 32;

/// Who sleeps and how many search. It tells whom to wake; parking is its caller's.
pub struct Idle {
    state: CachePadded<AtomicUsize>,
    sleepers: Mutex<Vec<usize>>,
    workers: usize,
}

fn searchers(state: usize) -> usize {
    state & (RESTING - 1)
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
        self.pick(self.state.fetch_add(0, Ordering::Release))
    }

    /// A worker has queued work for itself that others may help with: the worker to wake, if it
    /// seems that nobody would find it.
    #[inline]
    #[must_use]
    pub fn notify_for_own(&self) -> Option<usize> {
        // ORDER: relaxed: a sleeper that is missed is found by the monitor.
        self.pick(self.state.load(Ordering::Relaxed))
    }

    #[inline]
    fn pick(&self, state: usize) -> Option<usize> {
        if searchers(state) > 0 || sleepers(state) == 0 {
            return None;
        }
        self.pick_sleeper()
    }

    fn pick_sleeper(&self) -> Option<usize> {
        let mut list = self.sleepers();
        // Another notifier may have been faster; its worker is a searcher now.
        if searchers(self.state.load(Ordering::Relaxed)) > 0 {
            return None;
        }
        let worker = list.pop()?;
        self.state.fetch_add(SEARCHER.wrapping_sub(SLEEPER), Ordering::Relaxed);
        Some(worker)
    }

    /// A worker begins to search, unless half of them do already.
    pub fn begin_search(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        if 2 * searchers(state) >= self.workers.max(2) {
            return false;
        }
        self.state.fetch_add(SEARCHER, Ordering::Relaxed);
        true
    }

    /// A searcher has found work; `true` if it was the last and should notify for the rest.
    pub fn end_search(&self) -> bool {
        searchers(self.state.fetch_sub(SEARCHER, Ordering::Relaxed)) == 1
    }

    /// Puts a worker to the sleepers. It must look at all queues once more, and then either
    /// [`Idle::wake_self`] or park.
    pub fn fall_asleep(&self, worker: usize, searching: bool) {
        let mut list = self.sleepers();
        list.push(worker);
        let searcher = if searching { SEARCHER } else { 0 };
        // ORDER: acquire from `notify`: the look that follows sees the work.
        self.state.fetch_add(SLEEPER - searcher, Ordering::Acquire);
    }

    /// Takes a worker from the sleepers again, as a searcher; `false` if somebody has woken it and
    /// its next park will return at once.
    pub fn wake_self(&self, worker: usize) -> bool {
        let mut list = self.sleepers();
        let Some(at) = list.iter().position(|&sleeper| sleeper == worker) else { return false };
        list.swap_remove(at);
        self.state.fetch_add(SEARCHER.wrapping_sub(SLEEPER), Ordering::Relaxed);
        true
    }

    /// How many sleep or search, and so could take on work; it may have changed already.
    pub fn free(&self) -> usize {
        let state = self.state.load(Ordering::Relaxed);
        searchers(state) + sleepers(state)
    }

    /// Whether all sleep; it may have changed already.
    pub fn all_asleep(&self) -> bool {
        sleepers(self.state.load(Ordering::Relaxed)) == self.workers
    }

    /// The monitor wants to rest: `true` if all sleep. Then the first who wakes rouses it.
    pub fn begin_rest(&self) -> bool {
        let all = sleepers(self.state.fetch_or(RESTING, Ordering::Relaxed)) == self.workers;
        if !all {
            self.state.fetch_and(!RESTING, Ordering::Relaxed);
        }
        all
    }

    /// For a worker that was taken from the sleepers, or a thread that is none any more: `true` if the
    /// monitor rests and is the caller's to wake.
    pub fn rouse(&self) -> bool {
        // ORDER: this worker's leaving the sleepers came before, in this thread or in the one that
        // woke it, so what is read here is no older than that.
        self.resting() && self.state.fetch_and(!RESTING, Ordering::Relaxed) & RESTING != 0
    }

    /// Whether the monitor rests.
    pub fn resting(&self) -> bool {
        self.state.load(Ordering::Relaxed) & RESTING != 0
    }

    /// Takes everybody from the sleepers, for the end: the workers to wake.
    #[must_use]
    pub fn wake_all(&self) -> Vec<usize> {
        let mut list = self.sleepers();
        let woken = std::mem::take(&mut *list);
        let change = SEARCHER.wrapping_sub(SLEEPER).wrapping_mul(woken.len());
        self.state.fetch_add(change, Ordering::Relaxed);
        woken
    }
}
