//! Batch of whole messages passed to a handler. Pure.
//!
//! A strategy creates the batch; it borrows the connection's buffer until the handler returns.
//! COST: copies and allocates nothing, unless the handler [copies](Batch::take) it.

use crate::wire::frames::{FrameSummary, Frames, summarize};
use crate::wire::session::Level;
use crate::wire::{Id, SizeOrder};

/// One or more messages of one connection, in order of arrival.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    bytes: &'a [u8],
    found: FrameSummary,
    order: SizeOrder,
    level: Level,
    session: Option<Session>,
}

/// Identity of a client with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    /// Client identifier: 16 bytes that no other client has.
    pub client: [u8; 16],
    /// Epoch, increased by a client that restarts its numbering.
    pub epoch: u64,
}

/// An owned batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    bytes: Vec<u8>,
    order: SizeOrder,
    level: Level,
    session: Option<Session>,
}

impl<'a> Batch<'a> {
    /// Creates a batch of the messages that `summarize` found. `bytes` holds exactly these
    /// messages.
    pub(crate) fn new(
        bytes: &'a [u8],
        found: FrameSummary,
        order: SizeOrder,
        level: Level,
    ) -> Self {
        debug_assert_eq!(bytes.len(), found.used);
        Self { bytes, found, order, level, session: None }
    }

    /// Creates a batch of the first message in `waiting`. Returns `None` if it is incomplete.
    pub(crate) fn first(waiting: &'a [u8], order: SizeOrder, level: Level) -> Option<Self> {
        let mut frames = Frames::new(waiting, order, u32::MAX);
        let newest = frames.next()?.id;
        let used = frames.used();
        let found = FrameSummary { frames: 1, newest: Some(newest), used };
        Some(Self::new(&waiting[..used], found, order, level))
    }

    /// Returns the batch as part of a session.
    pub(crate) fn of(self, session: Session, level: Level) -> Self {
        Self { session: Some(session), level, ..self }
    }

    /// Returns the longest prefix whose ids satisfy the predicate.
    pub(crate) fn first_while(&self, mut holds: impl FnMut(Id) -> bool) -> FrameSummary {
        let mut found = FrameSummary::default();
        let mut frames = self.frames();
        while let Some(frame) = frames.next().filter(|frame| holds(frame.id)) {
            found.frames += 1;
            found.newest = Some(frame.id);
            found.used = frames.used();
        }
        found
    }

    /// Returns the batch without the prefix `first`, or `None` if nothing is left.
    pub(crate) fn without(self, first: FrameSummary) -> Option<Self> {
        let bytes = &self.bytes[first.used..];
        let frames = self.found.frames - first.frames;
        let found = FrameSummary { frames, newest: self.found.newest, used: bytes.len() };
        (frames > 0).then_some(Self { bytes, found, ..self })
    }

    /// Iterates over the messages.
    pub fn frames(&self) -> Frames<'a> {
        Frames::new(self.bytes, self.order, u32::MAX)
    }

    /// Returns the number of messages, the newest id and the length in bytes.
    pub fn summary(&self) -> FrameSummary {
        self.found
    }

    /// Returns the messages as received.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the byte order of the sizes in [`bytes`](Self::bytes).
    pub fn order(&self) -> SizeOrder {
        self.order
    }

    /// Returns the acknowledgement level of the messages.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns the identity of the client, or `None` if it has no session.
    pub fn session(&self) -> Option<Session> {
        self.session
    }

    /// Copies the batch into an owned block, for another process.
    ///
    /// COST: an allocation and a copy.
    #[must_use]
    pub fn take(self) -> Block {
        let Self { bytes, found: _, order, level, session } = self;
        Block { bytes: bytes.to_vec(), order, level, session }
    }
}

impl Block {
    /// Borrows the block as the batch it was copied from.
    #[must_use]
    pub fn batch(&self) -> Batch<'_> {
        let Self { bytes, order, level, session } = self;
        let found = summarize(bytes, *order, u32::MAX);
        Batch { bytes, found, order: *order, level: *level, session: *session }
    }

    /// Iterates over the messages.
    #[must_use]
    pub fn frames(&self) -> Frames<'_> {
        Frames::new(&self.bytes, self.order, u32::MAX)
    }

    /// Returns the messages as received.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the acknowledgement level of the messages.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns the identity of the client, or `None` if it has no session.
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
    fn batch_is_split_between_messages() {
        let bytes = three();
        let found = summarize(&bytes, SizeOrder::Big, 9);
        let batch = Batch::new(&bytes, found, SizeOrder::Big, Level::Handled);
        assert_eq!(batch.first_while(|id| id.number() < 1), FrameSummary::default());
        let two = FrameSummary { frames: 2, newest: Some(Id::from(2)), used: 26 };
        assert_eq!(batch.first_while(|id| id.number() < 3), two);
        assert_eq!(batch.first_while(|_| true), found);
        let third = batch.without(two).expect("one is left");
        assert_eq!(third.frames().map(|frame| frame.id.number()).collect::<Vec<_>>(), [3]);
        let skimmed = FrameSummary { frames: 1, newest: Some(Id::from(3)), used: 13 };
        assert_eq!(third.summary(), skimmed);
        assert!(batch.without(found).is_none());
    }

    #[test]
    fn first_message_forms_a_batch() {
        let bytes = three();
        let batch = Batch::first(&bytes, SizeOrder::Big, Level::Received).expect("it is whole");
        assert_eq!((batch.bytes(), batch.summary().frames), (&bytes[..13], 1));
        assert!(Batch::first(&bytes[..12], SizeOrder::Big, Level::Received).is_none());
    }

    #[test]
    fn block_equals_the_batch_it_was_copied_from() {
        let bytes = three();
        let session = Session { client: [7; 16], epoch: 3 };
        let found = summarize(&bytes, SizeOrder::Big, 9);
        let batch = Batch::new(&bytes, found, SizeOrder::Big, Level::Handled);
        let block = batch.of(session, Level::Durable).take();
        assert_eq!(block.batch().summary(), found);
        assert_eq!((block.level(), block.session()), (Level::Durable, Some(session)));
        assert_eq!(block.frames().map(|frame| frame.id.number()).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
