//! Frame encoder.

use std::sync::atomic::{AtomicU64, Ordering};

use purlin_term::{Atom, EncodeError, Encoder, Writer};

use crate::control::Control;
use crate::flags::Flags;
use crate::frame::cache::SendCache;
use crate::frame::control_template::OutgoingControl;
use crate::frame::header;
use crate::frame::limits::FRAGMENT_SIZE;
use crate::frame::payload::Payload;

/// Maximum capacity retained by the buffer for terms.
const KEPT: usize = 4 * FRAGMENT_SIZE;

/// Encoder state of one connection. Frames accumulate until the writer [takes](Outgoing::swap) them.
///
/// If the peer supports fragments, [`Outgoing::put`] does not encode a payload larger than [`FRAGMENT_SIZE`] and
/// returns [`Size::Large`]. The sender then encodes one fragment at a time and adds each with
/// [`Outgoing::first`] and [`Outgoing::next`].
///
/// COST: a cached atom takes two bytes in the frame and one comparison.
#[derive(Debug)]
pub struct Outgoing {
    /// Identifies this encoder in cached templates.
    number: u64,
    flags: Flags,
    cache: SendCache,
    frames: Vec<u8>,
    /// The terms of the frame being encoded.
    body: Vec<u8>,
    sequence: u64,
}

/// Outcome of [`Outgoing::put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Size {
    /// The frame was added.
    Small,
    /// Nothing was added: the message must be sent in fragments.
    Large,
}

/// Error for a message that cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsendable {
    /// The control message lacks its payload, or has one it must not have.
    #[error("a control message without its payload, or with one too much")]
    Payload,
    /// The term does not fit into the external term format.
    #[error(transparent)]
    Term(#[from] EncodeError),
}

