//! Queue of messages to forward, and flow control. Pure.
//!
//! Used by the gateway process. Blocks arrive, at most one per connection at a time, and are split into *pieces* as far
//! as the credit permits, round robin, so that no connection delays another. A piece is kept until it is confirmed and
//! can be resent until then. This module sends nothing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use purlin_ack::wire::SizeOrder;

use super::terms::{Piece, Source};

/// Largest piece in messages and bytes. A larger message is a piece alone.
const MOST: (u32, usize) = (256, 64 << 10);

/// Limit of unconfirmed bytes, unless only one piece is unconfirmed.
const BYTES: usize = 16 << 20;

/// When the sender of a block gets its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AckAfter {
    /// When the gateway has sent the block.
    Received,
    /// When the whole block is confirmed.
    Confirmed,
}

/// Blocks, each with an `R` to reply to.
pub(super) struct InFlight<R> {
    after: AckAfter,
    credit: u32,
    blocks: HashMap<u64, Block<R>>,
    /// Blocks that are not completely split into pieces, the next first.
    queue: VecDeque<u64>,
    pieces: BTreeMap<u64, Sent>,
    /// Messages and bytes in unconfirmed pieces.
    sent: (u32, usize),
    blocks_ever: u64,
    pieces_ever: u64,
}

/// Complete messages of one connection, received together, as far as they are not confirmed.
struct Block<R> {
    bytes: Arc<Vec<u8>>,
    order: SizeOrder,
    source: Arc<Source>,
    /// Bytes already split into pieces.
    at: usize,
    /// Number of unconfirmed pieces.
    open: usize,
    reply: Option<R>,
}

/// An unconfirmed piece: a range of bytes in a block.
struct Sent {
    block: u64,
    place: Range<usize>,
    messages: u32,
}

impl<R> Block<R> {
    fn is_in_pieces(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn piece(&self, place: Range<usize>) -> Piece {
        let (source, bytes) = (Arc::clone(&self.source), Arc::clone(&self.bytes));
        Piece { source, bytes, place, order: self.order }
    }
}

impl<R> InFlight<R> {
    pub(super) fn new(after: AckAfter, credit: u32) -> Self {
        Self {
            after,
            credit,
            blocks: HashMap::new(),
            queue: VecDeque::new(),
            pieces: BTreeMap::new(),
            sent: (0, 0),
            blocks_ever: 0,
            pieces_ever: 0,
        }
    }

    /// Sets the limit of unconfirmed messages. With 0, nothing more is sent.
    pub(super) fn set_credit(&mut self, credit: u32) {
        self.credit = credit;
    }

    /// Returns the number of unconfirmed messages.
    pub(super) fn unconfirmed(&self) -> u32 {
        self.sent.0
    }

    /// Queues a block of complete messages.
    pub(super) fn take(&mut self, bytes: Vec<u8>, order: SizeOrder, source: Arc<Source>, reply: R) {
        self.blocks_ever += 1;
        let block =
            Block { bytes: Arc::new(bytes), order, source, at: 0, open: 0, reply: Some(reply) };
        self.blocks.insert(self.blocks_ever, block);
        self.queue.push_back(self.blocks_ever);
    }

    /// Makes the next piece, if the credit permits. Returns its number and a reply that is due now.
    pub(super) fn next(&mut self) -> Option<(u64, Option<R>)> {
        let key = *self.queue.front()?;
        let block = self.blocks.get_mut(&key)?;
        let messages_left = self.credit.saturating_sub(self.sent.0).min(MOST.0);
        let bytes_left = BYTES.saturating_sub(self.sent.1);
        let (mut messages, mut used) = (0, 0);
        let rest = block.piece(block.at..block.bytes.len());
        let mut frames = rest.frames();
        while messages < messages_left && frames.next().is_some() {
            // WHY: with nothing unconfirmed, the first message goes alone, whatever its size.
            let alone = messages == 0 && (self.pieces.is_empty() || frames.used() <= bytes_left);
            if !alone && frames.used() > bytes_left.min(MOST.1) {
                break;
            }
            (messages, used) = (messages + 1, frames.used());
        }
        if messages == 0 {
            return None;
        }
        let place = block.at..block.at + used;
        (block.at, block.open) = (place.end, block.open + 1);
        self.queue.pop_front();
        let over = block.is_in_pieces();
        if !over {
            self.queue.push_back(key);
        }
        let answered = over && self.after == AckAfter::Received;
        let reply = block.reply.take_if(|_| answered);
        self.pieces_ever += 1;
        self.sent = (self.sent.0 + messages, self.sent.1 + used);
        self.pieces.insert(self.pieces_ever, Sent { block: key, place, messages });
        Some((self.pieces_ever, reply))
    }

    /// Returns a piece and its number of messages.
    pub(super) fn piece(&self, number: u64) -> Option<(Piece, u32)> {
        let sent = self.pieces.get(&number)?;
        let block = self.blocks.get(&sent.block)?;
        Some((block.piece(sent.place.clone()), sent.messages))
    }

    /// Returns the unconfirmed pieces, oldest first.
    pub(super) fn pieces(&self) -> Vec<u64> {
        self.pieces.keys().copied().collect()
    }

    /// Removes a confirmed piece. Returns its number of messages and a reply that is due now. Returns `None` if the
    /// piece is unknown or already confirmed.
    pub(super) fn confirmed(&mut self, number: u64) -> Option<(u32, Option<R>)> {
        let piece = self.pieces.remove(&number)?;
        self.sent.0 -= piece.messages;
        self.sent.1 -= piece.place.len();
        let block = self.blocks.get_mut(&piece.block)?;
        block.open -= 1;
        let reply = if block.open == 0 && block.is_in_pieces() {
            self.blocks.remove(&piece.block).and_then(|block| block.reply)
        } else {
            None
        };
        Some((piece.messages, reply))
    }

