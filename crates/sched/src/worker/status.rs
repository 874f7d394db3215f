//! Worker status: what a worker's thread publishes about its current turn.
//!
//! The thread writes it with plain stores at each turn; sysmon reads it at any time. A thread has
//! one status for its lifetime; after a hand-off the fresh thread has another one.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use purlin_raw::{Revoker, Slot, ThreadId, YieldTimer};

use crate::sync::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use crate::sysmon::hand_off::HandOff;
use crate::worker::core::Core;

/// Maximum number of turns between two checks of the global queue and the timers. Prime, so that it
/// does not synchronize with patterns in the load.
pub(crate) const CHECK_INTERVAL: u32 = if cfg!(shuttle) { 3 } else { 61 };
/// Slot value of no process.
const NO_PROCESS: u64 = 0;

/// Status of a worker's thread.
// WHY aligned to cache lines: the thread writes here at every turn.
#[repr(align(128))]
pub(crate) struct WorkerStatus {
    /// Number of the turn, modulo 2³².
    turn: AtomicU32,
    /// Turn before which the thread next checks the global queue and the timers.
    next_check: AtomicU32,
    /// Number of turns between two such checks.
    check_interval: AtomicU32,
    /// Slot of the process that runs or ran last; cleared only before the thread searches for work
    /// elsewhere.
    running: AtomicU64,
    /// Kernel id of the thread, once it has started.
    thread: AtomicI32,
    /// Timer with which sysmon makes the thread yield its processor.
    yield_timer: OnceLock<YieldTimer>,
    /// Sysmon's end of the thread's core, with which it takes the core.
    pub(crate) core: Revoker<Core>,
    /// Hand-off record; set before the thread can notice that its core is gone.
    pub(crate) hand_off: OnceLock<Arc<HandOff>>,
}

impl WorkerStatus {
    pub(crate) fn new(core: Revoker<Core>) -> Self {
        Self {
            turn: AtomicU32::new(0),
            // WHY the first: a fresh thread has a core because a process waits.
            next_check: AtomicU32::new(1),
            check_interval: AtomicU32::new(CHECK_INTERVAL),
            running: AtomicU64::new(NO_PROCESS),
            thread: AtomicI32::new(0),
            yield_timer: OnceLock::new(),
            core,
            hand_off: OnceLock::new(),
        }
    }

    /// Records the current thread as the worker's thread. `yields` allows to make it yield.
    pub(crate) fn attach(&self, yields: bool) {
        if let Some(timer) = yields.then(YieldTimer::for_current_thread).flatten() {
            let first = self.yield_timer.set(timer);
            debug_assert!(first.is_ok(), "a status has one thread");
        }
        self.thread.store(ThreadId::current().number(), Ordering::Relaxed);
    }

    pub(crate) fn thread(&self) -> ThreadId {
        ThreadId::from_number(self.thread.load(Ordering::Relaxed))
    }

    /// Makes the thread yield its processor after that time, in place of the time set before.
    pub(crate) fn yield_after(&self, after: Duration) {
        if let Some(timer) = self.yield_timer.get() {
            timer.set(after);
        }
    }

    /// Cancels [`WorkerStatus::yield_after`].
    pub(crate) fn cancel_yield(&self) {
        if let Some(timer) = self.yield_timer.get() {
            timer.cancel();
        }
    }

    /// Begins the next turn. Returns whether the thread must check the global queue and the timers
    /// before it. Called by the thread only.
    #[inline]
    pub(crate) fn next_turn(&self) -> bool {
        let turn = self.turn.load(Ordering::Relaxed).wrapping_add(1);
        self.turn.store(turn, Ordering::Relaxed);
        // WHY not `==`: sysmon may write a turn that is over.
        turn.wrapping_sub(self.next_check.load(Ordering::Relaxed)).cast_signed() >= 0
    }

    /// Records that the thread checks the global queue and the timers now. Called by the thread only.
    pub(crate) fn set_checked(&self) {
        let next = self.turn().wrapping_add(self.check_interval.load(Ordering::Relaxed));
        self.next_check.store(next, Ordering::Relaxed);
    }

    /// Sets the number of turns between two checks, of which the first is at most so far away. Called
    /// by sysmon.
    pub(crate) fn set_check_interval(&self, interval: u32) {
        // WHY not always a store: it takes the cache line from the thread.
        if self.check_interval.load(Ordering::Relaxed) != interval {
            self.check_interval.store(interval, Ordering::Relaxed);
        }
        let latest = self.turn().wrapping_add(interval);
        let away = self.next_check.load(Ordering::Relaxed).wrapping_sub(latest).cast_signed();
        if away > 0 {
            // The thread may overwrite this, if it checks at this moment.
            self.next_check.store(latest, Ordering::Relaxed);
        }
    }

    pub(crate) fn turn(&self) -> u32 {
        self.turn.load(Ordering::Relaxed)
    }

    /// Publishes the process that runs now. Called by the thread only.
    #[inline]
    pub(crate) fn set_running(&self, slot: Slot) {
        self.running.store(slot.to_bits().get(), Ordering::Relaxed);
    }

    /// Publishes that no process runs, because the thread searches for work. Called by the thread
    /// only.
    pub(crate) fn clear_running(&self) {
        self.running.store(NO_PROCESS, Ordering::Relaxed);
    }

    pub(crate) fn running(&self) -> Option<Slot> {
        NonZero::new(self.running.load(Ordering::Relaxed)).map(Slot::from_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the turns of the next `count` before which the thread checks.
    fn checks(status: &WorkerStatus, count: u32) -> Vec<u32> {
        let mut checked = Vec::new();
        for _ in 0..count {
            if status.next_turn() {
                status.set_checked();
                checked.push(status.turn());
            }
        }
        checked
    }

    #[test]
    fn a_thread_checks_before_its_first_turn_and_then_at_the_interval() {
        const C: u32 = CHECK_INTERVAL;
        let status = WorkerStatus::new(purlin_raw::revocable(Core::new()).1);
        assert_eq!(checks(&status, 2 * C), [1, C + 1]);
        status.set_check_interval(2);
        assert_eq!(checks(&status, 4), [2 * C + 1, 2 * C + 3]);
        status.set_check_interval(C);
        assert_eq!(checks(&status, 10), [2 * C + 5]);
        status.set_check_interval(2);
        assert_eq!(checks(&status, 4), [2 * C + 16, 2 * C + 18], "not after the old interval");
    }

    #[test]
    fn a_published_slot_is_read_back_unchanged() {
        let status = WorkerStatus::new(purlin_raw::revocable(Core::new()).1);
        assert_eq!(status.running(), None);
        for bits in [1, 7 << 32 | 3, u64::MAX] {
            let slot = Slot::from_bits(NonZero::new(bits).unwrap());
            status.set_running(slot);
            assert_eq!(status.running(), Some(slot));
        }
        status.clear_running();
        assert_eq!(status.running(), None);
    }
}
