//! Read buffer of a connection. Pure.
//!
//! The reader of a connection owns it and loops: read into [`ReadBuffer::spare`], report the number
//! of bytes read with [`ReadBuffer::filled`], process [`ReadBuffer::waiting`], discard the
//! processed bytes with [`ReadBuffer::consume`], and request space for the bytes still needed. An
//! incomplete message stays in the buffer, contiguous. The buffer does no I/O.
//!
//! ```text
//! bytes   ┌ consumed ─┬─ waiting ─┬─ spare ───────────┐
//!         0         start        end             capacity
//! ```
//!
//! INVARIANT: `start <= end <= capacity`; the waiting bytes are the bytes filled in minus the bytes
//! consumed.
//!
//! *Moving.* The waiting bytes are moved to the front if they are no more than the consumed bytes
//! before them, or if the next message would not fit behind them. The bytes moved are therefore at
//! most the bytes consumed, plus one move per message. Reads of small messages reuse the front of
//! the buffer, which is in the cache.
//!
//! *Growth.* The buffer grows to the length of a message that does not fit, but to at most twice
//! the waiting bytes: a peer that announces a large message must send it before memory is allocated
//! for it. After [`SHRINK_AFTER`] reads that fit the usual size the buffer shrinks again.
//!
//! *Initial size.* A buffer created [to grow](ReadBuffer::growing), or
//! [released](ReadBuffer::release), starts small and takes the usual size after the first read that
//! fills the spare bytes. Ten thousand mostly idle clients do not need ten thousand large buffers.
//!
//! COST: no memory until the first read, then the initial size; one allocation each time it grows
//! or shrinks. A read takes at most the current size or the needed bytes, whichever is more.

/// Initial size of a buffer for reads of what is available, in bytes.
pub(crate) const INITIAL: usize = 4 << 10;
/// Number of consecutive reads that fit the usual size after which a grown buffer shrinks.
pub const SHRINK_AFTER: u32 = 64;

/// Read buffer of one connection.
///
/// ```
/// use std::io::Read;
/// use purlin_ack::read_buffer::ReadBuffer;
///
/// # fn main() -> std::io::Result<()> {
/// let mut socket = &b"one two th"[..];
/// let mut read = ReadBuffer::new(1024);
/// let count = socket.read(read.spare(1))?;
/// read.filled(count);
/// assert_eq!(read.waiting(), b"one two th");
/// read.consume(8);
///
/// let mut socket = &b"ree"[..];
/// let count = socket.read(read.spare(3))?;
/// read.filled(count);
/// assert_eq!(read.waiting(), b"three");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReadBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Capacity unless a message needs more: initially, at present, and after a read that filled
    /// the spare bytes.
    first: usize,
    now: usize,
    usual: usize,
    /// Size of the slice that `spare` returned last.
    room: usize,
    calm: u32,
}

impl ReadBuffer {
    /// Returns an empty buffer. `usual` is its capacity in bytes unless a message needs more, at
    /// least 1.
    #[must_use]
    pub fn new(usual: usize) -> Self {
        Self::growing(usual, usual)
    }

    /// Like [`new`](Self::new), with the capacity `first` (at most `usual`) until a read fills it.
    #[must_use]
    pub fn growing(first: usize, usual: usize) -> Self {
        let usual = usual.max(1);
        let first = first.clamp(1, usual);
        Self { bytes: Vec::new(), start: 0, end: 0, first, now: first, usual, room: 0, calm: 0 }
    }

    /// Returns the bytes received and not consumed.
    #[must_use]
    pub fn waiting(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the number of bytes allocated.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the slice to read into, which is never empty. `needed` is the number of bytes
    /// missing from the next message, as returned by [`needed`](crate::wire::frames::needed); the slice
    /// may be shorter or longer.
    pub fn spare(&mut self, needed: usize) -> &mut [u8] {
        self.spare_within(needed, usize::MAX)
    }

    /// Like [`spare`](Self::spare), with a capacity of at most `most` bytes, which must be more than
    /// are waiting.
    pub(crate) fn spare_within(&mut self, needed: usize, most: usize) -> &mut [u8] {
        let needed = needed.max(1);
        let (waiting, behind) = (self.end - self.start, self.bytes.len() - self.end);
        let due = waiting.saturating_add(needed);
        let capacity = self.wanted(due, waiting).min(most);
        if capacity != self.bytes.len() {
            self.resize(capacity);
        } else if waiting <= self.start || (behind < needed && due <= capacity) {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, waiting);
        }
        let most = self.end.saturating_add(needed.max(self.now)).min(self.bytes.len());
        self.room = most - self.end;
        &mut self.bytes[self.end..most]
    }

