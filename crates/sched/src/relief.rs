//! What a relieved thread and the monitor agree on: it does not end while the monitor has the kernel
//! do something to it, since its number may be another's then.
//!
//! The monitor makes one when it takes the post, and leaves it at the thread's seat.
//!
//! # Protocol
//!
//! | the monitor | the thread, whose turn is over |
//! |---|---|
//! | 1. `IN_TURN` to `HELD`; or finds `OVER`, and forgets the thread | 1. `OVER`, whatever was there |
//! | 2. has the kernel do something | 2. if it was `HELD`, waits for `LET_GO` |
//! | 3. `HELD` to `IN_TURN`; or finds `OVER`, and leaves `LET_GO` | 3. ends |
//!
//! WHY no lock: the thread may have been put last, and who is runs when nobody else wants to. Nobody
//! waits for it here. It waits for the monitor, for as long as some system calls take.

use purlin_raw::Slot;

use crate::sync::{AtomicBool, AtomicU32, Instant, Ordering, yield_now};

const IN_TURN: u32 = 0;
const HELD: u32 = 1;
const OVER: u32 = 2;
const LET_GO: u32 = 3;

/// The turn in which a thread was relieved.
#[derive(Debug)]
pub struct Relief {
    pub(crate) slot: Slot,
    /// When the turn began, as far as was seen.
    pub(crate) since: Instant,
    state: AtomicU32,
    told: AtomicBool,
    last: AtomicBool,
}

impl Relief {
    /// The process in that slot has its thread to itself since then.
    pub fn new(slot: Slot, since: Instant) -> Self {
        let [told, last] = [AtomicBool::new(false), AtomicBool::new(false)];
        Self { slot, since, state: AtomicU32::new(IN_TURN), told, last }
    }

    /// Does something while the thread lives; `None` if its turn is over. For the monitor alone, and
    /// brief, since the thread may wait for it.
    pub fn hold<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        let exchange = |from, to| {
            // ORDER: release of what `f` did, to the acquires in `end`; nothing comes the other way, but
            // that the thread has not ended, which is this value itself.
            self.state.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()
        };
        if !exchange(IN_TURN, HELD) {
            return None;
        }
        let done = f();
        if !exchange(HELD, IN_TURN) {
            // ORDER: as above.
            self.state.store(LET_GO, Ordering::Release);
        }
        Some(done)
    }

    /// The turn is over: from now on nobody does anything to the thread. For the thread itself, once.
    pub fn end(&self) {
        // ORDER: acquire of what was done in `hold`, here and below.
        if self.state.swap(OVER, Ordering::Acquire) == HELD {
            while self.state.load(Ordering::Acquire) != LET_GO {
                yield_now();
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= OVER
    }

    /// The world is told of it. Whoever asks whether it was is the monitor, or the thread at its end.
    pub(crate) fn tell(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    pub(crate) fn told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    /// Whether the kernel runs the thread last. The rest as for [`Relief::tell`].
    pub(crate) fn set_last(&self, last: bool) {
        self.last.store(last, Ordering::Relaxed);
    }

    pub(crate) fn is_last(&self) -> bool {
        self.last.load(Ordering::Relaxed)
    }
}
