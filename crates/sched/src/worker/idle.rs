//! Sleeping and searching workers, and the choice of the worker to wake.
//!
//! A worker is *busy*, *searching* for work, or *asleep*. A thread that queues work wakes a sleeper
//! only if no worker is searching: a searcher finds the work, and wakes the next sleeper once it
//! has found some. A burst of work thus wakes the workers one after the other, each only if there
//! is more to do.
//!
//! # No lost wake-up
//!
//! `state` counts the sleepers and the searchers. Queuing work is followed by a read-modify-write
//! of `state` (`notify`). A worker that goes to sleep changes `state` and then checks all queues
//! once more. In the modification order of `state` either the notification comes first, and the
//! sleeper's check sees the work; or the sleeper comes first, and the notification sees the
//! sleeper.
//!
//! While a worker searches, a notification wakes no worker. When the last searcher has found work,
//! it changes `state`, checks all queues once more, and wakes a sleeper if they hold work. By the
//! same argument either its check finds the work, or the notification reads a state without
//! searchers and wakes a sleeper.
//!
//! A worker that queues work for itself only loads `state` (`notify_for_own`). It is awake and runs
//! the work in any case; sysmon wakes a sleeper that this load has missed.
//!
//! A notification releases the queued work to the worker that falls asleep or ends its search,
//! which acquires it. The operations between the two are read-modify-writes, which continue the
//! release sequence although they are relaxed: the counts and the bit publish no other data. The
//! list of sleepers changes together with `state` under the list's lock, so a worker that finds
//! itself in the list, or does not, has observed that change.
//!
//! # Rest of sysmon
//!
//! While all workers sleep, sysmon usually has nothing to watch and *rests*. A bit of `state` marks
//! this. Setting the bit is a read-modify-write that also returns whether all workers sleep. A
//! worker that leaves the sleepers changes `state` first and then reads the bit. If the change
//! precedes the bit, sysmon sees an awake worker and does not rest. If it follows, the worker sees
//! the bit, clears it and wakes sysmon.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

const SEARCHER: usize = 1;
/// Bit: sysmon rests.
const RESTING: usize = 1 << 31;
const SLEEPER: usize = 1 << 32;

/// List of sleepers and number of searchers. It selects the worker to wake; the caller unparks it.
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
    /// Creates the state with all workers busy.
    pub fn new(workers: usize) -> Self {
        Self {
            state: CachePadded::new(AtomicUsize::new(0)),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            workers,
        }
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<usize>> {
        // WHY: no code panics while the list is locked, so it is always consistent.
        self.sleepers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Reports queued work. Returns the worker to wake, or `None` if another worker will find the
    /// work.
    #[must_use]
    pub fn notify(&self) -> Option<usize> {
        // ORDER: a read-modify-write, so that it is in one modification order with `fall_asleep`;
        // release of the queued work, acquired there.
        self.pick(self.state.fetch_add(0, Ordering::Release))
    }

    /// Reports work that a worker has queued for itself and that others can steal. Returns the
    /// worker to wake. May miss a worker that is falling asleep.
    #[inline]
    #[must_use]
    pub fn notify_for_own(&self) -> Option<usize> {
        // ORDER: relaxed: sysmon wakes a sleeper that this load misses.
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
        // Another notifier may have been faster; the worker it has woken is a searcher now.
        if searchers(self.state.load(Ordering::Relaxed)) > 0 {
            return None;
        }
        let worker = list.pop()?;
        self.state.fetch_add(SEARCHER.wrapping_sub(SLEEPER), Ordering::Relaxed);
        Some(worker)
    }

    /// Returns whether a worker searches, or was woken and has not searched yet.
    pub fn searching(&self) -> bool {
        // ORDER: relaxed: sysmon decides by it only whether computing threads yield.
        searchers(self.state.load(Ordering::Relaxed)) > 0
    }

    /// Makes a worker a searcher. Returns `false` if half of the workers search already.
    pub fn begin_search(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        if 2 * searchers(state) >= self.workers.max(2) {
            return false;
        }
        self.state.fetch_add(SEARCHER, Ordering::Relaxed);
        true
    }

    /// Ends a search that found work. Returns `true` for the last searcher, which must then check all
    /// queues, and notify if they hold more.
    pub fn end_search(&self) -> bool {
        // ORDER: acquire from `notify`: the check that follows sees the work.
        searchers(self.state.fetch_sub(SEARCHER, Ordering::Acquire)) == 1
    }

    /// Adds a worker to the sleepers. The worker must then check all queues once more, and either
    /// call [`Idle::leave`] or park.
    pub fn fall_asleep(&self, worker: usize, searching: bool) {
        let mut list = self.sleepers();
        list.push(worker);
        let searcher = if searching { SEARCHER } else { 0 };
        // ORDER: acquire from `notify`: the check that follows sees the work.
        self.state.fetch_add(SLEEPER - searcher, Ordering::Acquire);
    }

    /// Removes a worker from the sleepers and makes it a searcher. Returns `false` if another
    /// thread has already woken it, in which case its next park returns immediately.
    pub fn leave(&self, worker: usize) -> bool {
        let mut list = self.sleepers();
        let Some(at) = list.iter().position(|&sleeper| sleeper == worker) else { return false };
        list.swap_remove(at);
        self.state.fetch_add(SEARCHER.wrapping_sub(SLEEPER), Ordering::Relaxed);
        true
    }

    /// Returns the number of workers that sleep or search. The result may be outdated.
    pub fn free(&self) -> usize {
        let state = self.state.load(Ordering::Relaxed);
        searchers(state) + sleepers(state)
    }

    /// Returns whether all workers sleep. The result may be outdated.
    pub fn all_asleep(&self) -> bool {
        sleepers(self.state.load(Ordering::Relaxed)) == self.workers
    }

    /// Puts sysmon to rest. Returns `true` if all workers sleep; the first worker to wake then
    /// wakes sysmon.
    pub fn begin_sysmon_rest(&self) -> bool {
        let all = sleepers(self.state.fetch_or(RESTING, Ordering::Relaxed)) == self.workers;
        if !all {
            self.state.fetch_and(!RESTING, Ordering::Relaxed);
        }
        all
    }

    /// Returns `true` if sysmon rests and the caller must wake it. Called by a worker that has left
    /// the sleepers, or by a thread that is no longer a worker.
    pub fn wake_sysmon(&self) -> bool {
        // ORDER: this worker left the sleepers earlier, in this thread or in the one that woke it,
        // so the value read here is at least that recent.
        self.resting() && self.state.fetch_and(!RESTING, Ordering::Relaxed) & RESTING != 0
    }

    /// Returns whether sysmon rests.
    pub fn resting(&self) -> bool {
        self.state.load(Ordering::Relaxed) & RESTING != 0
    }

    /// Removes all workers from the sleepers, for shutdown. Returns the workers to wake.
    #[must_use]
    pub fn wake_all(&self) -> Vec<usize> {
        let mut list = self.sleepers();
        let woken = std::mem::take(&mut *list);
        let change = SEARCHER.wrapping_sub(SLEEPER).wrapping_mul(woken.len());
        self.state.fetch_add(change, Ordering::Relaxed);
        woken
    }
}