    /// Returns the capacity for the next read: the usual one, or more for the next message.
    pub(crate) fn demand(&self, needed: usize) -> usize {
        let waiting = self.end - self.start;
        let due = waiting.saturating_add(needed.max(1));
        // WHY the second branch: as in `wanted`, a peer must send before memory is allocated.
        if due <= self.now { self.now } else { self.now.max(due.min(2 * waiting)) }
    }

    /// Sets the usual capacity, if it is higher, to this one until a read fills it.
    pub(crate) fn economize(&mut self, capacity: usize) {
        self.now = self.now.min(capacity.max(1));
    }

    /// Records that `count` bytes were read into the slice of [`spare`](Self::spare).
    pub fn filled(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.bytes.len());
        if count >= self.room {
            self.now = self.usual;
        }
    }

    /// Discards the first `count` waiting bytes.
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Frees all memory except the waiting bytes, for an idle connection.
    pub fn release(&mut self) {
        self.now = self.first;
        self.resize(self.end - self.start);
    }

    /// Returns the capacity for a message of `due` bytes of which `waiting` have arrived.
    fn wanted(&mut self, due: usize, waiting: usize) -> usize {
        let now = self.bytes.len();
        if due > self.now {
            self.calm = 0;
            return now.max(self.now).max(due.min(2 * waiting));
        }
        self.calm = self.calm.saturating_add(1);
        if now <= self.now || self.calm > SHRINK_AFTER { self.now } else { now }
    }

    fn resize(&mut self, capacity: usize) {
        let mut bytes = vec![0; capacity];
        let waiting = self.end - self.start;
        bytes[..waiting].copy_from_slice(self.waiting());
        (self.bytes, self.start, self.end) = (bytes, 0, waiting);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::frames::{Frames, needed};
    use crate::wire::{HEAD, Head, Id, SizeOrder};

    fn fill(read: &mut ReadBuffer, needed: usize, from: &mut &[u8]) {
        let room = read.spare(needed);
        let count = room.len().min(from.len());
        room[..count].copy_from_slice(&from[..count]);
        *from = &from[count..];
        read.filled(count);
    }

    #[test]
    fn buffer_allocates_on_first_read_and_release_frees_memory() {
        let mut read = ReadBuffer::new(100);
        assert_eq!(read.capacity(), 0);
        fill(&mut read, 1, &mut &b"hello"[..]);
        assert_eq!(read.capacity(), 100);
        read.consume(2);
        read.release();
        assert_eq!((read.capacity(), read.waiting()), (3, &b"llo"[..]));
        fill(&mut read, 1, &mut &b"!"[..]);
        assert_eq!((read.capacity(), read.waiting()), (100, &b"llo!"[..]));
    }

    #[test]
    fn growing_buffer_is_small_until_a_read_fills_it_and_after_release() {
        let mut read = ReadBuffer::growing(10, 100);
        for _ in 0..2 {
            for _ in 0..3 {
                fill(&mut read, 1, &mut &[7; 9][..]);
                assert_eq!(read.capacity(), 10);
                read.consume(9);
            }
            fill(&mut read, 1, &mut &[7; 200][..]);
            assert_eq!((read.capacity(), read.waiting().len()), (10, 10));
            fill(&mut read, 1, &mut &[7; 200][..]);
            assert_eq!((read.capacity(), read.waiting().len()), (100, 100));
            read.consume(100);
            read.release();
        }
    }

    #[test]
    fn tail_is_moved_to_the_front() {
        let mut read = ReadBuffer::new(100);
        fill(&mut read, 1, &mut &[7; 100][..]);
        read.consume(95);
        assert_eq!(read.spare(12).len(), 95);
        assert_eq!(read.waiting(), [7; 5]);
        // A tail longer than the consumed bytes stays in place if the next message fits.
        fill(&mut read, 12, &mut &[7; 50][..]);
        read.consume(20);
        assert_eq!(read.spare(12).len(), 45);
        // It is moved if the next message does not fit.
        assert_eq!(read.spare(46).len(), 65);
        assert_eq!(read.capacity(), 100);
    }

    #[test]
    fn buffer_grows_with_received_bytes_and_shrinks_afterwards() {
        let mut read = ReadBuffer::new(100);
        let size = 10_000;
        let mut stream = &vec![1; size][..];
        while !stream.is_empty() {
            let here = read.waiting().len();
            fill(&mut read, size - here, &mut stream);
            assert!(read.capacity() <= (2 * here).max(100), "{here} bytes, {}", read.capacity());
        }
        assert_eq!(read.waiting().len(), size);
        read.consume(size);
        for _ in 0..SHRINK_AFTER {
            assert!(read.capacity() >= size);
            fill(&mut read, 12, &mut &[2; 50][..]);
            read.consume(50);
        }
        fill(&mut read, 12, &mut &[2; 50][..]);
        assert_eq!((read.capacity(), read.waiting()), (100, &[2; 50][..]));
    }

    #[test]
    fn grown_buffer_does_not_read_more_per_call() {
        let mut read = ReadBuffer::new(100);
        for _ in 0..10 {
            fill(&mut read, 10_000, &mut &[1; 10_000][..]);
        }
        assert!(read.capacity() > 1000);
        read.consume(usize::MAX);
        assert_eq!(read.spare(12).len(), 100);
    }

    proptest! {
        #[test]
        fn waiting_bytes_are_received_minus_used(
            first in 0..200usize,
            usual in 0..200usize,
            steps in prop::collection::vec((0..400usize, 0..400usize, any::<bool>()), 0..60),
        ) {
            let mut read = ReadBuffer::growing(first, usual);
            let (mut came, mut used) = (0usize, 0);
            for (needed, use_up, release) in steps {
                let next: Vec<u8> = (came..came + 300).map(|at| at as u8).collect();
                let mut left = &next[..];
                prop_assert!(!read.spare(needed).is_empty());
                fill(&mut read, needed, &mut left);
                came += 300 - left.len();
                let count = use_up.min(read.waiting().len());
                read.consume(count);
                used += count;
                if release {
                    read.release();
                }
                let due: Vec<u8> = (used..came).map(|at| at as u8).collect();
                prop_assert_eq!(read.waiting(), due);
            }
        }

        #[test]
        fn every_message_passes_through_a_buffer_of_any_size(
            first in 1..64usize,
            usual in 1..64usize,
            sizes in prop::collection::vec(0..200usize, 0..20),
            reads in prop::collection::vec(1..50usize, 1..20),
        ) {
            let mut stream = Vec::new();
            for (id, size) in sizes.iter().enumerate() {
                stream.extend(Head { id: Id::from(id as u64), size: *size as u32 }.to_bytes(SizeOrder::Little));
                stream.extend(std::iter::repeat_n(id as u8, *size));
            }
            let mut read = ReadBuffer::growing(first, usual);
            let (mut left, mut seen) = (&stream[..], 0);
            for most in reads.into_iter().cycle() {
                let missing = needed(read.waiting(), SizeOrder::Little, 200).unwrap();
                prop_assert!(missing > 0);
                if left.is_empty() {
                    break;
                }
                let mut now = &left[..most.min(left.len())];
                let before = now.len();
                fill(&mut read, missing, &mut now);
                prop_assert!(now.len() < before);
                left = &left[before - now.len()..];
                let mut frames = Frames::new(read.waiting(), SizeOrder::Little, 200);
                for frame in &mut frames {
                    prop_assert_eq!(frame.payload, vec![seen as u8; sizes[seen]]);
                    seen += 1;
                }
                let used = frames.used();
                read.consume(used);
                prop_assert!(read.capacity() <= usual.max(2 * (HEAD + 200)));
            }
            prop_assert_eq!(seen, sizes.len());
        }
    }
}
