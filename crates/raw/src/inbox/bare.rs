//! Inbox without a process: the state word, its shards and pooled envelopes.
//!
//! Exists only with `--cfg purlin_cores` and `--cfg purlin_measured`, for experiments that compare
//! this inbox with others on simulated and on real cores.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::inbox::header::{Class, Envelope};
use crate::inbox::shards::Contention;
use crate::inbox::state::{PushOutcome, SleepOutcome, State};

/// Inbox of `u64` messages.
#[derive(Debug)]
#[repr(align(64))]
pub struct Inbox(State);

/// Receiving end of an [`Inbox`]. At most one exists.
#[derive(Debug)]
pub struct InboxReceiver {
    inbox: Arc<Inbox>,
    contention: Contention,
    may_shard: bool,
}

/// Creates an inbox whose receiver is awake. Shards are never installed unless `may_shard`.
pub fn inbox(may_shard: bool) -> (Arc<Inbox>, InboxReceiver) {
    let inbox = Arc::new(Inbox(State::new()));
    let receiver =
        InboxReceiver { inbox: Arc::clone(&inbox), contention: Contention::new(), may_shard };
    (inbox, receiver)
}

impl Inbox {
    /// Sends a message as the sender with that number. Returns `true` if the receiver sleeps and the
    /// caller must wake it.
    #[inline]
    pub fn send(&self, message: u64, sender: u32) -> bool {
        let header = Envelope::seal(Class::Message, message);
        // SAFETY: the envelope is owned here, and pool blocks have addresses of 48 bits.
        let pushed = unsafe { self.0.push(header, Class::Message, || sender) };
        debug_assert_ne!(pushed, PushOutcome::Closed, "this inbox is never closed");
        pushed == PushOutcome::Schedule
    }
}

impl InboxReceiver {
    /// Takes all queued messages and passes each to `f`, oldest first. Returns their number.
    #[inline]
    pub fn receive(&mut self, mut f: impl FnMut(u64)) -> usize {
        if !self.may_shard {
            self.contention = Contention::new();
        }
        // SAFETY: `self` is the only receiver, and its caller does not use it while it sleeps.
        let arrived = unsafe { self.inbox.0.take(&mut self.contention) }.arrived;
        let mut rest = arrived.oldest;
        while let Some(header) = NonNull::new(rest) {
            // SAFETY: the batch is owned here, and `send` sealed every envelope of it.
            let (message, emptied) = unsafe {
                rest = header.as_ref().next();
                Envelope::<u64>::open(header)
            };
            drop(emptied);
            f(message);
        }
        arrived.len
    }

    /// Puts the receiver to sleep. Returns `false` if it has mail. After `true` the caller waits
    /// until a sender wakes it.
    #[inline]
    pub fn sleep(&mut self) -> bool {
        // SAFETY: as in `receive`.
        unsafe { self.inbox.0.sleep(false) == SleepOutcome::Asleep }
    }
}

impl Drop for InboxReceiver {
    fn drop(&mut self) {
        self.receive(|_| ());
    }
}
