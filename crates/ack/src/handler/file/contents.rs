//! Index of a message file. Pure, except for the initial read.
//!
//! The file holds the messages as clients sent them, consecutively, with little-endian sizes. Where
//! the client changes, the session opening of the new client precedes its messages.
//!
//! INVARIANT: no message whose id starts like an opening is in the file, so everything that looks
//! like an opening is one.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};

use crate::handler::{Batch, Session, Stored};
use crate::wire::frames::{Frames, needed};
use crate::wire::read_buffer::ReadBuffer;
use crate::wire::session::{Level, Opening, version};
use crate::wire::{Head, SizeOrder};

/// Session that stands for clients without a session.
const NOBODY: Session = Session { client: [0; 16], epoch: 0 };
/// Bytes per read.
const BLOCK: usize = 1 << 20;

/// Index of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    length: u64,
    /// Client of the messages at the end of the file.
    last: Option<Session>,
    /// Latest epoch of each client, and the newest message of that epoch.
    clients: HashMap<[u8; 16], (u64, u64)>,
}

impl Contents {
    /// Reads a file up to the incomplete message at its end, if any.
    pub(super) fn of(file: &mut File) -> io::Result<Self> {
        let mut contents = Self::default();
        let mut buffer = ReadBuffer::new(BLOCK);
        loop {
            let needed = needed(buffer.waiting(), SizeOrder::Little, u32::MAX);
            // WHY: no size exceeds a limit of `u32::MAX`.
            let room = buffer.spare(needed.unwrap_or(1));
            let count = file.read(room)?;
            if count == 0 {
                return Ok(contents);
            }
            buffer.filled(count);
            let used = contents.see(buffer.waiting());
            buffer.consume(used);
        }
    }

    /// Returns the length of the whole messages in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the stored position of a client. It contains no refusals: this handler refuses
    /// nothing.
    pub(super) fn stored(&self, client: [u8; 16]) -> Option<Stored> {
        let (epoch, newest) = self.clients.get(&client).copied()?;
        Some(Stored { epoch, newest, refused: Vec::new() })
    }

    /// Indexes the whole messages in `bytes`. Returns their length in bytes; an incomplete message
    /// at the end does not count.
    pub(super) fn see(&mut self, bytes: &[u8]) -> usize {
        let mut frames = Frames::new(bytes, SizeOrder::Little, u32::MAX);
        for frame in &mut frames {
            match Opening::of(&frame) {
                Ok(Some(Opening { client, epoch, level: _ })) => {
                    self.last = Some(Session { client, epoch });
                }
                _ => {
                    if let Some(session) = self.last.filter(|last| *last != NOBODY) {
                        let Session { client, epoch } = session;
                        let newest = frame.id.number();
                        self.clients.insert(client, (epoch, newest));
                    }
                }
            }
        }
        self.length += frames.used() as u64;
        frames.used()
    }

    /// Appends the bytes to write for a batch to `out`. `before` is the client of the bytes already
    /// in `out`.
    pub(super) fn append(
        &self,
        batch: &Batch<'_>,
        before: Option<Session>,
        out: &mut Vec<u8>,
    ) -> Session {
        let session = batch.session().unwrap_or(NOBODY);
        if before.or(self.last) != Some(session) {
            let Session { client, epoch } = session;
            out.extend(Opening { client, epoch, level: Level::Received }.to_bytes());
        }
        if batch.order() == SizeOrder::Little {
            out.extend_from_slice(batch.bytes());
            return session;
        }
        for frame in batch.frames() {
            // The payload was received with a 32-bit size.
            let size = frame.payload.len() as u32;
            out.extend(Head { id: frame.id, size }.to_bytes(SizeOrder::Little));
            out.extend_from_slice(frame.payload);
        }
        session
    }
}

/// Whether a message of the batch could be mistaken for an opening.
pub(super) fn looks_like_opening(batch: &Batch<'_>) -> bool {
    batch.frames().any(|frame| version(frame.id).is_some())
}
