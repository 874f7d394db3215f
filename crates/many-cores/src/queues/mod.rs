//! Queues from many senders to one receiver.

pub(crate) mod lock;
pub(crate) mod otp;
pub(crate) mod purlin;

use std::sync::Arc;

/// Sending side.
pub(crate) trait Queue: Send + Sync + Sized + 'static {
    /// Receiving side.
    type Receiver: Receiver;

    /// Creates a queue whose receiver is awake.
    fn new() -> (Arc<Self>, Self::Receiver);

    /// Sends a message as the sender with that number. Returns `true` if the receiver sleeps and the
    /// caller must wake it.
    fn send(&self, message: u64, sender: u32) -> bool;
}

/// Receiving side.
pub(crate) trait Receiver: Send + 'static {
    /// Takes all queued messages and passes each to `f`. Returns their number.
    fn receive(&mut self, f: impl FnMut(u64)) -> usize;

    /// Goes to sleep. Returns `false` if there is mail. After `true` the caller waits until a sender
    /// wakes it.
    fn sleep(&mut self) -> bool;
}
