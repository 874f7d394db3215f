//! What stands in a file of messages. Pure, but for reading it through once.
//!
//! The file is what clients have sent, one behind the other, as they sent it to a
//! server whose sizes are little-endian: wherever the client changes its opening
//! stands before what it sent.
//!
//! INVARIANT: a message whose id begins as an opening's never is in the file, so
//! whatever looks like an opening is one.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};

use crate::frames::{Frames, needed};
use crate::handler::{Batch, Session, Stored};
use crate::inbuf::InBuf;
use crate::session::{Level, Opening, version};
use crate::wire::{Head, SizeOrder};

/// Who has no session.
const NOBODY: Session = Session { client: [0; 16], epoch: 0 };
/// How much is read at a time, in bytes.
const BLOCK: usize = 1 << 20;

/// What is known of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    length: u64,
    /// Whose messages stand at the end.
    last: Option<Session>,
    /// The latest epoch of each, and the newest message of that.
    clients: HashMap<[u8; 16], (u64, u64)>,
}

impl Contents {
    /// Reads a file through, up to what is incomplete at its end.
    pub(super) fn of(file: &mut File) -> io::Result<Self> {
        let mut contents = Self::default();
        let mut buffer = InBuf::new(BLOCK);
        loop {
            let needed = needed(buffer.waiting(), SizeOrder::Little, u32::MAX);
            // WHY: there is no size over that limit.
            let room = buffer.room(needed.unwrap_or(1));
            let count = file.read(room)?;
            if count == 0 {
                return Ok(contents);
            }
            buffer.filled(count);
            let used = contents.see(buffer.waiting());
            buffer.used(used);
        }
    }

    /// How many bytes of it are whole messages.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// What is stored of a client, of which nothing is ever refused.
    pub(super) fn stored(&self, client: [u8; 16]) -> Option<Stored> {
        let (epoch, newest) = self.clients.get(&client).copied()?;
        Some(Stored { epoch, newest, refused: Vec::new() })
    }

    /// More has been written: whole messages, and the beginning of one that does not count. How much
    /// they were.
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

    /// The bytes to be written for a batch, behind those that are about to be written.
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
            // A payload came with a size of four bytes.
            let size = frame.payload.len() as u32;
            out.extend(Head { id: frame.id, size }.to_bytes(SizeOrder::Little));
            out.extend_from_slice(frame.payload);
        }
        session
    }
}

/// Whether there is a message in a batch that could be taken for an opening.
pub(super) fn looks_like_opening(batch: &Batch<'_>) -> bool {
    batch.frames().any(|frame| version(frame.id).is_some())
}
