//! What a client has not been answered yet. Pure.
//!
//! Belongs to one client: it pushes messages, takes [`Piece`]s to write, and
//! tells what the server answered. Never looks at a clock, never sends anything.
//!
//! ```text
//!            first           unsent                    next
//! ids   ─────┼───────────────┼─────────────────────────┼──────
//!  answered  │  handed out   │  in batches, not yet    │ open
//! ```
//!
//! Messages are kept as they are written: heads and payloads behind each other,
//! in *batches*. One batch is open and filled; it is sealed when it is full, or
//! when somebody wants to write and there is nothing else. A sealed batch does
//! not change any more, so whoever writes it shares it, and no message is copied
//! twice. It is given up when its last message is answered.
//!
//! INVARIANT: `first <= unsent <= next`; each id from `first` up lies in one
//! batch, in order; `place` is where `unsent` lies.
//!
//! COST: a message is copied once, 12 bytes are written before it, and nothing
//! is done for it when it is answered. Batches take their memory from each
//! other: a client that is answered as fast as it sends allocates nothing. What
//! is held is at most the window's bytes, or one message, and a batch to spare.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::frames::Frames;
use crate::wire::{HEAD, Head, Id, LARGEST, SizeOrder};

/// How many batches that are given up are kept to be filled again.
const SPARE: usize = 4;

/// How much may be unanswered at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Messages, at least 1.
    pub messages: u64,
    /// Bytes, heads included. One message is let in even if it is longer.
    pub bytes: usize,
}

impl Default for Window {
    /// A quarter of a million messages, 16 MiB.
    fn default() -> Self {
        Self { messages: 1 << 18, bytes: 16 << 20 }
    }
}

/// The messages of one client that are not answered yet.
///
/// ```
/// use purlin_ack::client::outbox::{Outbox, Window};
///
/// let mut outbox = Outbox::new(Window { messages: 2, bytes: 1000 }, 64);
/// assert_eq!(outbox.push(b"hello"), Ok(Some(0)));
/// assert_eq!(outbox.push(b"world"), Ok(Some(1)));
/// assert_eq!(outbox.push(b"again"), Ok(None));
///
/// let piece = outbox.piece().unwrap();
/// assert_eq!(piece.len(), 34);
/// assert!(outbox.piece().is_none());
/// assert_eq!(outbox.acked(0), Ok(1));
/// assert_eq!(outbox.push(b"again"), Ok(Some(2)));
///
/// // The connection is lost: what is not answered goes out again.
/// outbox.rewind();
/// assert_eq!(outbox.piece().unwrap()[12..], *b"world");
/// ```
#[derive(Debug)]
pub struct Outbox {
    batches: VecDeque<Batch>,
    /// Filled, and never handed out; begins with this id.
    open: Vec<u8>,
    open_from: u64,
    first: u64,
    unsent: u64,
    next: u64,
    place: Place,
    /// Of all batches and the open one.
    bytes: usize,
    window: Window,
    /// Bytes of a batch, if one message is not longer.
    batch: usize,
    /// What the server lets be unanswered, in messages.
    granted: u64,
    largest: u32,
    spare: Vec<Vec<u8>>,
}

/// Messages that lie behind each other.
#[derive(Debug)]
struct Batch {
    first: u64,
    /// The id behind its last message.
    end: u64,
    bytes: Arc<Vec<u8>>,
}

/// In which batch, and behind how many of its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    batch: usize,
    offset: usize,
}

/// Whole messages to be written. Shares their memory.
#[derive(Clone, Debug)]
pub struct Piece {
    bytes: Arc<Vec<u8>>,
    from: usize,
    to: usize,
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }
}

impl Outbox {
    /// Empty; ids begin with 0. `batch` is how many bytes are written at a time.
    #[must_use]
    pub fn new(window: Window, batch: usize) -> Self {
        Self {
            batches: VecDeque::new(),
            open: Vec::new(),
            open_from: 0,
            first: 0,
            unsent: 0,
            next: 0,
            place: Place::default(),
            bytes: 0,
            window,
            batch,
            granted: u64::MAX,
            largest: LARGEST,
            spare: Vec::new(),
        }
    }

    /// What the server lets be unanswered, in messages, and how large a payload may be.
    ///
    /// Holds for what is pushed and handed out from now on.
    pub fn grant(&mut self, messages: u64, largest: u32) {
        (self.granted, self.largest) = (messages, largest);
    }

    /// Puts a message behind all others; tells its id, or nothing if there is no room for it.
    ///
    /// # Errors
    /// It is larger than the server takes.
    pub fn push(&mut self, payload: &[u8]) -> Result<Option<u64>, TooLarge> {
        let too_large = TooLarge { size: payload.len(), limit: self.largest };
        let size = u32::try_from(payload.len()).map_err(|_| too_large)?;
        if size > self.largest {
            return Err(too_large);
        }
        let length = HEAD + payload.len();
        if !self.has_room(length) {
            return Ok(None);
        }
        if !self.open.is_empty() && self.open.len() + length > self.batch {
            self.seal();
        }
        let id = self.next;
        let head = Head { id: Id::from(id), size };
        self.open.extend_from_slice(&head.to_bytes(SizeOrder::Little));
        self.open.extend_from_slice(payload);
        self.bytes += length;
        self.next += 1;
        Ok(Some(id))
    }

