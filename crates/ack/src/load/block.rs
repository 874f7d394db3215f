//! Prebuilt write: consecutive messages of which only the ids change.
//!
//! Belongs to one connection. COST: eight bytes per message for its id; the whole block is written
//! once, when it is created.

use std::ops::Range;

use crate::wire::{Head, Id, SizeOrder};

/// A write of consecutive messages, as far as it is not written.
#[derive(Debug)]
pub(super) struct Block {
    bytes: Vec<u8>,
    /// Length of a message in bytes.
    length: usize,
    /// Unwritten part.
    left: Range<usize>,
}

impl Block {
    /// Creates a block of `messages` messages with payloads of `size` bytes, which repeat `hello`.
    pub(super) fn new(messages: usize, size: u32, order: SizeOrder) -> Self {
        let head = Head { id: Id::from(0), size }.to_bytes(order);
        let payload = b"hello".iter().copied().cycle().take(size as usize);
        let message: Vec<u8> = head.into_iter().chain(payload).collect();
        Self { bytes: message.repeat(messages), length: message.len(), left: 0..0 }
    }

    /// Returns the capacity in messages.
    pub(super) fn messages(&self) -> u64 {
        (self.bytes.len() / self.length) as u64
    }

    /// Prepares a write of `messages` messages with consecutive ids from `first`.
    pub(super) fn fill(&mut self, first: u64, messages: u64) {
        let messages = messages.min(self.messages()) as usize;
        self.left = 0..messages * self.length;
        for (id, message) in
            (first..).zip(self.bytes[self.left.clone()].chunks_exact_mut(self.length))
        {
            if let Some(at) = message.first_chunk_mut() {
                *at = Id::from(id).0;
            }
        }
    }

    /// Returns the unwritten bytes.
    pub(super) fn left(&self) -> &[u8] {
        &self.bytes[self.left.clone()]
    }

    /// Records that `count` bytes were written.
    pub(super) fn wrote(&mut self, count: usize) {
        self.left.start = self.left.start.saturating_add(count).min(self.left.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::frames::Frames;

    #[test]
    fn block_contains_the_requested_messages_and_ids() {
        for order in [SizeOrder::Big, SizeOrder::Little] {
            for size in [0, 1, 5, 7, 100] {
                let mut block = Block::new(3, size, order);
                for (first, messages) in [(0, 3), (3, 2), (5, 1), (6, 3)] {
                    block.fill(first, messages);
                    let mut frames = Frames::new(block.left(), order, size);
                    for id in first..first + messages {
                        let frame = frames.next().expect("a message");
                        assert_eq!((frame.id, frame.payload.len()), (Id::from(id), size as usize));
                        assert!(
                            frame.payload.iter().zip(b"hello".iter().cycle()).all(|(a, b)| a == b)
                        );
                    }
                    assert_eq!(frames.used(), block.left().len());
                    block.wrote(frames.used() - 1);
                    assert_eq!(block.left().len(), 1);
                    block.wrote(1);
                    assert!(block.left().is_empty());
                }
            }
        }
    }
}
