//! Frame parser: iterates over or counts the whole messages in a block of bytes. Pure.
//!
//! Call [`Frames`] or [`summarize`] on a block that was read, from any thread. Both copy and
//! allocate nothing: a payload is a slice of the block. The caller keeps an incomplete message at
//! the end of the block (`read_buffer`). Both stop at a message whose size exceeds the limit, after
//! the messages before it; [`needed`] then returns the error.
//!
//! The only parser state is the position in the block, so splitting a stream at any point yields
//! the same messages.
//!
//! COST: a few instructions per message. The position of a message depends on the size field of the
//! previous one, so a plain scan waits for each load. [`summarize`] predicts that a message is as
//! long as the previous one, which takes the load off the critical path. Measured on an EPYC, best
//! of 30, blocks of 64 KiB and 1 MiB: 0.6 ns per message of 17 bytes if all have the same length
//! (1.7 without the prediction), 2.6 ns in the worst case, two lengths in random order (1.7);
//! [`Frames`] takes 2.0 ns.

use std::fmt;

use super::encoding::{HEAD, Head, Id, SizeOrder};

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Id chosen by the client, echoed in the ack.
    pub id: Id,
    /// Payload, borrowed from the block.
    pub payload: &'a [u8],
}

/// Iterator over the whole messages of a block, in order. Ends before a message that is incomplete
/// or larger than the limit.
///
/// ```
/// use purlin_ack::frames::Frames;
/// use purlin_ack::wire::SizeOrder;
///
/// let block = b"\x01\0\0\0\0\0\0\0\x05\0\0\0hello\x02\0\0\0\0\0\0\0\x05\0\0\0he";
/// let mut frames = Frames::new(block, SizeOrder::Little, 1000);
/// for frame in &mut frames {
///     assert_eq!((frame.id.number(), frame.payload), (1, &b"hello"[..]));
/// }
/// assert_eq!(frames.used(), 17);
/// assert_eq!(frames.needed(), Ok(3));
/// ```
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    block: &'a [u8],
    used: usize,
    order: SizeOrder,
    limit: u32,
}

impl<'a> Frames<'a> {
    /// Parses a block that starts at a message boundary. `limit` is the largest payload in bytes.
    #[must_use]
    pub fn new(block: &'a [u8], order: SizeOrder, limit: u32) -> Self {
        Self { block, used: 0, order, limit }
    }

    /// Returns the length in bytes of the messages yielded so far.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used
    }

    /// Returns [`needed`] for the rest of the block.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the next message exceeds the limit.
    pub fn needed(&self) -> Result<usize, TooLarge> {
        needed(&self.block[self.used..], self.order, self.limit)
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        let (head, behind) = self.block[self.used..].split_first_chunk()?;
        let Head { id, size } = Head::from_bytes(*head, self.order);
        if size > self.limit {
            return None;
        }
        let payload = behind.get(..size as usize)?;
        self.used += HEAD + payload.len();
        Some(Frame { id, payload })
    }
}

impl std::iter::FusedIterator for Frames<'_> {}

/// Returns how many bytes are missing until the next message is complete, or 0 if it is complete.
///
/// If the head is incomplete, returns the number of bytes missing from the head.
///
/// ```
/// use purlin_ack::frames::needed;
/// use purlin_ack::wire::SizeOrder;
///
/// assert_eq!(needed(b"", SizeOrder::Little, 1000), Ok(12));
/// assert_eq!(needed(b"\x01\0\0\0\0\0\0\0\x05\0\0\0he", SizeOrder::Little, 1000), Ok(3));
/// let refused = needed(b"\x01\0\0\0\0\0\0\0\x05\0\0\0", SizeOrder::Big, 1000).unwrap_err();
/// assert_eq!(refused.to_string(), "message 1 has a payload of 83886080 bytes, over the limit of 1000");
/// ```
///
/// # Errors
/// Returns [`TooLarge`] if the message exceeds the limit.
pub fn needed(rest: &[u8], order: SizeOrder, limit: u32) -> Result<usize, TooLarge> {
    let Some((head, behind)) = rest.split_first_chunk() else {
        return Ok(HEAD - rest.len());
    };
    let Head { id, size } = Head::from_bytes(*head, order);
    if size > limit {
        return Err(TooLarge { id, size, limit });
    }
    Ok((size as usize).saturating_sub(behind.len()))
}

