//! Numbers that nothing else has: of monitors, aliases and unlinks.
//!
//! A node counts up from its creation, which is random, in the upper half of the number. So two nodes
//! of one program do not meet before one of them has made more references than their creations lie
//! apart, in units of four thousand million.
//!
//! A thread that runs processes takes numbers from the node a thousand at a time, so that processes
//! on different cores do not meet at one counter.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::Ordering;

use crate::home::{Here, here};

/// So many numbers are taken at once.
const BATCH: u64 = 1024;

/// Something unique: Erlang's reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reference(u64);

impl Reference {
    /// The first batch of a node.
    pub(crate) fn first_batch(creation: u32) -> u64 {
        (u64::from(creation) << 32) / BATCH
    }

    /// A new one; `None` on a thread that runs no process.
    #[inline]
    pub(crate) fn new() -> Option<Self> {
        here(|here| Self(next(here)))
    }

    /// It as a number, which is not zero.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// Out of what [`Reference::number`] gave.
    pub(crate) fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// The numbers of a batch. WHY not the first: zero is none.
pub(crate) fn batch(batch: u64) -> Range<u64> {
    let first = batch.wrapping_mul(BATCH);
    (first | 1)..first.saturating_add(BATCH)
}

#[inline]
fn next(here: &Here) -> u64 {
    let mut number = here.numbers.get();
    if number.is_multiple_of(BATCH) {
        number = batch(here.realm.home().batches.fetch_add(1, Ordering::Relaxed)).start;
    }
    here.numbers.set(number + 1);
    number
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#Ref<0.{}.{}>", self.0 >> 32, self.0 & 0xffff_ffff)
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
