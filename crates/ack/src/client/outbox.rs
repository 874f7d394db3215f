//! Unanswered messages of a client. Pure.
//!
//! Each client has one outbox. The client pushes messages, takes [`Piece`]s to write, and applies
//! the answers of the server. The outbox reads no clock and does no I/O.
//!
//! ```text
//!            first           unsent                    next
//! ids   ─────┼───────────────┼─────────────────────────┼──────
//!  answered  │  handed out   │  in batches, not yet    │ open
//! ```
//!
//! A new connection begins at `first` again. What was handed out on an earlier one, up to `handed`, may
//! still reach the server's position, so the position that a new connection begins with may be as high.
//!
//! Messages are stored in wire format, as consecutive frames in *batches*. One batch is open for
//! writing. It is sealed when it is full, or when the writer needs data and no sealed batch is
//! left. A sealed batch is immutable, so the writer shares its memory and a message is copied only
//! once. A batch is released when its last message is answered.
//!
//! INVARIANT: `first <= unsent <= handed <= next`; each id from `first` up lies in one batch, in order;
//! `position` is the position of `unsent`.
//!
//! COST: a push copies the message once and writes a 12-byte head before it; an answer costs
//! nothing per message. Released batches are reused: a client that is answered as fast as it sends
//! does not allocate. The outbox holds at most the window's bytes, or one larger message, plus the
//! spare batches.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::wire::frames::Frames;
use crate::wire::{HEAD, Head, Id, LARGEST, SizeOrder};

/// Maximum number of released batches kept for reuse.
const MAX_SPARE_BATCHES: usize = 4;

/// In-flight window: limits on the unanswered messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of messages, at least 1.
    pub messages: u64,
    /// Number of bytes, heads included. A message larger than this is accepted if no other is
    /// unanswered.
    pub bytes: usize,
}

impl Default for Window {
    /// Returns a window of 262 144 messages and 16 MiB.
    fn default() -> Self {
        Self { messages: 1 << 18, bytes: 16 << 20 }
    }
}

/// The unanswered messages of one client.
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
/// // The connection is lost: unanswered messages are handed out again.
/// outbox.rewind();
/// assert_eq!(outbox.piece().unwrap()[12..], *b"world");
/// ```
#[derive(Debug)]
pub struct Outbox {
    batches: VecDeque<Batch>,
    /// The open batch, not handed out yet. Its first message has the id `open_from`.
    open: Vec<u8>,
    open_from: u64,
    first: u64,
    unsent: u64,
    /// One past the newest id that was handed out on any connection.
    handed: u64,
    next: u64,
    position: Position,
    /// Bytes of all batches, including the open one.
    bytes: usize,
    window: Window,
    /// Target size of a batch in bytes. A single larger message exceeds it.
    batch: usize,
    /// The server's window in messages.
    granted: u64,
    largest: u32,
    spare: Vec<Vec<u8>>,
}

/// A sealed batch of consecutive messages.
#[derive(Debug)]
struct Batch {
    first: u64,
    /// One past the id of the last message.
    end: u64,
    bytes: Arc<Vec<u8>>,
}

/// Write position: index of a batch and byte offset in it.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    batch: usize,
    offset: usize,
}

