//! Worker status: what a worker's thread publishes about its current turn.
//!
//! The thread writes it with plain stores at each turn; sysmon reads it at any time. A thread has
//! one status for its lifetime; after a hand-off the fresh thread has another one.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use purlin_raw::{Revoker, Slot, ThreadId};

use crate::sync::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use crate::sysmon::hand_off::HandOff;
use crate::worker::core::Core;

/// Slot value of no process.
const NO_PROCESS: u64 = 0;

/// Status of a worker's thread.
// WHY aligned to cache lines: the thread writes here at every turn.
#[repr(align(128))]
pub(crate) struct WorkerStatus {
    /// Number of the turn, modulo 2³².
    turn: AtomicU32,
    /// Slot of the process that runs or ran last; cleared only before the thread searches for work
    /// elsewhere.
    running: AtomicU64,
    /// Kernel id of the thread, once it has started.
    thread: AtomicI32,
    /// Sysmon's end of the thread's core, with which it takes the core.
    pub(crate) core: Revoker<Core>,
    /// Hand-off record; set before the thread can notice that its core is gone.
    pub(crate) hand_off: OnceLock<Arc<HandOff>>,
}

impl WorkerStatus {
    pub(crate) fn new(core: Revoker<Core>) -> Self {
        Self {
            turn: AtomicU32::new(0),
            running: AtomicU64::new(NO_PROCESS),
            thread: AtomicI32::new(0),
            core,
            hand_off: OnceLock::new(),
        }
    }

    /// Records the current thread as the worker's thread.
    pub(crate) fn attach(&self) {
        self.thread.store(ThreadId::current().number(), Ordering::Relaxed);
    }

    pub(crate) fn thread(&self) -> ThreadId {
        ThreadId::from_number(self.thread.load(Ordering::Relaxed))
    }

    /// Begins the next turn and returns its number. Called by the thread only.
    #[inline]
    pub(crate) fn next_turn(&self) -> u32 {
        let turn = self.turn.load(Ordering::Relaxed).wrapping_add(1);
        self.turn.store(turn, Ordering::Relaxed);
        turn
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
