//! References: unique numbers, of monitors, aliases and unlinks, and for programs.
//!
//! The upper half of a number starts at the node's creation, which is random, and the node counts
//! up from there. So the numbers of two nodes of one program stay distinct until one of the nodes
//! has made more references than the difference of their creations, in units of four thousand
//! million (2³²).
//!
//! A thread that runs processes takes a batch of 1024 numbers from the node, so that processes on
//! different cores do not contend for one counter.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of a batch of numbers.
const BATCH: u64 = 1024;

/// Unique value: Erlang's reference. Made by [`Process::make_ref`](crate::Process::make_ref).
///
/// A reference identifies a request and its reply. It is equal only to its copies, and prints as in
/// Erlang.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference(u64);

impl Reference {
    /// Returns the first batch of a node.
    pub(crate) fn first_batch(creation: u32) -> u64 {
        (u64::from(creation) << 32) / BATCH
    }

    /// Returns a new reference. `numbers`: next number of this thread; `batches`: next batch of the
    /// node.
    #[inline]
    pub(crate) fn next(numbers: &Cell<u64>, batches: &AtomicU64) -> Self {
        let mut number = numbers.get();
        if number.is_multiple_of(BATCH) {
            number = batch(batches.fetch_add(1, Ordering::Relaxed)).start;
        }
        numbers.set(number + 1);
        Self(number)
    }

    /// Returns the reference as a number, which is never 0.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// Restores a reference from [`Reference::number`].
    pub(crate) fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// Returns the numbers of a batch. WHY: not the first number, because 0 is not a valid reference.
pub(crate) fn batch(batch: u64) -> Range<u64> {
    let first = batch.wrapping_mul(BATCH);
    (first | 1)..first.saturating_add(BATCH)
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
