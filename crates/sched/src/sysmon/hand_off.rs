//! Hand-off record that a detached thread shares with sysmon.
//!
//! Sysmon is the thread that detects stalled workers. It takes the core of such a worker, its run
//! queue and timers, and gives it to another thread. The thread that lost its core is *detached*: it
//! finishes its turn, the poll of one process, and exits.
//!
//! The record ensures that the thread does not end while sysmon makes a system call on it, because the
//! kernel may reuse the id of an ended thread. Sysmon creates the record when it takes the core,
//! and stores it in the thread's worker status.
//!
//! # Protocol
//!
//! | sysmon | the detached thread, at the end of its turn |
//! |---|---|
//! | 1. `IN_TURN` to `LOCKED`; on `OVER`, drops the record | 1. swaps in `OVER` |
//! | 2. makes the system call | 2. if the state was `LOCKED`, waits for `RELEASED` |
//! | 3. `LOCKED` to `IN_TURN`; on `OVER`, stores `RELEASED` | 3. exits |
//!
//! WHY no lock: the thread may have a lower priority, and wait long for a processor while it holds
//! the lock. Sysmon never waits for it here. The thread waits for sysmon for the duration of a few system
//! calls at most.

use purlin_raw::Slot;

use crate::sync::{AtomicBool, AtomicU32, Instant, Ordering, yield_now};

/// The turn has not ended.
const IN_TURN: u32 = 0;
/// Sysmon is making a system call on the thread.
const LOCKED: u32 = 1;
/// The turn has ended. If it ended while the state was `LOCKED`, the thread waits.
const OVER: u32 = 2;
/// Sysmon has finished its last system call; the thread may exit.
const RELEASED: u32 = 3;

/// Record of the hand-off of one thread's core, and the turn that stalled it.
#[derive(Debug)]
pub struct HandOff {
    /// Slot number of the process in the turn.
    pub(crate) slot: Slot,
    /// When the turn was first observed.
    pub(crate) since: Instant,
    state: AtomicU32,
    /// Whether the program's hooks have been informed.
    reported: AtomicBool,
}

impl HandOff {
    /// Creates the record for a thread whose turn of the process in `slot` was observed at `since`.
    pub fn new(slot: Slot, since: Instant) -> Self {
        Self { slot, since, state: AtomicU32::new(IN_TURN), reported: AtomicBool::new(false) }
    }

    /// Runs `f` while the thread cannot end. Returns `None` if its turn has ended. Called by sysmon
    /// only; `f` must be short, because the thread may wait for it.
    pub fn with_live_thread<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        let exchange = |from, to| {
            // ORDER: release of what `f` did, to the acquires in `end`. Nothing is acquired here
            // but the fact that the thread has not ended, which is this value itself.
            self.state.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()
        };
        if !exchange(IN_TURN, LOCKED) {
            return None;
        }
        let done = f();
        if !exchange(LOCKED, IN_TURN) {
            // ORDER: as above.
            self.state.store(RELEASED, Ordering::Release);
        }
        Some(done)
    }

    /// Marks the turn as ended: from now on sysmon does not act on the thread. Called once, by the
    /// thread.
    pub fn end(&self) {
        // ORDER: acquire of what was done in `with_live_thread`, here and below.
        if self.state.swap(OVER, Ordering::Acquire) == LOCKED {
            while self.state.load(Ordering::Acquire) != RELEASED {
                yield_now();
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= OVER
    }

    /// Marks the stalled worker as reported. Sysmon and the ending thread read the mark.
    pub(crate) fn set_reported(&self) {
        self.reported.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.reported.load(Ordering::Relaxed)
    }
}