    fn has_room(&self, length: usize) -> bool {
        let waiting = self.next - self.first;
        waiting == 0 || (waiting < self.window.messages && self.bytes + length <= self.window.bytes)
    }

    fn seal(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let fresh = self.spare.pop().unwrap_or_default();
        let bytes = Arc::new(std::mem::replace(&mut self.open, fresh));
        self.batches.push_back(Batch { first: self.open_from, end: self.next, bytes });
        self.open_from = self.next;
    }

    /// The next to be written; nothing if all is handed out or the server grants no more.
    ///
    /// It counts as handed out from now on, whatever becomes of the writing.
    pub fn piece(&mut self) -> Option<Piece> {
        let may = self.first.saturating_add(self.granted).saturating_sub(self.unsent);
        if may == 0 {
            return None;
        }
        if self.place.batch == self.batches.len() {
            self.seal();
        }
        let batch = self.batches.get(self.place.batch)?;
        let (bytes, from) = (Arc::clone(&batch.bytes), self.place.offset);
        let to;
        if batch.end - self.unsent <= may {
            to = bytes.len();
            self.unsent = batch.end;
            self.place = Place { batch: self.place.batch + 1, offset: 0 };
        } else {
            to = from + length_of(&bytes[from..], may);
            self.unsent += may;
            self.place.offset = to;
        }
        Some(Piece { bytes, from, to })
    }

    /// Whether a whole batch waits to be handed out.
    #[must_use]
    pub fn has_whole_batch(&self) -> bool {
        self.place.batch < self.batches.len() || self.open.len() + HEAD > self.batch
    }

    /// All messages up to this one are acknowledged. Tells how many had not been answered before.
    ///
    /// # Errors
    /// The message has not been handed out. Nothing has changed then.
    pub fn acked(&mut self, id: u64) -> Result<u64, NotSent> {
        if id >= self.unsent {
            return Err(NotSent { id });
        }
        let count = (id + 1).saturating_sub(self.first);
        self.first += count;
        while self.batches.front().is_some_and(|batch| batch.end <= self.first) {
            if let Some(Batch { bytes, .. }) = self.batches.pop_front() {
                self.bytes -= bytes.len();
                self.place.batch -= 1;
                self.keep(bytes);
            }
        }
        Ok(count)
    }

    /// Keeps the memory of a batch, unless somebody still writes it or it was made for one long message.
    fn keep(&mut self, bytes: Arc<Vec<u8>>) {
        if let Ok(mut bytes) = Arc::try_unwrap(bytes)
            && self.spare.len() < SPARE
            && bytes.capacity() <= 2 * self.batch
        {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// This message is refused, and those before it are acknowledged. Gives its payload back, or
    /// nothing if it has been answered before.
    ///
    /// # Errors
    /// The message has not been handed out. Nothing has changed then.
    pub fn refused(&mut self, id: u64) -> Result<Option<Vec<u8>>, NotSent> {
        if id >= self.unsent {
            return Err(NotSent { id });
        }
        if id < self.first {
            return Ok(None);
        }
        let payload = self.unanswered().find(|(other, _)| *other == id);
        let payload = payload.map(|(_, payload)| payload.to_vec());
        self.acked(id)?;
        Ok(payload)
    }

    /// Another connection: all that is not answered is to be handed out again.
    pub fn rewind(&mut self) {
        self.unsent = self.first;
        let offset = match self.batches.front() {
            Some(batch) => length_of(&batch.bytes, self.first - batch.first),
            None => 0,
        };
        self.place = Place { batch: 0, offset };
    }

    /// The messages that are not answered, oldest first.
    pub fn unanswered(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let first = self.first;
        let sealed = self.batches.iter().map(|batch| &batch.bytes[..]);
        let all = sealed.chain([&self.open[..]]);
        all.flat_map(|bytes| Frames::new(bytes, SizeOrder::Little, u32::MAX))
            .map(|frame| (frame.id.number(), frame.payload))
            .filter(move |(id, _)| *id >= first)
    }

    /// The oldest message that is not answered, or the next one if all are.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The first message that has not been handed out on this connection.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// The id that the next message will have.
    #[must_use]
    pub fn next_id(&self) -> u64 {
        self.next
    }

    /// Whether messages are handed out and not answered.
    #[must_use]
    pub fn awaits_answers(&self) -> bool {
        self.first < self.unsent
    }

    /// Whether all messages are answered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// Whether there is something to hand out.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.unsent < self.next && self.unsent - self.first < self.granted
    }

    /// The bytes that are held for messages.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The bytes of so many messages at the beginning of a batch.
fn length_of(bytes: &[u8], messages: u64) -> usize {
    let mut frames = Frames::new(bytes, SizeOrder::Little, u32::MAX);
    for _ in 0..messages {
        frames.next();
    }
    frames.used()
}

/// An answer to a message that has not been sent on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSent {
    /// The message.
    pub id: u64,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered message {}, which has not been sent", self.id)
    }
}

impl std::error::Error for NotSent {}

/// A message that is larger than the server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Bytes of its payload.
    pub size: usize,
    /// The most that the server takes.
    pub limit: u32,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, limit } = self;
        write!(f, "a payload of {size} bytes, where the server takes {limit} at most")
    }
}

impl std::error::Error for TooLarge {}
