//! What a connection has to acknowledge. Pure.
//!
//! Belongs to whoever writes the acks of one connection: it adds what has been
//! taken responsibility for, in the order of the stream, and takes an ack when
//! its strategy says so. Never looks at a clock, never sends anything.
//!
//! INVARIANT: the acks taken cover as many messages as were added, no more and
//! no less, and the last of them names the newest.
//!
//! COST: 56 bytes, a few instructions. It allocates when more than four
//! thousand million messages are owed, and not before.

use std::collections::VecDeque;

use crate::frames::Skimmed;
use crate::wire::{Ack, Id, REFUSED};

/// The most that one ack covers: `skipped` is one less, and never [`REFUSED`].
const MOST: u64 = REFUSED as u64;

/// The messages that are not acknowledged yet.
///
/// ```
/// use purlin_ack::owed::Owed;
/// use purlin_ack::wire::{Ack, Id};
///
/// let mut owed = Owed::default();
/// for id in 0..50 {
///     owed.add_one(Id::from(id));
/// }
/// assert_eq!(owed.count(), 50);
/// assert_eq!(owed.take(), Some(Ack { id: Id::from(49), skipped: 49 }));
/// assert_eq!(owed.take(), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Owed {
    newest: Option<Id>,
    /// Up to `newest`, since the last of `full`.
    count: u64,
    /// Acks that can cover no more.
    full: VecDeque<Ack>,
}

impl Owed {
    /// Owes the messages of a block, which came after all that were added before.
    pub fn add(&mut self, block: Skimmed) {
        if let Some(newest) = block.newest {
            self.owe(block.frames, newest);
        }
    }

    /// Owes a message, which came after all that were added before.
    pub fn add_one(&mut self, id: Id) {
        self.owe(1, id);
    }

    /// How many messages are owed.
    #[must_use]
    pub fn count(&self) -> u64 {
        let full = self.full.iter().map(|ack| u64::from(ack.skipped) + 1);
        self.count + full.sum::<u64>()
    }

    /// The next ack to send; nothing if nothing is owed.
    ///
    /// To be asked until there is none: where more messages are owed than the
    /// number in an ack can say, there are several.
    #[must_use]
    pub fn take(&mut self) -> Option<Ack> {
        self.full.pop_front().or_else(|| self.cut())
    }

    fn owe(&mut self, count: u64, newest: Id) {
        if self.count + count > MOST {
            let ack = self.cut();
            self.full.extend(ack);
        }
        self.count += count;
        self.newest = Some(newest);
    }

    fn cut(&mut self) -> Option<Ack> {
        // WHY `min`: a block of more than 48 GiB has more messages than one ack covers.
        let count = self.count.min(MOST);
        let skipped = u32::try_from(count.checked_sub(1)?).ok()?;
        self.count -= count;
        Some(Ack { id: self.newest?, skipped })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(frames: u64, newest: u64) -> Skimmed {
        Skimmed { frames, newest: Some(Id::from(newest)), used: 0 }
    }

    #[test]
    fn it_takes_the_room_that_it_is_said_to_take() {
        assert_eq!(size_of::<Owed>(), 56);
    }

    #[test]
    fn nothing_is_acknowledged_that_is_not_owed() {
        let mut owed = Owed::default();
        assert_eq!((owed.take(), owed.count()), (None, 0));
        owed.add(Skimmed::default());
        assert_eq!(owed.take(), None);
    }

    #[test]
    fn an_ack_ends_where_one_more_message_would_overflow_it() {
        let mut owed = Owed::default();
        owed.add(block(MOST - 1, MOST - 2));
        owed.add_one(Id::from(MOST - 1));
        owed.add_one(Id::from(MOST));
        assert_eq!(owed.count(), MOST + 1);
        assert_eq!(owed.take(), Some(Ack { id: Id::from(MOST - 1), skipped: u32::MAX - 1 }));
        assert_eq!(owed.take(), Some(Ack { id: Id::from(MOST), skipped: 0 }));
        assert_eq!(owed.take(), None);
    }

    proptest! {
        #[test]
        fn acks_cover_what_was_owed_and_leave_no_gap(
            blocks in prop::collection::vec((prop_oneof![0..100u64, MOST - 5..=MOST], any::<bool>()), 0..30),
        ) {
            let mut owed = Owed::default();
            // As the client counts: the number of the newest is one less than how many there were.
            let (mut sent, mut acknowledged) = (0, 0);
            for (count, take) in blocks {
                sent += count;
                owed.add(if count == 0 { Skimmed::default() } else { block(count, sent - 1) });
                prop_assert_eq!(owed.count(), sent - acknowledged);
                while let Some(ack) = take.then(|| owed.take()).flatten() {
                    prop_assert!(ack.skipped != REFUSED);
                    acknowledged += u64::from(ack.skipped) + 1;
                    prop_assert_eq!(ack.id.number() + 1, acknowledged);
                }
                prop_assert!(!take || acknowledged == sent);
            }
        }
    }
}
