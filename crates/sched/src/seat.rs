//! What a worker's thread shows of itself, so that others can see how long a turn takes.
//!
//! The thread writes, with plain stores, each turn; the monitor reads whenever it likes. A thread
//! has one seat for all its life; when its post is taken from it, a fresh thread gets a seat of its
//! own.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use purlin_raw::{Slot, Taker, ThreadId};

use crate::post::Post;
use crate::relief::Relief;
use crate::sync::{AtomicI32, AtomicU32, AtomicU64, Ordering};

/// No process has this slot.
const NOBODY: u64 = 0;

/// What a worker's thread shows of itself.
// WHY lines of its own: the thread writes here all the time.
#[repr(align(128))]
pub(crate) struct Seat {
    /// Grows with each turn, modulo 2³².
    turn: AtomicU32,
    /// The slot of the process that runs, or that ran last: cleared only before the thread looks for
    /// work elsewhere.
    running: AtomicU64,
    /// The thread, once it has begun.
    thread: AtomicI32,
    /// The way to the thread's post.
    pub(crate) post: Taker<Post>,
    /// There before the thread can find out that its post has been taken.
    pub(crate) relief: OnceLock<Arc<Relief>>,
}

impl Seat {
    pub(crate) fn new(post: Taker<Post>) -> Self {
        Self {
            turn: AtomicU32::new(0),
            running: AtomicU64::new(NOBODY),
            thread: AtomicI32::new(0),
            post,
            relief: OnceLock::new(),
        }
    }

    /// The thread sits down.
    pub(crate) fn sit_down(&self) {
        self.thread.store(ThreadId::current().number(), Ordering::Relaxed);
    }

    pub(crate) fn thread(&self) -> ThreadId {
        ThreadId::from_number(self.thread.load(Ordering::Relaxed))
    }

    /// Begins the next turn and says which it is. Only for the thread itself.
    #[inline]
    pub(crate) fn next_turn(&self) -> u32 {
        let turn = self.turn.load(Ordering::Relaxed).wrapping_add(1);
        self.turn.store(turn, Ordering::Relaxed);
        turn
    }

    pub(crate) fn turn(&self) -> u32 {
        self.turn.load(Ordering::Relaxed)
    }

    /// That process runs now. Only for the thread itself.
    #[inline]
    pub(crate) fn runs(&self, slot: Slot) {
        self.running.store(slot.to_bits().get(), Ordering::Relaxed);
    }

    /// Nobody runs: the thread looks for work. Only for the thread itself.
    pub(crate) fn runs_nobody(&self) {
        self.running.store(NOBODY, Ordering::Relaxed);
    }

    pub(crate) fn running(&self) -> Option<Slot> {
        NonZero::new(self.running.load(Ordering::Relaxed)).map(Slot::from_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_comes_back_as_it_was_shown() {
        let seat = Seat::new(purlin_raw::biased(Post::new()).1);
        assert_eq!(seat.running(), None);
        for bits in [1, 7 << 32 | 3, u64::MAX] {
            let slot = Slot::from_bits(NonZero::new(bits).unwrap());
            seat.runs(slot);
            assert_eq!(seat.running(), Some(slot));
        }
        seat.runs_nobody();
        assert_eq!(seat.running(), None);
    }
}