/// A message whose payload exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Id of the message.
    pub id: Id,
    /// Payload size in bytes, from the head.
    pub size: u32,
    /// Largest accepted payload in bytes.
    pub limit: u32,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, size, limit } = self;
        write!(f, "message {id} has a payload of {size} bytes, over the limit of {limit}")
    }
}

impl std::error::Error for TooLarge {}

/// Result of [`summarize`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameSummary {
    /// Number of whole messages.
    pub frames: u64,
    /// Id of the last whole message.
    pub newest: Option<Id>,
    /// Length of the whole messages in bytes.
    pub used: usize,
}

/// Counts the whole messages of a block: the same messages as [`Frames`], without their payloads.
///
/// ```
/// use purlin_ack::frames::{FrameSummary, summarize};
/// use purlin_ack::wire::{Id, SizeOrder};
///
/// let block = b"\x01\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0a\x03\0\0";
/// let found = summarize(block, SizeOrder::Little, 1000);
/// assert_eq!(found, FrameSummary { frames: 2, newest: Some(Id::from(2)), used: 25 });
/// ```
#[must_use]
pub fn summarize(block: &[u8], order: SizeOrder, limit: u32) -> FrameSummary {
    let mut found = FrameSummary::default();
    let mut rest = block;
    let mut last: &[u8] = &[];
    while let Some((head, behind)) = rest.split_first_chunk::<HEAD>() {
        let size = Head::from_bytes(*head, order).size;
        if size > limit || behind.len() < size as usize {
            break;
        }
        let length = HEAD + size as usize;
        (last, rest) = rest.split_at(length);
        found.frames += 1;
        // WHY: `length` is known before this loop, so the load of the size only feeds a branch.
        while let Some((next, behind)) = rest.split_at_checked(length)
            && next[8..HEAD] == head[8..]
        {
            (last, rest) = (next, behind);
            found.frames += 1;
        }
    }
    found.newest = last.first_chunk().map(|id| Id(*id));
    found.used = block.len() - rest.len();
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(id: u64, payload: &[u8], order: SizeOrder) -> Vec<u8> {
        let size = payload.len().try_into().expect("a payload of a test is small");
        [&Head { id: Id::from(id), size }.to_bytes(order), payload].concat()
    }

    fn all(block: &[u8], order: SizeOrder, limit: u32) -> (Vec<(u64, Vec<u8>)>, FrameSummary) {
        let mut frames = Frames::new(block, order, limit);
        let given = (&mut frames).map(|one| (one.id.number(), one.payload.to_vec())).collect();
        let skimmed = summarize(block, order, limit);
        assert_eq!(skimmed.used, frames.used());
        (given, skimmed)
    }

    fn either_order() -> impl Strategy<Value = SizeOrder> {
        prop_oneof![Just(SizeOrder::Big), Just(SizeOrder::Little)]
    }

    /// Payloads of many lengths, including runs of equal length.
    fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let length = prop_oneof![Just(0usize), Just(1), Just(5), Just(99), Just(100), 0..300usize];
        let run = (length, 1..6usize).prop_map(|(length, times)| vec![length; times]);
        prop::collection::vec(run, 0..8).prop_flat_map(|runs| {
            let lengths = runs.concat();
            lengths
                .into_iter()
                .map(|one| prop::collection::vec(any::<u8>(), one))
                .collect::<Vec<_>>()
        })
    }

    #[test]
    fn a_message_split_at_any_byte_is_given_once_and_whole() {
        let stream =
            [message(0, b"", SizeOrder::Big), message(1, b"hello", SizeOrder::Big)].concat();
        for end in 0..=stream.len() {
            let (given, skimmed) = all(&stream[..end], SizeOrder::Big, 5);
            let whole = usize::from(end >= 12) + usize::from(end >= 29);
            assert_eq!(given.len(), whole, "{end} bytes");
            assert_eq!(skimmed.frames, whole as u64);
            let due = match end {
                0..12 => 12 - end,
                12..24 => 24 - end,
                24..29 => 29 - end,
                _ => 12,
            };
            assert_eq!(
                needed(&stream[skimmed.used..end], SizeOrder::Big, 5),
                Ok(due),
                "{end} bytes"
            );
        }
    }

    #[test]
    fn size_over_limit_is_refused_after_earlier_messages_and_limit_itself_is_accepted() {
        for order in [SizeOrder::Big, SizeOrder::Little] {
            let stream = [message(7, b"12345", order), message(8, b"123456", order)].concat();
            let mut frames = Frames::new(&stream, order, 5);
            assert_eq!(frames.by_ref().map(|one| one.id.number()).collect::<Vec<_>>(), [7]);
            let refused = TooLarge { id: Id::from(8), size: 6, limit: 5 };
            assert_eq!(frames.needed(), Err(refused));
            assert_eq!(frames.next(), None);
            assert_eq!(summarize(&stream, order, 5).used, 17);
            // The size is known as soon as the head is complete, and not before.
            assert_eq!(needed(&stream[17..29], order, 5), Err(refused));
            assert_eq!(needed(&stream[17..28], order, 5), Ok(1));
        }
    }

    #[test]
    fn size_of_u32_max_waits_for_its_bytes() {
        let head = Head { id: Id::from(1), size: u32::MAX }.to_bytes(SizeOrder::Little);
        assert_eq!(needed(&head, SizeOrder::Little, u32::MAX), Ok(u32::MAX as usize));
        assert_eq!(all(&head, SizeOrder::Little, u32::MAX), (vec![], FrameSummary::default()));
    }

    proptest! {
        #[test]
        fn every_message_is_yielded_once_in_order_for_any_split(
            payloads in payloads(),
            order in either_order(),
            cuts in prop::collection::vec(0..2000usize, 0..20),
        ) {
            let mut stream = Vec::new();
            for (id, payload) in payloads.iter().enumerate() {
                stream.extend(message(id as u64, payload, order));
            }
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % (stream.len() + 1)).collect();
            cuts.push(stream.len());
            cuts.sort_unstable();
            let (mut start, mut next, mut counted) = (0, 0, 0);
            for cut in cuts {
                let block = &stream[start..cut];
                let mut frames = Frames::new(block, order, 300);
                for frame in &mut frames {
                    prop_assert_eq!(frame.id, Id::from(next as u64));
                    prop_assert_eq!(frame.payload, &payloads[next][..]);
                    next += 1;
                }
                let skimmed = summarize(block, order, 300);
                counted += skimmed.frames;
                prop_assert_eq!(counted, next as u64);
                prop_assert_eq!(skimmed.used, frames.used());
                if let Some(newest) = skimmed.newest {
                    prop_assert_eq!(newest, Id::from(next as u64 - 1));
                }
                // The needed bytes never exceed the bytes of the stream.
                let needed = frames.needed().expect("all payloads are within the limit");
                start += frames.used();
                prop_assert!(needed > 0 && (next == payloads.len() || cut + needed <= stream.len()));
            }
            prop_assert_eq!(next, payloads.len());
            prop_assert_eq!(start, stream.len());
        }

        #[test]
        fn skim_agrees_with_frames_on_any_bytes(
            block in prop::collection::vec(prop_oneof![4 => Just(0u8), 1 => any::<u8>()], 0..400),
            order in either_order(),
            limit in 0..300u32,
        ) {
            let (given, skimmed) = all(&block, order, limit);
            prop_assert_eq!(skimmed.frames, given.len() as u64);
            prop_assert_eq!(skimmed.newest.map(Id::number), given.last().map(|(id, _)| *id));
        }
    }
}