impl Outgoing {
    /// Creates the state of a new connection. `flags` are those that both nodes have.
    #[must_use]
    pub fn new(flags: Flags) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // ORDER: relaxed: a unique number that orders nothing else.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let cache = SendCache::default();
        Self { number, flags, cache, frames: Vec::new(), body: Vec::new(), sequence: 0 }
    }

    /// Number of bytes to be written.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.frames.len()
    }

    /// Exchanges the accumulated frames for an empty buffer.
    pub fn swap(&mut self, empty: &mut Vec<u8>) {
        debug_assert!(empty.is_empty());
        std::mem::swap(&mut self.frames, empty);
    }

    /// Adds a tick.
    pub fn tick(&mut self) {
        self.frames.extend_from_slice(&[0; 4]);
    }

    /// Adds a control message with its payload, unless the payload must be fragmented.
    ///
    /// # Errors
    /// The message cannot be sent; nothing was added.
    pub fn put<'a>(
        &mut self,
        control: impl Into<OutgoingControl<'a>>,
        payload: Option<&Payload<'_>>,
    ) -> Result<Size, Unsendable> {
        let OutgoingControl { control, encoding } = control.into();
        let (Some(encoding), Some(Payload::Bytes(bytes)), true) =
            (encoding, payload, self.has_headers())
        else {
            return self.put_once(control, payload);
        };
        if bytes.len() <= FRAGMENT_SIZE
            && let Some(beginning) = encoding.beginning(self.number, self.cache.changes())
        {
            let length = (beginning.len() + bytes.len()) as u32;
            self.frames.reserve(4 + beginning.len() + bytes.len());
            self.frames.extend_from_slice(&length.to_be_bytes());
            self.frames.extend_from_slice(beginning);
            self.frames.extend_from_slice(bytes);
            return Ok(Size::Small);
        }
        let start = self.frames.len() + 4;
        let put = self.put_once(control, payload)?;
        if put == Size::Small && !self.cache.is_changed() {
            let beginning = &self.frames[start..self.frames.len() - bytes.len()];
            encoding.was_written(self.number, self.cache.changes(), beginning);
        }
        Ok(put)
    }

    fn put_once(
        &mut self,
        control: &Control,
        payload: Option<&Payload<'_>>,
    ) -> Result<Size, Unsendable> {
        let made = self.make(control, payload);
        if made != Ok(Size::Small) {
            self.cache.forget();
        }
        self.has_made();
        made
    }

    fn make(
        &mut self,
        control: &Control,
        payload: Option<&Payload<'_>>,
    ) -> Result<Size, Unsendable> {
        let headers = self.has_headers();
        self.cache.begin();
        if !headers {
            self.body.push(header::VERSION);
        }
        self.control(control)?;
        if let Some(payload) = payload {
            if !headers {
                self.body.push(header::VERSION);
            }
            let most =
                if self.flags.contains(Flags::FRAGMENTS) { FRAGMENT_SIZE } else { usize::MAX };
            if !self.payload(payload, most)? {
                return Ok(Size::Large);
            }
        }
        if headers {
            self.frame(header::write_whole)?;
        } else {
            self.frame(|_, out| out.push(header::PASS_THROUGH))?;
        }
        Ok(Size::Small)
    }

    /// Encodes a payload. Returns `false` if it is larger than `most`.
    fn payload(&mut self, payload: &Payload<'_>, most: usize) -> Result<bool, Unsendable> {
        match payload {
            Payload::Term(term) => {
                let caches = self.has_cache();
                let Self { cache, body, .. } = self;
                let mut index = |atom: &Atom| if caches { cache.index(atom) } else { None };
                Ok(Encoder::bare(term).index(&mut index).write_some(body, most)?)
            }
            Payload::Bytes(bytes) => {
                let is_small = bytes.len() <= most;
                if is_small {
                    self.body.extend_from_slice(bytes);
                }
                Ok(is_small)
            }
        }
    }

    /// Adds the first of `count` fragments. Returns the sequence id of the message.
    ///
    /// # Errors
    /// The control message cannot be sent; nothing was added.
    pub fn first(
        &mut self,
        control: &Control,
        count: u64,
        portion: &[u8],
    ) -> Result<u64, Unsendable> {
        self.sequence += 1;
        let sequence = self.sequence;
        self.cache.begin();
        let made = self.control(control).and_then(|()| {
            self.body.extend_from_slice(portion);
            self.frame(|cache, out| header::write_first(sequence, count, cache, out))
        });
        if made.is_err() {
            self.cache.forget();
        }
        self.has_made();
        made.map(|()| sequence)
    }

    /// Adds a further fragment; `left` is the number of fragments left, including this one.
    pub fn next(&mut self, sequence: u64, left: u64, portion: &[u8]) {
        let start = self.frames.len();
        self.frames.extend_from_slice(&[0; 4]);
        header::write_next(sequence, left, &mut self.frames);
        self.frames.extend_from_slice(portion);
        let length = (self.frames.len() - start - 4) as u32;
        self.frames[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Resets the buffer for the next frame; releases capacity beyond [`KEPT`].
    fn has_made(&mut self) {
        self.body.clear();
        self.body.shrink_to(KEPT);
    }

    fn has_headers(&self) -> bool {
        self.flags.contains(Flags::FRAGMENTS) || self.has_cache()
    }

    fn has_cache(&self) -> bool {
        self.flags.contains(Flags::DIST_HDR_ATOM_CACHE)
    }

    fn control(&mut self, control: &Control) -> Result<(), Unsendable> {
        let caches = self.has_cache();
        let Self { cache, body, .. } = self;
        let mut index = |atom: &Atom| if caches { cache.index(atom) } else { None };
        Ok(control.write(&mut Writer::new(body).index(&mut index))?)
    }

    /// Adds a frame consisting of a header and the encoded body.
    fn frame(&mut self, header: impl FnOnce(&SendCache, &mut Vec<u8>)) -> Result<(), Unsendable> {
        let start = self.frames.len();
        self.frames.extend_from_slice(&[0; 4]);
        header(&self.cache, &mut self.frames);
        let length = self.frames.len() - start - 4 + self.body.len();
        let Ok(length) = u32::try_from(length) else {
            self.frames.truncate(start);
            return Err(Unsendable::Term(EncodeError::TooLong));
        };
        self.frames[start..start + 4].copy_from_slice(&length.to_be_bytes());
        self.frames.extend_from_slice(&self.body);
        Ok(())
    }
}
