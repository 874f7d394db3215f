//! Reply handle: the right to answer a call, once.

use std::fmt;

use purlin_raw::ReplySender;

/// The right to answer a call, once. A request message carries one.
///
/// A server may hand it on to another process or task. The caller then waits for that one: it is not
/// informed of the end of the server, and gets the reply, the drop of the `Reply`, or its timeout (C1).
///
/// Dropping it informs the caller that no reply will come. A reply to a caller that has given up is
/// dropped and never seen as a message (C1).
///
/// COST: one word; replying is one atomic operation, and one more to wake the caller.
pub struct Reply<T> {
    to: ReplySender<T>,
}

impl<T> Reply<T> {
    pub(crate) fn new(to: ReplySender<T>) -> Self {
        Self { to }
    }

    /// Sends the reply.
    pub fn send(self, answer: T) {
        // C1: a caller that no longer waits does not get the reply.
        drop(self.to.send(answer));
    }

    /// Returns whether the caller still waits. The result may be outdated when it is returned.
    pub fn is_wanted(&self) -> bool {
        self.to.is_awaited()
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // WHY not `debug_struct`: the text is part of most calls that a server records.
        f.write_str("Reply { .. }")
    }
}
