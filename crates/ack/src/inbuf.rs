//! Where a connection reads to: room behind what has come, and what has come. Pure.
//!
//! Belongs to the reader of one connection, which goes round: read into
//! [`InBuf::room`], say how much came, look at what is [`InBuf::waiting`], say
//! how much of it is used, ask with how much more is needed. What is incomplete
//! stays, and lies in one piece. Never reads anything itself.
//!
//! ```text
//! bytes   ┌ used ─┬─ waiting ─┬─ room ────────────┐
//!         0     start        end             capacity
//! ```
//!
//! INVARIANT: `start <= end <= capacity`; what waits is what was filled in less
//! what was used.
//!
//! *What is moved.* What waits goes to the front if it is no more than what was
//! used before it, or if the next message would not fit behind it. So no more
//! bytes are moved than were used, and a message once besides; and reads of
//! small messages go to the same warm front of the buffer again and again.
//!
//! *How it grows.* The buffer grows for a message that does not fit, to its
//! length, and to no more than twice what waits: who announces a large message
//! has to send it before memory is taken for it. After [`CALM`] reads that would
//! have fit it is small again.
//!
//! *How it begins.* Small, if it is [to grow](InBuf::growing), and again when it was
//! [released](InBuf::release); and of the usual size from the first read that fills
//! all the room. So ten thousand clients of which each sends a little now and then
//! do not take ten thousand large buffers.
//!
//! COST: nothing until the first read, then the size that it begins with; one block
//! of memory for each time it grows or shrinks. A read takes no more than its size
//! or what is needed, whichever is more.

/// After how many reads that need no more than the usual size a grown buffer gives back memory.
pub const CALM: u32 = 64;

/// The buffer of one connection.
///
/// ```
/// use std::io::Read;
/// use purlin_ack::inbuf::InBuf;
///
/// # fn main() -> std::io::Result<()> {
/// let mut socket = &b"one two th"[..];
/// let mut read = InBuf::new(1024);
/// let count = socket.read(read.room(1))?;
/// read.filled(count);
/// assert_eq!(read.waiting(), b"one two th");
/// read.used(8);
///
/// let mut socket = &b"ree"[..];
/// let count = socket.read(read.room(3))?;
/// read.filled(count);
/// assert_eq!(read.waiting(), b"three");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct InBuf {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Its size unless a message needs more: at first, now, and as soon as a read fills it.
    first: usize,
    now: usize,
    usual: usize,
    /// How much was to be read last.
    room: usize,
    calm: u32,
}

impl InBuf {
    /// Empty; `usual` is its size in bytes unless a message needs more, at least 1.
    #[must_use]
    pub fn new(usual: usize) -> Self {
        Self::growing(usual, usual)
    }

    /// The same, but its size is `first`, no more than `usual`, until there is more to be read.
    #[must_use]
    pub fn growing(first: usize, usual: usize) -> Self {
        let usual = usual.max(1);
        let first = first.clamp(1, usual);
        Self { bytes: Vec::new(), start: 0, end: 0, first, now: first, usual, room: 0, calm: 0 }
    }

