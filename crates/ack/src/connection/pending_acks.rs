//! Pending acks of a connection. Pure.
//!
//! Owned by the process that writes the acks of one connection. It adds handled messages in the
//! order of the stream and takes an ack when its strategy requires one. Reads no clock and does no
//! I/O.
//!
//! INVARIANT: the acks taken cover exactly the messages added, and the last ack names the newest
//! message.
//!
//! COST: 56 bytes and a few instructions. Allocates only when more than 2^32 − 1 messages are
//! pending.

use std::collections::VecDeque;

use crate::wire::frames::FrameSummary;
use crate::wire::{Ack, Id, REFUSED};

/// Maximum number of messages covered by one ack: `skipped` is one less, and never [`REFUSED`].
const MAX_PER_ACK: u64 = REFUSED as u64;

/// Pending acks of one connection.
///
/// ```
/// use purlin_ack::pending_acks::PendingAcks;
/// use purlin_ack::wire::{Ack, Id};
///
/// let mut pending = PendingAcks::default();
/// for id in 0..50 {
///     pending.add_one(Id::from(id));
/// }
/// assert_eq!(pending.count(), 50);
/// assert_eq!(pending.take(), Some(Ack { id: Id::from(49), skipped: 49 }));
/// assert_eq!(pending.take(), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct PendingAcks {
    newest: Option<Id>,
    /// Messages up to `newest` that `full` does not cover.
    count: u64,
    /// Acks that cover the maximum number of messages.
    full: VecDeque<Ack>,
}

impl PendingAcks {
    /// Adds the messages of a block. They must follow all messages added before.
    pub fn add(&mut self, block: FrameSummary) {
        if let Some(newest) = block.newest {
            self.owe(block.frames, newest);
        }
    }

    /// Adds a message. It must follow all messages added before.
    pub fn add_one(&mut self, id: Id) {
        self.owe(1, id);
    }

    /// Returns the number of pending messages.
    #[must_use]
    pub fn count(&self) -> u64 {
        let full = self.full.iter().map(|ack| u64::from(ack.skipped) + 1);
        self.count + full.sum::<u64>()
    }

    /// Returns the next ack to send, or `None` if no message is pending.
    ///
    /// Call it until it returns `None`: one ack covers at most 2^32 − 1 messages, so several acks
    /// may be due.
    #[must_use]
    pub fn take(&mut self) -> Option<Ack> {
        self.full.pop_front().or_else(|| self.cut())
    }

    fn owe(&mut self, count: u64, newest: Id) {
        if self.count + count > MAX_PER_ACK {
            let ack = self.cut();
            self.full.extend(ack);
        }
        self.count += count;
        self.newest = Some(newest);
    }

    fn cut(&mut self) -> Option<Ack> {
        // WHY `min`: a block of more than 48 GiB may hold more messages than one ack covers.
        let count = self.count.min(MAX_PER_ACK);
        let skipped = u32::try_from(count.checked_sub(1)?).ok()?;
        self.count -= count;
        Some(Ack { id: self.newest?, skipped })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(frames: u64, newest: u64) -> FrameSummary {
        FrameSummary { frames, newest: Some(Id::from(newest)), used: 0 }
    }

    #[test]
    fn pending_acks_are_56_bytes() {
        assert_eq!(size_of::<PendingAcks>(), 56);
    }

    #[test]
    fn take_returns_none_if_no_message_is_pending() {
        let mut pending = PendingAcks::default();
        assert_eq!((pending.take(), pending.count()), (None, 0));
        pending.add(FrameSummary::default());
        assert_eq!(pending.take(), None);
    }

    #[test]
    fn full_ack_is_split_before_overflow() {
        let mut pending = PendingAcks::default();
        pending.add(block(MAX_PER_ACK - 1, MAX_PER_ACK - 2));
        pending.add_one(Id::from(MAX_PER_ACK - 1));
        pending.add_one(Id::from(MAX_PER_ACK));
        assert_eq!(pending.count(), MAX_PER_ACK + 1);
        assert_eq!(
            pending.take(),
            Some(Ack { id: Id::from(MAX_PER_ACK - 1), skipped: u32::MAX - 1 })
        );
        assert_eq!(pending.take(), Some(Ack { id: Id::from(MAX_PER_ACK), skipped: 0 }));
        assert_eq!(pending.take(), None);
    }

    proptest! {
        #[test]
        fn acks_cover_all_pending_messages_without_gap(
            blocks in prop::collection::vec((prop_oneof![0..100u64, MAX_PER_ACK - 5..=MAX_PER_ACK], any::<bool>()), 0..30),
        ) {
            let mut pending = PendingAcks::default();
            // Ids are consecutive from 0, so the newest id is one less than the number of messages
            // sent.
            let (mut sent, mut acknowledged) = (0, 0);
            for (count, take) in blocks {
                sent += count;
                pending.add(if count == 0 { FrameSummary::default() } else { block(count, sent - 1) });
                prop_assert_eq!(pending.count(), sent - acknowledged);
                while let Some(ack) = take.then(|| pending.take()).flatten() {
                    prop_assert!(ack.skipped != REFUSED);
                    acknowledged += u64::from(ack.skipped) + 1;
                    prop_assert_eq!(ack.id.number() + 1, acknowledged);
                }
                prop_assert!(!take || acknowledged == sent);
            }
        }
    }
}
