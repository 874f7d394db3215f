//! Tests of the save queue: receive markers after random removals, compared with a list.

use super::*;
use crate::inbox::header::{ANCHOR, Class, Envelope};

/// Markers of a queue.
const MARKERS: usize = 8;

/// Queue of ascending numbers, and the same as a list.
struct Pair {
    queue: SaveQueue,
    list: Vec<u32>,
    next: u32,
    /// The number that was due next when each of the latest markers was placed, with the marker's.
    placed: Vec<(u64, u32)>,
    random: u64,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { queue: SaveQueue::new(), list: Vec::new(), next: 1, placed: Vec::new(), random }
    }

    /// Returns a number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) % n
    }

    fn append(&mut self, marked: bool) {
        let header = match marked {
            true => Envelope::<u32>::seal_marked(self.next, u64::from(self.next)),
            false => Envelope::<u32>::seal(Class::Message, self.next),
        };
        // SAFETY: the envelope is owned here and given away.
        unsafe { self.queue.append(header) };
        self.list.push(self.next);
        self.next += 1;
    }

    /// Frees a message that has left the queue by `pop` or `take_next`.
    fn free(&mut self, header: NonNull<Header>, number: u32) {
        // SAFETY: the header has left the queue; every envelope was sealed with this type.
        unsafe {
            if header.as_ref().tags() & ANCHOR != 0 {
                self.queue.move_markers(header);
            }
            assert_eq!(Envelope::<u32>::open(header).0, number);
        }
    }

    fn pop(&mut self) {
        if let Some(header) = self.queue.pop() {
            let oldest = self.list.remove(0);
            self.free(header, oldest);
        }
    }

    /// Skips some messages and removes the one behind them.
    fn take(&mut self) {
        let skipped = self.below(self.list.len() as u64 + 1) as usize;
        self.queue.rewind();
        for _ in 0..skipped {
            let header = self.queue.peek_next().expect("there are more messages");
            // SAFETY: the message is the one behind the cursor.
            unsafe { self.queue.skip(header) };
        }
        if let Some(header) = self.queue.take_next() {
            let number = self.list.remove(skipped);
            self.free(header, number);
        }
    }

    fn take_marked(&mut self) {
        // SAFETY: every envelope of the queue was sealed with this type.
        let is_marked = |header| unsafe { Envelope::<u32>::mark(header) }.is_some();
        if let Some(header) = self.queue.take_first_matching(is_marked) {
            // SAFETY: the header has left the queue, by a method that moves its markers.
            let number = unsafe { Envelope::<u32>::open(header) }.0;
            self.list.retain(|other| *other != number);
        }
    }

    fn drop_oldest(&mut self) {
        let limit = self.below(4);
        let mut oldest = self.queue.take_oldest_unmarked(limit);
        while let Some(header) = oldest.pop() {
            // SAFETY: as in `take_marked`.
            let number = unsafe { Envelope::<u32>::open(header) }.0;
            self.list.retain(|other| *other != number);
        }
    }

    fn place(&mut self) {
        let number = 100 + self.placed.len() as u64;
        self.queue.place_marker(number);
        if !self.list.is_empty() {
            self.placed.push((number, self.next));
        }
    }

    /// What arrives during a scan comes after the rest, and its markers are forgotten.
    fn scan(&mut self) {
        let mut scanned = std::mem::replace(&mut self.queue, SaveQueue::new());
        for _ in 0..self.below(3) {
            self.append(false);
        }
        self.queue.place_marker(7);
        if let Some((number, _)) = self.placed.last() {
            self.queue.rewind_to(*number);
        }
        assert!(self.queue.cursor.is_null());
        self.queue.prepend(&mut scanned);
        self.queue.rewind_to(7);
        assert!(self.queue.cursor.is_null(), "no marker was placed");
    }

    /// Checks where a scan begins for each marker.
    fn check(&mut self) {
        let oldest_kept = self.placed.len().saturating_sub(MARKERS);
        for (index, (number, due)) in self.placed.clone().into_iter().enumerate() {
            self.queue.rewind_to(number);
            let first = self.queue.peek_next();
            // SAFETY: every envelope of the queue was sealed with this type.
            let first = first.map(|header| unsafe { *Envelope::<u32>::peek(header) });
            let newer = |other: &&u32| index < oldest_kept || **other >= due;
            assert_eq!(first, self.list.iter().find(newer).copied());
        }
        self.queue.rewind();
        let mut skipped = Vec::new();
        self.queue.skip_while(|header| {
            // SAFETY: every envelope of the queue was sealed with this type.
            skipped.push(unsafe { *Envelope::<u32>::peek(header) });
            true
        });
        assert_eq!(skipped, self.list);
        self.queue.rewind();
    }
}

#[test]
fn markers_stay_between_the_messages_before_and_after_them() {
    for seed in 0..200 {
        let mut pair = Pair::new(seed);
        for _ in 0..200 {
            match pair.below(12) {
                0..=3 => pair.append(false),
                4 => pair.append(true),
                5 | 6 => pair.place(),
                7 => pair.pop(),
                8 => pair.take(),
                9 => pair.take_marked(),
                10 => pair.drop_oldest(),
                _ => pair.scan(),
            }
            pair.check();
        }
        while !pair.list.is_empty() {
            pair.pop();
        }
        pair.check();
        pair.queue.free_positions();
    }
}
