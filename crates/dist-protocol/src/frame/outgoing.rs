//! Frame encoder.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Buf;
use purlin_term::{Atom, EncodeError, Encoder, Writer};

use crate::control::Control;
use crate::flags::Flags;
use crate::frame::cache::SendCache;
use crate::frame::control_template::OutgoingControl;
use crate::frame::encoded::Encoded;
use crate::frame::frames::Frames;
use crate::frame::header;
use crate::frame::limits::FRAGMENT_SIZE;
use crate::frame::payload::Payload;

/// Maximum capacity retained by the buffer for terms.
const KEPT: usize = 4 * FRAGMENT_SIZE;

/// Encoder state of one connection. Frames accumulate until the writer [takes](Outgoing::swap) them.
///
/// If the peer supports fragments, [`Outgoing::put`] does not add a payload larger than [`FRAGMENT_SIZE`] and returns
/// [`Size::Large`]. The writer then adds one fragment at a time with [`Outgoing::first`] and [`Outgoing::next`].
///
/// COST: a cached atom takes two bytes in the frame and one comparison.
#[derive(Debug)]
pub struct Outgoing {
    /// Identifies this encoder in cached templates.
    number: u64,
    flags: Flags,
    /// Maximum length of a payload that is not fragmented.
    most: usize,
    cache: SendCache,
    frames: Frames,
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
        let most = if flags.contains(Flags::FRAGMENTS) { FRAGMENT_SIZE } else { usize::MAX };
        Self {
            number,
            flags,
            most,
            cache,
            frames: Frames::default(),
            body: Vec::new(),
            sequence: 0,
        }
    }

    /// Number of bytes to be written.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.frames.remaining()
    }

    /// Exchanges the accumulated frames for an empty buffer.
    pub fn swap(&mut self, empty: &mut Frames) {
        debug_assert!(!empty.has_remaining());
        std::mem::swap(&mut self.frames, empty);
    }

    /// Adds a tick.
    pub fn tick(&mut self) {
        self.frames.bytes().extend_from_slice(&[0; 4]);
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
        if payload.and_then(Payload::len).is_some_and(|length| length > self.most) {
            return Ok(Size::Large);
        }
        let (Some(encoding), Some(Payload::Bytes(bytes)), true) =
            (encoding, payload, self.has_headers())
        else {
            return self.put_once(control, payload);
        };
        if bytes.len() <= FRAGMENT_SIZE
            && let Some(beginning) = encoding.beginning(self.number, self.cache.changes())
        {
            let length = (beginning.len() + bytes.len()) as u32;
            let frames = self.frames.bytes();
            frames.reserve(4 + beginning.len() + bytes.len());
            frames.extend_from_slice(&length.to_be_bytes());
            frames.extend_from_slice(beginning);
            frames.extend_from_slice(bytes);
            return Ok(Size::Small);
        }
        let start = self.frames.bytes().len() + 4;
        let put = self.put_once(control, payload)?;
        if put == Size::Small && !self.cache.is_changed() {
            let frames = self.frames.bytes();
            let beginning = &frames[start..frames.len() - bytes.len()];
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
        if payload.is_some() && !headers {
            self.body.push(header::VERSION);
        }
        if let Some(Payload::Term(term)) = payload {
            let caches = self.has_cache();
            let Self { cache, body, .. } = self;
            let mut index = |atom: &Atom| if caches { cache.index(atom) } else { None };
            if !Encoder::bare(term).index(&mut index).write_some(body, self.most)? {
                return Ok(Size::Large);
            }
        }
        if headers {
            self.frame(header::write_whole, payload)?;
        } else {
            self.frame(|_, out| out.push(header::PASS_THROUGH), payload)?;
        }
        Ok(Size::Small)
    }

    /// Adds the first of `count` fragments. Returns the sequence id of the message.
    ///
    /// # Errors
    /// The control message cannot be sent; nothing was added.
    pub fn first(
        &mut self,
        control: &Control,
        count: u64,
        fragment: Encoded,
    ) -> Result<u64, Unsendable> {
        self.sequence += 1;
        let sequence = self.sequence;
        self.cache.begin();
        let fragment = Payload::Encoded(fragment);
        let made = self.control(control).and_then(|()| {
            let header = |cache: &_, out: &mut _| header::write_first(sequence, count, cache, out);
            self.frame(header, Some(&fragment))
        });
        if made.is_err() {
            self.cache.forget();
        }
        self.has_made();
        made.map(|()| sequence)
    }

    /// Adds a further fragment; `left` is the number of fragments left, including this one.
    pub fn next(&mut self, sequence: u64, left: u64, fragment: &Encoded) {
        let length = (header::NEXT_LENGTH + fragment.len()) as u32;
        let bytes = self.frames.bytes();
        bytes.extend_from_slice(&length.to_be_bytes());
        header::write_next(sequence, left, bytes);
        fragment.pieces().for_each(|piece| self.frames.put_piece(piece));
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

    /// Adds a frame consisting of a header, the encoded body, and a payload that is not a term.
    fn frame(
        &mut self,
        header: impl FnOnce(&SendCache, &mut Vec<u8>),
        payload: Option<&Payload<'_>>,
    ) -> Result<(), Unsendable> {
        let bytes = self.frames.bytes();
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        header(&self.cache, bytes);
        bytes.extend_from_slice(&self.body);
        let length = bytes.len() - start - 4 + payload.and_then(Payload::len).unwrap_or(0);
        let Ok(length) = u32::try_from(length) else {
            bytes.truncate(start);
            return Err(Unsendable::Term(EncodeError::TooLong));
        };
        bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
        match payload {
            Some(Payload::Bytes(payload)) => bytes.extend_from_slice(payload),
            Some(Payload::Encoded(payload)) => {
                payload.pieces().for_each(|piece| self.frames.put_piece(piece));
            }
            Some(Payload::Term(_)) | None => {}
        }
        Ok(())
    }
}