    /// Discards the unsent rest of blocks whose senders no longer wait.
    pub(super) fn give_up_unwanted(&mut self, is_wanted: impl Fn(&R) -> bool) {
        let unwanted = |key: &u64| {
            let reply = self.blocks.get(key).and_then(|block| block.reply.as_ref());
            reply.is_some_and(|reply| !is_wanted(reply))
        };
        let (given_up, queue) = std::mem::take(&mut self.queue).into_iter().partition(unwanted);
        self.queue = queue;
        self.cut(given_up);
    }

    /// Discards the unsent rest of all blocks. Returns the pending replies.
    pub(super) fn give_up(&mut self) -> Vec<R> {
        let waiting = self.blocks.values_mut().filter_map(|block| block.reply.take()).collect();
        let queue = std::mem::take(&mut self.queue);
        self.cut(queue);
        waiting
    }

    /// Discards the unsent rest of these blocks.
    fn cut(&mut self, queue: VecDeque<u64>) {
        for key in queue {
            if let Some(block) = self.blocks.get_mut(&key) {
                block.at = block.bytes.len();
                if block.open == 0 {
                    self.blocks.remove(&key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_ack::wire::{Head, Id};

    fn source() -> Arc<Source> {
        Arc::new(Source::new(1, ([127, 0, 0, 1], 80).into(), None))
    }

    /// Returns a block of messages of these sizes, numbered from `first`.
    fn block(first: u64, sizes: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (id, size) in (first..).zip(sizes) {
            let head = Head { id: Id::from(id), size: *size as u32 };
            bytes.extend(head.to_bytes(SizeOrder::Little));
            bytes.extend(vec![b'x'; *size]);
        }
        bytes
    }

    fn ids(of: &InFlight<&str>, piece: u64) -> Vec<u64> {
        let (piece, messages) = of.piece(piece).expect("it is unconfirmed");
        let ids: Vec<_> = piece.frames().map(|frame| frame.id.number()).collect();
        assert_eq!(ids.len() as u32, messages);
        ids
    }

    fn with(
        after: AckAfter,
        credit: u32,
        blocks: &[(&'static str, u64, &[usize])],
    ) -> InFlight<&'static str> {
        let mut in_flight = InFlight::new(after, credit);
        for (who, first, sizes) in blocks {
            in_flight.take(block(*first, sizes), SizeOrder::Little, source(), *who);
        }
        in_flight
    }

    #[test]
    fn unconfirmed_messages_stay_within_the_credit_and_connections_take_turns() {
        let mut one = with(AckAfter::Confirmed, 3, &[("a", 1, &[1; 4]), ("b", 11, &[1; 2])]);
        assert_eq!(one.next(), Some((1, None)));
        assert_eq!((ids(&one, 1), one.next()), (vec![1, 2, 3], None));
        assert_eq!(one.confirmed(1), Some((3, None)));
        assert_eq!((one.next(), one.next(), one.next()), (Some((2, None)), Some((3, None)), None));
        assert_eq!((ids(&one, 2), ids(&one, 3)), (vec![11, 12], vec![4]));
        assert_eq!(one.confirmed(3), Some((1, Some("a"))));
        assert_eq!(one.confirmed(3), None);
        assert_eq!((one.confirmed(2), one.unconfirmed()), (Some((2, Some("b"))), 0));
        assert!(one.blocks.is_empty());
    }

    #[test]
    fn ack_after_received_replies_when_the_last_message_is_in_a_piece() {
        let mut one = with(AckAfter::Received, 2, &[("a", 1, &[1; 3])]);
        assert_eq!(one.next(), Some((1, None)));
        assert_eq!(one.confirmed(1), Some((2, None)));
        assert_eq!(one.next(), Some((2, Some("a"))));
        assert_eq!((one.pieces(), one.confirmed(2)), (vec![2], Some((1, None))));
    }

    #[test]
    fn nothing_is_sent_without_credit_and_an_oversized_message_goes_alone() {
        let mut one = with(AckAfter::Confirmed, 0, &[("a", 1, &[BYTES + 1, 1]), ("b", 7, &[1])]);
        assert_eq!(one.next(), None);
        one.set_credit(100);
        assert_eq!(one.next(), Some((1, None)));
        assert_eq!((ids(&one, 1), one.next()), (vec![1], None));
        assert_eq!(one.confirmed(1), Some((1, None)));
        assert_eq!((one.next(), one.next()), (Some((2, None)), Some((3, None))));
    }

    #[test]
    fn the_unsent_rest_of_abandoned_blocks_is_discarded() {
        let mut one = with(AckAfter::Confirmed, 2, &[("a", 1, &[1; 3]), ("b", 7, &[1])]);
        assert_eq!(one.next(), Some((1, None)));
        one.give_up_unwanted(|who| *who != "a");
        assert_eq!(one.confirmed(1), Some((2, Some("a"))));
        assert_eq!((one.next(), ids(&one, 2)), (Some((2, None)), vec![7]));
        one.take(block(9, &[1]), SizeOrder::Little, source(), "c");
        let mut replies = one.give_up();
        replies.sort_unstable();
        assert_eq!((replies, one.next()), (vec!["b", "c"], None));
        assert_eq!(one.confirmed(2), Some((1, None)));
        assert!(one.blocks.is_empty());
    }
}
