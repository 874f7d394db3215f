//! Makes frames.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use purlin_term::{Atom, EncodeError, Encoder, Writer};

use crate::control::Control;
use crate::flags::Flags;
use crate::frame::cache::Telling;
use crate::frame::repeated::{Repeated, Say};
use crate::frame::{PORTION, Payload, header};

/// How large a buffer for terms is kept.
const KEPT: usize = 4 * PORTION;

/// One direction of a connection: what we say. Frames gather here until they are [taken](Outgoing::swap).
///
/// A payload that is larger than a [`PORTION`] is not put out at once, if the other node
/// takes fragments: [`Outgoing::put`] says so, and whoever sends it encodes a portion at a
/// time and puts each out by [`Outgoing::first`] and [`Outgoing::next`].
///
/// COST: an atom that was told before takes two bytes and a look at its place.
#[derive(Debug)]
pub struct Outgoing {
    /// Tells it from all others.
    number: u64,
    flags: Flags,
    cache: Telling,
    frames: Vec<u8>,
    /// The terms of the frame that is being made.
    body: Vec<u8>,
    sequence: u64,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Size {
    /// It was put out.
    Small,
    /// Nothing was put out: it is to be sent in fragments.
    Large,
}

/// What cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsendable {
    /// The control message needs a payload and has none, or has one that it does not need.
    Payload,
    /// The external format has no room for the term.
    Term(EncodeError),
}

impl From<EncodeError> for Unsendable {
    fn from(error: EncodeError) -> Self {
        Self::Term(error)
    }
}

impl fmt::Display for Unsendable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload => {
                f.write_str("a control message without its payload, or with one too much")
            }
            Self::Term(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unsendable {}

impl Outgoing {
    /// A connection over which nothing was sent, of nodes that can both do this.
    #[must_use]
    pub fn new(flags: Flags) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // ORDER: relaxed, because the number carries nothing but itself.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let cache = Telling::default();
        Self { number, flags, cache, frames: Vec::new(), body: Vec::new(), sequence: 0 }
    }

    /// How many bytes are to be written.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.frames.len()
    }

    /// Exchanges what is to be written for an empty buffer.
    pub fn swap(&mut self, empty: &mut Vec<u8>) {
        debug_assert!(empty.is_empty());
        std::mem::swap(&mut self.frames, empty);
    }

    /// Puts out a tick.
    pub fn tick(&mut self) {
        self.frames.extend_from_slice(&[0; 4]);
    }

    /// Puts out a control message, with its payload, unless that is large.
    ///
    /// # Errors
    /// It cannot be sent; nothing was put out.
    pub fn put<'a>(
        &mut self,
        control: impl Into<Say<'a>>,
        payload: Option<&Payload<'_>>,
    ) -> Result<Size, Unsendable> {
        match control.into() {
            Say::Once(control) => self.put_once(control, payload),
            Say::Again(control) => self.put_again(control, payload),
        }
    }

    fn put_again(
        &mut self,
        said: &mut Repeated,
        payload: Option<&Payload<'_>>,
    ) -> Result<Size, Unsendable> {
        let Some(Payload::Bytes(bytes)) = payload.filter(|_| self.has_headers()) else {
            return self.put_once(said.control(), payload);
        };
        if bytes.len() <= PORTION
            && let Some(beginning) = said.beginning(self.number, self.cache.changes())
        {
            let length = (beginning.len() + bytes.len()) as u32;
            self.frames.reserve(4 + beginning.len() + bytes.len());
            self.frames.extend_from_slice(&length.to_be_bytes());
            self.frames.extend_from_slice(beginning);
            self.frames.extend_from_slice(bytes);
            return Ok(Size::Small);
        }
        let start = self.frames.len() + 4;
        let put = self.put_once(said.control(), payload)?;
        if put == Size::Small && !self.cache.is_changed() {
            let beginning = &self.frames[start..self.frames.len() - bytes.len()];
            said.was_written(self.number, self.cache.changes(), beginning);
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
            let most = if self.flags.has(Flags::FRAGMENTS) { PORTION } else { usize::MAX };
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

    /// Writes a payload; `false` if it is larger than that.
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

    /// Puts out the first of `count` fragments; what tells the message from others comes back.
    ///
    /// # Errors
    /// The control message cannot be sent; nothing was put out.
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

    /// Puts out a further fragment; `left` counts it and those behind it.
    pub fn next(&mut self, sequence: u64, left: u64, portion: &[u8]) {
        let start = self.frames.len();
        self.frames.extend_from_slice(&[0; 4]);
        header::write_next(sequence, left, &mut self.frames);
        self.frames.extend_from_slice(portion);
        let length = (self.frames.len() - start - 4) as u32;
        self.frames[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// Makes ready for the next frame; what one that was large has taken goes back.
    fn has_made(&mut self) {
        self.body.clear();
        self.body.shrink_to(KEPT);
    }

    fn has_headers(&self) -> bool {
        self.flags.has(Flags::FRAGMENTS) || self.has_cache()
    }

    fn has_cache(&self) -> bool {
        self.flags.has(Flags::DIST_HDR_ATOM_CACHE)
    }

    fn control(&mut self, control: &Control) -> Result<(), Unsendable> {
        let caches = self.has_cache();
        let Self { cache, body, .. } = self;
        let mut index = |atom: &Atom| if caches { cache.index(atom) } else { None };
        Ok(control.write(&mut Writer::new(body).index(&mut index))?)
    }

    /// Puts out a frame of a header and the body.
    fn frame(&mut self, header: impl FnOnce(&Telling, &mut Vec<u8>)) -> Result<(), Unsendable> {
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
