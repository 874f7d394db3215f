//! The right to answer a call, once.

use std::fmt;

use purlin_raw::ReplyTo;

/// The right to answer a call, once. A message that asks for something carries one.
///
/// Dropping it tells the caller that no answer will come. An answer to a caller that has given up
/// is dropped and never seen as a message (C1).
///
/// COST: one word; answering is one atomic operation, and one more to wake the caller.
pub struct Reply<T> {
    to: ReplyTo<T>,
}

impl<T> Reply<T> {
    pub(crate) fn new(to: ReplyTo<T>) -> Self {
        Self { to }
    }

    /// Answers the call.
    pub fn send(self, answer: T) {
        // C1: whoever no longer waits does not get it.
        drop(self.to.send(answer));
    }

    /// Whether the caller still waits: a glance that may be old at once.
    pub fn is_wanted(&self) -> bool {
        self.to.is_wanted()
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").finish_non_exhaustive()
    }
}
