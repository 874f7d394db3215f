//! Random operations on a save queue, receive markers included, compared with a list in which each
//! message knows whether it was examined.

use super::*;
use crate::inbox::header::{ANCHOR, Envelope};

/// A message of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    number: u64,
    priority: bool,
    marked: bool,
    /// The current receive has examined it.
    examined: bool,
}

/// A save queue and the model of its contents.
struct Both {
    queue: SaveQueue,
    model: Vec<Entry>,
    next: u64,
    /// The number that was due next when each of the latest markers was placed, with the marker's.
    placed: Vec<(u64, u64)>,
    random: u64,
}

/// Markers of a queue.
const MARKERS: usize = 8;

/// Moves the markers of a header that has left the queue by `pop` or `take_next`.
fn move_markers(queue: &mut SaveQueue, removed: NonNull<Header>) -> NonNull<Header> {
    // SAFETY: the header is owned here.
    if unsafe { removed.as_ref().tags() } & ANCHOR != 0 {
        queue.move_markers(removed);
    }
    removed
}

/// Opens an envelope that has left the queue, and returns its number.
fn open(header: NonNull<Header>) -> u64 {
    // SAFETY: the header is owned here, and every envelope of these tests holds a number.
    unsafe { Envelope::<u64>::open(header) }.0
}

impl Both {
    fn new(seed: u64) -> Self {
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { queue: SaveQueue::new(), model: Vec::new(), next: 0, placed: Vec::new(), random }
    }

    /// Returns a number below `limit`.
    fn draw(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % limit
    }

    /// Creates a message and adds it to the model.
    fn entry(&mut self, priority: bool) -> NonNull<Header> {
        let number = self.next;
        self.next += 1;
        let marked = priority || self.draw(3) == 0;
        let entry = Entry { number, priority, marked, examined: false };
        let ordinary = |entry: &Entry| priority && !entry.priority;
        let at = self.model.iter().position(ordinary).unwrap_or(self.model.len());
        self.model.insert(at, entry);
        if marked {
            Envelope::seal_marked(number, number)
        } else {
            Envelope::seal(Class::Message, number)
        }
    }

    fn add(&mut self, priority: bool) {
        let header = self.entry(priority);
        // SAFETY: the header is owned here and given away.
        unsafe {
            if priority { self.queue.insert_priority(header) } else { self.queue.append(header) }
        }
    }

    fn place(&mut self) {
        let number = 1 + self.placed.len() as u64;
        self.queue.place_marker(number);
        if self.model.last().is_some_and(|newest| !newest.priority) {
            self.placed.push((number, self.next));
        }
    }

    /// Starts a receive at a marker: the ordinary messages that are older count as examined.
    fn rewind_to_marker(&mut self) {
        if self.placed.is_empty() {
            return;
        }
        let index = self.draw(self.placed.len() as u64) as usize;
        let (number, due) = self.placed[index];
        self.queue.rewind_to(number);
        let kept = index + MARKERS >= self.placed.len();
        for entry in &mut self.model {
            entry.examined = kept && !entry.priority && entry.number < due;
        }
    }

    fn forget_examined(&mut self) {
        self.model.iter_mut().for_each(|entry| entry.examined = false);
    }

    fn pop(&mut self) -> Option<u64> {
        let popped = self.queue.pop().map(|header| open(move_markers(&mut self.queue, header)));
        let expected = (!self.model.is_empty()).then(|| self.model.remove(0).number);
        assert_eq!(popped, expected);
        self.forget_examined();
        popped
    }

    /// Examines up to `limit` messages, and takes the last of them if `accept`. Messages may arrive
    /// meanwhile.
    fn scan(&mut self, limit: u64, accept: bool) {
        let mut scanned = std::mem::replace(&mut self.queue, SaveQueue::new());
        scanned.begin_scan();
        let first_new = self.next;
        for left in (0..limit).rev() {
            if self.draw(6) == 0 {
                let priority = self.draw(2) == 0;
                self.add(priority);
                self.queue.place_marker(0);
            }
            let header = scanned.peek_next();
            // SAFETY: the scanned queue owns its headers.
            let number = header.map(|header| *unsafe { Envelope::<u64>::peek(header) });
            let is_next = |entry: &Entry| !entry.examined && entry.number < first_new;
            let at = self.model.iter().position(is_next);
            assert_eq!(number, at.map(|at| self.model[at].number));
            let (Some(header), Some(at)) = (header, at) else { break };
            if left == 0 && accept {
                let taken = scanned.take_next().map(|header| move_markers(&mut scanned, header));
                assert_eq!(taken.map(open), number);
                self.model.remove(at);
            } else {
                // SAFETY: it is the header behind the cursor.
                unsafe { scanned.skip(header) };
                self.model[at].examined = true;
            }
        }
        self.queue.prepend(&mut scanned);
    }

    fn withdraw(&mut self, number: u64) {
        let found = self.queue.take_first_matching(|header| {
            // SAFETY: the queue owns its headers.
            unsafe { Envelope::<u64>::mark(header) == Some(number) }
        });
        let at = self.model.iter().position(|entry| entry.marked && entry.number == number);
        let expected = at.map(|at| self.model.remove(at).number);
        assert_eq!(found.map(open), expected);
        self.forget_examined();
    }

    fn drop_oldest(&mut self, limit: u64) {
        let mut dropped = self.queue.take_oldest_unmarked(limit);
        for _ in 0..limit {
            let at = self.model.iter().position(|entry| !entry.marked);
            let expected = at.map(|at| self.model.remove(at).number);
            assert_eq!(dropped.pop().map(open), expected);
        }
    }

    fn step(&mut self) {
        match self.draw(18) {
            0..2 => self.add(false),
            2..4 => self.add(true),
            4 => {
                self.pop();
            }
            5 => {
                self.queue.rewind();
                self.forget_examined();
            }
            6 => {
                let number = self.draw(self.next + 1);
                self.withdraw(number);
            }
            7..9 => {
                let limit = self.draw(3);
                self.drop_oldest(limit);
            }
            9..11 => self.place(),
            11..13 => self.rewind_to_marker(),
            _ => {
                let (limit, accept) = (self.draw(5), self.draw(4) == 0);
                self.scan(limit, accept);
            }
        }
    }
}

// M6, R4: priority messages precede all others, also those that a scan has passed, and a scan examines
// each message once, the first of the mailbox first
#[test]
fn priority_messages_precede_others_and_are_examined_once() {
    for seed in 0..20_000 {
        let mut both = Both::new(seed);
        // WHY also few steps: some errors show only when the queue becomes empty.
        for _ in 0..4 + seed % 100 {
            both.step();
        }
        while both.pop().is_some() {}
        both.queue.free_positions();
    }
}
