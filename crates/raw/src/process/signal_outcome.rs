//! Result of handling a signal in the receiver: nothing, a message in its place, or the end.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::inbox::header::{Envelope, Header};

/// Result of handling a signal in the receiver.
#[derive(Debug)]
pub enum SignalOutcome<M> {
    /// The signal yields no message.
    Nothing,
    /// The signal is replaced by a message, in its position.
    Message(ConvertedMessage<M>),
    /// The signal is replaced by a message that precedes all others but earlier priority messages.
    Priority(ConvertedMessage<M>),
    /// The process must end: nothing after the signal is received.
    Over,
}

/// Message that a signal has turned into, in its envelope.
#[derive(Debug)]
pub struct ConvertedMessage<M> {
    header: NonNull<Header>,
    message: PhantomData<M>,
}

impl<M> ConvertedMessage<M> {
    /// Seals a message, marked with a number by which [`Mailbox::withdraw`](crate::Mailbox::withdraw) finds it.
    pub fn new(message: M, mark: u64) -> Self {
        Self { header: Envelope::seal_marked(message, mark), message: PhantomData }
    }

    pub(super) fn into_header(self) -> NonNull<Header> {
        ManuallyDrop::new(self).header
    }
}

impl<M> Drop for ConvertedMessage<M> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the envelope, which holds an `M` and is not used again.
        drop(unsafe { Envelope::<M>::open(self.header) });
    }
}
