//! The right to answer a call, once.

use std::fmt;

use tokio::sync::oneshot;

/// The right to answer a call, once. A message that asks for something carries one.
///
/// Dropping it tells the caller that no answer will come. An answer to a caller that has given up
/// is dropped and never seen as a message (C1).
///
/// COST: one allocation per call.
pub struct Reply<T> {
    to: oneshot::Sender<T>,
}

impl<T> Reply<T> {
    pub(crate) fn new() -> (Self, oneshot::Receiver<T>) {
        let (to, from) = oneshot::channel();
        (Self { to }, from)
    }

    /// Answers the call.
    pub fn send(self, answer: T) {
        // C1: whoever no longer waits does not get it.
        drop(self.to.send(answer));
    }

    /// Whether the caller still waits: a glance that may be old at once.
    pub fn is_wanted(&self) -> bool {
        !self.to.is_closed()
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").finish_non_exhaustive()
    }
}
