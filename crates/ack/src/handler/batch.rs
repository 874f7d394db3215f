//! What a handler is given: whole messages, where they lie in the buffer. Pure.
//!
//! A batch is made by a strategy and lives until its handler has returned. COST:
//! nothing is copied or allocated, unless the handler [takes](Batch::take) it.

use crate::frames::{Frames, Skimmed, skim};
use crate::session::Level;
use crate::wire::{Id, SizeOrder};

/// Some messages of one connection, in the order in which they came; at least one.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    bytes: &'a [u8],
    found: Skimmed,
    order: SizeOrder,
    level: Level,
    session: Option<Session>,
}

/// Whose messages they are, if the client has a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// The client: 16 bytes that no other has.
    pub client: [u8; 16],
    /// Raised by a client that began to number its messages anew.
    pub epoch: u64,
}

/// A batch that belongs to whoever has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    bytes: Vec<u8>,
    order: SizeOrder,
    level: Level,
    session: Option<Session>,
}

impl<'a> Batch<'a> {
    /// The messages that were found in these bytes, which are theirs and no others.
    pub(crate) fn new(bytes: &'a [u8], found: Skimmed, order: SizeOrder, level: Level) -> Self {
        debug_assert_eq!(bytes.len(), found.used);
        Self { bytes, found, order, level, session: None }
    }

    /// The first message that waits, which is whole.
    pub(crate) fn first(waiting: &'a [u8], order: SizeOrder, level: Level) -> Option<Self> {
        let mut frames = Frames::new(waiting, order, u32::MAX);
        let newest = frames.next()?.id;
        let used = frames.used();
        let found = Skimmed { frames: 1, newest: Some(newest), used };
        Some(Self::new(&waiting[..used], found, order, level))
    }

    /// The same, of a session.
    pub(crate) fn of(self, session: Session, level: Level) -> Self {
        Self { session: Some(session), level, ..self }
    }

    /// The first messages, as long as that holds of their ids.
    pub(crate) fn first_while(&self, mut holds: impl FnMut(Id) -> bool) -> Skimmed {
        let mut found = Skimmed::default();
        let mut frames = self.frames();
        while let Some(frame) = frames.next().filter(|frame| holds(frame.id)) {
            found.frames += 1;
            found.newest = Some(frame.id);
            found.used = frames.used();
        }
        found
    }

    /// The batch without its first messages; `None` if these were all.
    pub(crate) fn without(self, first: Skimmed) -> Option<Self> {
        let bytes = &self.bytes[first.used..];
        let frames = self.found.frames - first.frames;
        let found = Skimmed { frames, newest: self.found.newest, used: bytes.len() };
        (frames > 0).then_some(Self { bytes, found, ..self })
    }

    /// The messages.
    pub fn frames(&self) -> Frames<'a> {
        Frames::new(self.bytes, self.order, u32::MAX)
    }

    /// How many they are, which is the newest, and how many bytes they have.
    pub fn skimmed(&self) -> Skimmed {
        self.found
    }

    /// The messages as they came.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How the sizes in [`bytes`](Self::bytes) are written.
    pub fn order(&self) -> SizeOrder {
        self.order
    }

    /// What an ack of them will say.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Whose they are, if the client has a session.
    pub fn session(&self) -> Option<Session> {
        self.session
    }

    /// The same in memory of its own, for another process.
    ///
    /// COST: a block of memory, and a copy.
    #[must_use]
    pub fn take(self) -> Block {
        let Self { bytes, found: _, order, level, session } = self;
        Block { bytes: bytes.to_vec(), order, level, session }
    }
}

impl Block {
    /// As it was in the connection's buffer.
    #[must_use]
    pub fn batch(&self) -> Batch<'_> {
        let Self { bytes, order, level, session } = self;
        let found = skim(bytes, *order, u32::MAX);
        Batch { bytes, found, order: *order, level: *level, session: *session }
    }

    /// The messages.
    #[must_use]
    pub fn frames(&self) -> Frames<'_> {
        Frames::new(&self.bytes, self.order, u32::MAX)
    }

    /// The messages as they came.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What an ack of them will say.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Whose they are, if the client has a session.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.session
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Head;

    fn three() -> Vec<u8> {
        let mut bytes = Vec::new();
        for id in 1..4_u64 {
            bytes.extend(Head { id: Id::from(id), size: 1 }.to_bytes(SizeOrder::Big));
            bytes.push(b'x');
        }
        bytes
    }

    #[test]
    fn a_batch_is_cut_between_two_messages() {
        let bytes = three();
        let found = skim(&bytes, SizeOrder::Big, 9);
        let batch = Batch::new(&bytes, found, SizeOrder::Big, Level::Handled);
        assert_eq!(batch.first_while(|id| id.number() < 1), Skimmed::default());
        let two = Skimmed { frames: 2, newest: Some(Id::from(2)), used: 26 };
        assert_eq!(batch.first_while(|id| id.number() < 3), two);
        assert_eq!(batch.first_while(|_| true), found);
        let third = batch.without(two).expect("one is left");
        assert_eq!(third.frames().map(|frame| frame.id.number()).collect::<Vec<_>>(), [3]);
        let skimmed = Skimmed { frames: 1, newest: Some(Id::from(3)), used: 13 };
        assert_eq!(third.skimmed(), skimmed);
        assert!(batch.without(found).is_none());
    }

    #[test]
    fn the_first_message_is_a_batch_of_its_own() {
        let bytes = three();
        let batch = Batch::first(&bytes, SizeOrder::Big, Level::Received).expect("it is whole");
        assert_eq!((batch.bytes(), batch.skimmed().frames), (&bytes[..13], 1));
        assert!(Batch::first(&bytes[..12], SizeOrder::Big, Level::Received).is_none());
    }

    #[test]
    fn a_block_is_the_batch_that_it_was_taken_from() {
        let bytes = three();
        let session = Session { client: [7; 16], epoch: 3 };
        let found = skim(&bytes, SizeOrder::Big, 9);
        let batch = Batch::new(&bytes, found, SizeOrder::Big, Level::Handled);
        let block = batch.of(session, Level::Durable).take();
        assert_eq!(block.batch().skimmed(), found);
        assert_eq!((block.level(), block.session()), (Level::Durable, Some(session)));
        assert_eq!(block.frames().map(|frame| frame.id.number()).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