/// Whole messages to write. Shares the memory of their batch.
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
    /// Returns an empty outbox. Ids start at 0. `batch` is the target size of a write in bytes.
    #[must_use]
    pub fn new(window: Window, batch: usize) -> Self {
        Self {
            batches: VecDeque::new(),
            open: Vec::new(),
            open_from: 0,
            first: 0,
            unsent: 0,
            handed: 0,
            next: 0,
            position: Position::default(),
            bytes: 0,
            window,
            batch,
            granted: u64::MAX,
            largest: LARGEST,
            spare: Vec::new(),
        }
    }

    /// Continues the numbering of an earlier outbox: the next message gets the id `next`, unless
    /// ids have passed it, and all earlier ones count as answered. The outbox must be empty.
    pub fn start_at(&mut self, next: u64) {
        debug_assert!(self.is_empty());
        let next = next.max(self.next);
        (self.first, self.unsent, self.handed) = (next, next, next);
        (self.next, self.open_from) = (next, next);
    }

    /// Sets the server's window in messages and its largest payload in bytes.
    ///
    /// Applies to messages pushed and handed out from now on.
    pub fn grant(&mut self, messages: u64, largest: u32) {
        (self.granted, self.largest) = (messages, largest);
    }

    /// Appends a message and returns its id. Returns `None` if the window is full.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the payload exceeds the server's limit.
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

    /// Returns the next bytes to write. Returns `None` if all messages are handed out or the
    /// server's window is full.
    ///
    /// The messages count as handed out whether or not the write succeeds.
    pub fn piece(&mut self) -> Option<Piece> {
        let may = self.first.saturating_add(self.granted).saturating_sub(self.unsent);
        if may == 0 {
            return None;
        }
        if self.position.batch == self.batches.len() {
            self.seal();
        }
        let batch = self.batches.get(self.position.batch)?;
        let (bytes, from) = (Arc::clone(&batch.bytes), self.position.offset);
        let to;
        if batch.end - self.unsent <= may {
            to = bytes.len();
            self.unsent = batch.end;
            self.position = Position { batch: self.position.batch + 1, offset: 0 };
        } else {
            to = from + length_of(&bytes[from..], may);
            self.unsent += may;
            self.position.offset = to;
        }
        self.handed = self.handed.max(self.unsent);
        Some(Piece { bytes, from, to })
    }

    /// Whether a full batch is ready to be handed out.
    #[must_use]
    pub fn has_whole_batch(&self) -> bool {
        self.position.batch < self.batches.len() || self.open.len() + HEAD > self.batch
    }

    /// Acknowledges all messages up to and including `id`. Returns how many of them were
    /// unanswered.
    ///
    /// # Errors
    /// Returns [`NotSent`] if the message has not been handed out. The state is unchanged then.
    pub fn acked(&mut self, id: u64) -> Result<u64, NotSent> {
        if id >= self.unsent {
            return Err(NotSent { id });
        }
        let count = (id + 1).saturating_sub(self.first);
        self.first += count;
        while self.batches.front().is_some_and(|batch| batch.end <= self.first) {
            if let Some(Batch { bytes, .. }) = self.batches.pop_front() {
                self.bytes -= bytes.len();
                self.position.batch -= 1;
                self.recycle(bytes);
            }
        }
        Ok(count)
    }

    /// Keeps the memory of a batch for reuse, unless the writer still shares it or its capacity
    /// exceeds twice the batch size.
    fn recycle(&mut self, bytes: Arc<Vec<u8>>) {
        if let Ok(mut bytes) = Arc::try_unwrap(bytes)
            && self.spare.len() < MAX_SPARE_BATCHES
            && bytes.capacity() <= 2 * self.batch
        {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Refuses this message and acknowledges all earlier ones. Returns its payload, or `None` if
    /// the message was answered before.
    ///
    /// # Errors
    /// Returns [`NotSent`] if the message has not been handed out. The state is unchanged then.
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

    /// Resets the write position to the first unanswered message, for a new connection.
    pub fn rewind(&mut self) {
        self.seek(self.first);
    }

    /// Counts all messages as handed out that were on any connection, for the answers that a new
    /// connection begins with. [`Outbox::rewind`] follows.
    pub fn recall(&mut self) {
        self.seek(self.handed);
    }

    /// Rewinds, and counts no unanswered message as handed out on any connection, for a new epoch.
    pub fn begin_epoch(&mut self) {
        self.rewind();
        self.handed = self.first;
    }

    /// Sets the write position to a message that lies in a sealed batch, or follows them.
    fn seek(&mut self, id: u64) {
        self.unsent = id;
        let batch = self.batches.iter().position(|batch| id < batch.end);
        self.position = match batch {
            Some(index) => {
                let batch = &self.batches[index];
                Position { batch: index, offset: length_of(&batch.bytes, id - batch.first) }
            }
            None => Position { batch: self.batches.len(), offset: 0 },
        };
    }

    /// Iterates over the unanswered messages, oldest first.
    pub fn unanswered(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let first = self.first;
        let sealed = self.batches.iter().map(|batch| &batch.bytes[..]);
        let all = sealed.chain([&self.open[..]]);
        all.flat_map(|bytes| Frames::new(bytes, SizeOrder::Little, u32::MAX))
            .map(|frame| (frame.id.number(), frame.payload))
            .filter(move |(id, _)| *id >= first)
    }

    /// Returns the oldest unanswered id, or the next id if all messages are answered.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the first id that has not been handed out on this connection.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Returns the first id that has not been handed out on any connection.
    #[must_use]
    pub fn handed(&self) -> u64 {
        self.handed
    }

    /// Returns the id of the next message.
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

    /// Whether [`piece`](Self::piece) would return bytes.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.unsent < self.next && self.unsent - self.first < self.granted
    }

    /// Returns the number of bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Returns the length in bytes of the first `messages` frames of a batch.
fn length_of(bytes: &[u8], messages: u64) -> usize {
    let mut frames = Frames::new(bytes, SizeOrder::Little, u32::MAX);
    for _ in 0..messages {
        frames.next();
    }
    frames.used()
}

/// An answer to a message that was not sent on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSent {
    /// Id of the message.
    pub id: u64,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered message {}, which has not been sent", self.id)
    }
}

impl std::error::Error for NotSent {}

/// A payload that exceeds the server's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Size of the payload in bytes.
    pub size: usize,
    /// The server's limit in bytes.
    pub limit: u32,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, limit } = self;
        write!(f, "a payload of {size} bytes, where the server takes {limit} at most")
    }
}

impl std::error::Error for TooLarge {}