    /// What has come and has not been used.
    #[must_use]
    pub fn waiting(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The bytes of memory that it holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Where to read to, never empty. `needed` is how many bytes are missing for the next message,
    /// as [`needed`](crate::frames::needed) tells; there may be less room than that, or more.
    pub fn room(&mut self, needed: usize) -> &mut [u8] {
        let needed = needed.max(1);
        let (waiting, behind) = (self.end - self.start, self.bytes.len() - self.end);
        let due = waiting.saturating_add(needed);
        let capacity = self.wanted(due, waiting);
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

    /// So many bytes were read into the room.
    pub fn filled(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.bytes.len());
        if count >= self.room {
            self.now = self.usual;
        }
    }

    /// So many bytes of what waits, from its beginning, are not needed any more.
    pub fn used(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Keeps no more memory than what waits: for a connection that is silent.
    pub fn release(&mut self) {
        self.now = self.first;
        self.resize(self.end - self.start);
    }

    /// How large it should be for a message of `due` bytes of which so many are here.
    fn wanted(&mut self, due: usize, waiting: usize) -> usize {
        let now = self.bytes.len();
        if due > self.now {
            self.calm = 0;
            return now.max(self.now).max(due.min(2 * waiting));
        }
        self.calm = self.calm.saturating_add(1);
        if now <= self.now || self.calm > CALM { self.now } else { now }
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
    use crate::frames::{Frames, needed};
    use crate::wire::{HEAD, Head, Id, SizeOrder};

    fn fill(read: &mut InBuf, needed: usize, from: &mut &[u8]) {
        let room = read.room(needed);
        let count = room.len().min(from.len());
        room[..count].copy_from_slice(&from[..count]);
        *from = &from[count..];
        read.filled(count);
    }

    #[test]
    fn it_takes_no_memory_before_it_is_read_to_and_can_give_it_back() {
        let mut read = InBuf::new(100);
        assert_eq!(read.capacity(), 0);
        fill(&mut read, 1, &mut &b"hello"[..]);
        assert_eq!(read.capacity(), 100);
        read.used(2);
        read.release();
        assert_eq!((read.capacity(), read.waiting()), (3, &b"llo"[..]));
        fill(&mut read, 1, &mut &b"!"[..]);
        assert_eq!((read.capacity(), read.waiting()), (100, &b"llo!"[..]));
    }

    #[test]
    fn it_is_small_until_a_read_fills_it_and_again_when_it_was_released() {
        let mut read = InBuf::growing(10, 100);
        for _ in 0..2 {
            for _ in 0..3 {
                fill(&mut read, 1, &mut &[7; 9][..]);
                assert_eq!(read.capacity(), 10);
                read.used(9);
            }
            fill(&mut read, 1, &mut &[7; 200][..]);
            assert_eq!((read.capacity(), read.waiting().len()), (10, 10));
            fill(&mut read, 1, &mut &[7; 200][..]);
            assert_eq!((read.capacity(), read.waiting().len()), (100, 100));
            read.used(100);
            read.release();
        }
    }

    #[test]
    fn a_tail_is_moved_to_the_front_and_the_whole_buffer_is_room_again() {
        let mut read = InBuf::new(100);
        fill(&mut read, 1, &mut &[7; 100][..]);
        read.used(95);
        assert_eq!(read.room(12).len(), 95);
        assert_eq!(read.waiting(), [7; 5]);
        // What is longer than what was used stays where it is, as long as the next message fits.
        fill(&mut read, 12, &mut &[7; 50][..]);
        read.used(20);
        assert_eq!(read.room(12).len(), 45);
        // And is moved if it does not.
        assert_eq!(read.room(46).len(), 65);
        assert_eq!(read.capacity(), 100);
    }

    #[test]
    fn a_large_message_takes_memory_as_it_comes_and_gives_it_back_afterwards() {
        let mut read = InBuf::new(100);
        let size = 10_000;
        let mut stream = &vec![1; size][..];
        while !stream.is_empty() {
            let here = read.waiting().len();
            fill(&mut read, size - here, &mut stream);
            assert!(read.capacity() <= (2 * here).max(100), "{here} bytes, {}", read.capacity());
        }
        assert_eq!(read.waiting().len(), size);
        read.used(size);
        for _ in 0..CALM {
            assert!(read.capacity() >= size);
            fill(&mut read, 12, &mut &[2; 50][..]);
            read.used(50);
        }
        fill(&mut read, 12, &mut &[2; 50][..]);
        assert_eq!((read.capacity(), read.waiting()), (100, &[2; 50][..]));
    }

    #[test]
    fn a_grown_buffer_does_not_read_more_at_a_time_than_a_small_one() {
        let mut read = InBuf::new(100);
        for _ in 0..10 {
            fill(&mut read, 10_000, &mut &[1; 10_000][..]);
        }
        assert!(read.capacity() > 1000);
        read.used(usize::MAX);
        assert_eq!(read.room(12).len(), 100);
    }

    proptest! {
        #[test]
        fn what_waits_is_what_came_less_what_was_used(
            first in 0..200usize,
            usual in 0..200usize,
            steps in prop::collection::vec((0..400usize, 0..400usize, any::<bool>()), 0..60),
        ) {
            let mut read = InBuf::growing(first, usual);
            let (mut came, mut used) = (0usize, 0);
            for (needed, use_up, release) in steps {
                let next: Vec<u8> = (came..came + 300).map(|at| at as u8).collect();
                let mut left = &next[..];
                prop_assert!(!read.room(needed).is_empty());
                fill(&mut read, needed, &mut left);
                came += 300 - left.len();
                let count = use_up.min(read.waiting().len());
                read.used(count);
                used += count;
                if release {
                    read.release();
                }
                let due: Vec<u8> = (used..came).map(|at| at as u8).collect();
                prop_assert_eq!(read.waiting(), due);
            }
        }

        #[test]
        fn every_message_of_a_stream_comes_through_however_small_the_buffer(
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
            let mut read = InBuf::growing(first, usual);
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
                read.used(used);
                prop_assert!(read.capacity() <= usual.max(2 * (HEAD + 200)));
            }
            prop_assert_eq!(seen, sizes.len());
        }
    }
}
