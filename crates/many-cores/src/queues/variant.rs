//! Model of a sharded inbox, to compare forms of it. Always sharded.
//!
//! A shard is a stack, modelled by its length and a flag. The sender that finds a shard empty
//! announces it: it sets the shard's bit in the state word. Two forms differ in what other senders do:
//!
//! - *checked*, as in `purlin-raw`: every sender reads the state word before its push, for the mode,
//!   and after it, for the bit;
//! - *flagged*: the mode is on a line that is written only when it changes, and the announcer sets a
//!   flag in the shard afterwards. A sender that finds a shard without the flag announces it, too.

use std::sync::Arc;

use super::{Queue, Receiver};
use crate::platform::{AtomicU64, Line, Ordering};

/// The receiver sleeps.
const ASLEEP: u64 = 1 << 63;
/// The shard has been announced.
const ANNOUNCED: u64 = 1 << 63;
/// Lines of messages per shard; more messages use them again.
const LINES: usize = 1024;

#[derive(Default)]
#[repr(align(128))]
struct Word(AtomicU64);

struct Shard {
    word: Word,
    lines: Vec<Line>,
}

/// Sharded inbox with up to 63 shards.
pub(crate) struct Variant<const SHARDS: usize, const FLAGGED: bool> {
    state: Word,
    mode: Word,
    shards: Vec<Shard>,
}

/// Its receiver.
pub(crate) struct VariantReceiver<const SHARDS: usize, const FLAGGED: bool>(
    Arc<Variant<SHARDS, FLAGGED>>,
);

impl<const SHARDS: usize, const FLAGGED: bool> Variant<SHARDS, FLAGGED> {
    /// Sets the bit of a shard. Returns `true` if the receiver sleeps.
    fn announce(&self, shard: usize) -> bool {
        let mut state = self.state.0.load(Ordering::Relaxed);
        loop {
            let next = (state | 1 << shard) & !ASLEEP;
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.state.0.compare_exchange(state, next, success, failure) {
                Ok(_) => return state & ASLEEP != 0,
                Err(now) => state = now,
            }
        }
    }
}

impl<const SHARDS: usize, const FLAGGED: bool> Queue for Variant<SHARDS, FLAGGED> {
    type Receiver = VariantReceiver<SHARDS, FLAGGED>;

    fn new() -> (Arc<Self>, Self::Receiver) {
        let shard = || Shard {
            word: Word::default(),
            lines: (0..LINES).map(|_| Line::default()).collect(),
        };
        let shards = (0..SHARDS).map(|_| shard()).collect();
        let queue = Arc::new(Self { state: Word::default(), mode: Word::default(), shards });
        (Arc::clone(&queue), VariantReceiver(queue))
    }

    fn send(&self, _: u64, sender: u32) -> bool {
        let mode = if FLAGGED { &self.mode } else { &self.state };
        mode.0.load(Ordering::Acquire);
        let number = sender as usize % SHARDS;
        let shard = &self.shards[number];
        let mut word = shard.word.0.load(Ordering::Acquire);
        loop {
            shard.lines[(word & !ANNOUNCED) as usize % LINES].write();
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            match shard.word.0.compare_exchange(word, word + 1, success, failure) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        if FLAGGED {
            if word & ANNOUNCED != 0 {
                return false;
            }
            let wakes = self.announce(number);
            // A take in between has emptied the shard: then the flag must not be set.
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            let mut now = word + 1;
            while now != 0 && now & ANNOUNCED == 0 {
                match shard.word.0.compare_exchange(now, now | ANNOUNCED, success, failure) {
                    Ok(_) => break,
                    Err(other) => now = other,
                }
            }
            return wakes;
        }
        let announced = word != 0 && self.state.0.load(Ordering::Relaxed) & 1 << number != 0;
        !announced && self.announce(number)
    }
}

impl<const SHARDS: usize, const FLAGGED: bool> Receiver for VariantReceiver<SHARDS, FLAGGED> {
    fn receive(&mut self, mut f: impl FnMut(u64)) -> usize {
        if self.0.state.0.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let mut marked = self.0.state.0.swap(0, Ordering::Acquire) & !ASLEEP;
        let mut received = 0;
        while marked != 0 {
            let shard = &self.0.shards[marked.trailing_zeros() as usize];
            let count = (shard.word.0.swap(0, Ordering::AcqRel) & !ANNOUNCED) as usize;
            for index in (0..count).rev() {
                shard.lines[index % LINES].read();
                f(0);
            }
            received += count;
            marked &= marked - 1;
        }
        received
    }

    fn sleep(&mut self) -> bool {
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        self.0.state.0.compare_exchange(0, ASLEEP, success, failure).is_ok()
    }
}
