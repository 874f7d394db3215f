//! The inbox of purlin: the code of `purlin-raw`.

use std::sync::Arc;

use purlin_raw::bare::{Inbox, InboxReceiver, inbox};

use super::{Queue, Receiver};

/// Inbox that installs shards under contention, or never.
pub(crate) struct Purlin<const SHARDS: bool>(Arc<Inbox>);

impl<const SHARDS: bool> Queue for Purlin<SHARDS> {
    type Receiver = InboxReceiver;

    fn new() -> (Arc<Self>, InboxReceiver) {
        let (inbox, receiver) = inbox(SHARDS);
        (Arc::new(Self(inbox)), receiver)
    }

    fn send(&self, message: u64, sender: u32) -> bool {
        self.0.send(message, sender)
    }
}

impl Receiver for InboxReceiver {
    fn receive(&mut self, f: impl FnMut(u64)) -> usize {
        self.receive(f)
    }

    fn sleep(&mut self) -> bool {
        self.sleep()
    }
}
