//! Frame decoder.

use purlin_term::AtomTable;

use crate::broken::Broken;
use crate::frame::cache::ReceiveCache;
use crate::frame::fragments::Fragments;
use crate::frame::header::{self, Form};
use crate::frame::incoming_frame::{self, IncomingFrame, Recipient};
use crate::frame::limits::Limits;

/// Maximum length of a remembered frame prefix.
const KEPT: usize = 1024;

/// Decoder state of one connection.
///
/// COST: an unfragmented message is not copied; a fragmented one is copied once.
#[derive(Debug)]
pub struct Incoming {
    limits: Limits,
    cache: ReceiveCache,
    /// Cache entries listed in the last header.
    listed: Vec<u16>,
    /// Prefix of the last frame, if it was a message.
    last: Beginning,
    fragments: Fragments,
}

/// Prefix of an unfragmented message frame. Most messages have the recipient of the previous one, and the same prefix.
#[derive(Debug, Default)]
struct Beginning {
    /// Header and control message; empty if the last frame was not a message.
    bytes: Vec<u8>,
    /// Length of the header in `bytes`.
    header: usize,
}

impl Incoming {
    /// Creates the state of a new connection.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let (cache, listed, last, fragments) = Default::default();
        Self { limits, cache, listed, last, fragments }
    }

    /// Number of bytes of incomplete messages.
    #[inline]
    #[must_use]
    pub fn incomplete(&self) -> usize {
        self.fragments.held
    }

    /// Decodes a frame without its length. Returns `None` for a tick, and for a fragment that is not the last. A message
    /// whose fragments exceed the limit is returned with the fragment that does, and its further ones are ignored.
    ///
    /// # Errors
    /// See [`Broken`]; the connection must then be closed.
    #[inline]
    pub fn take<'a>(&'a mut self, frame: &'a [u8]) -> Result<Option<IncomingFrame<'a>>, Broken> {
        let Self { limits, cache, listed, last, fragments } = self;
        let (begins, header) = (last.bytes.len(), last.header);
        if begins > 0 && frame.starts_with(&last.bytes) {
            // The header lists the same atoms as the last one. A new atom in it would be stored in the same entry
            // again.
            let atoms = AtomTable::of_slots(listed, cache.atoms());
            let message = Some((Recipient::Same, begins - header));
            let body = &frame[header..];
            return Ok(Some(IncomingFrame::new(body, atoms, false, message, limits.term)));
        }
        last.bytes.clear();
        let (form, body) = header::read(frame, cache, listed)?;
        let atoms = AtomTable::of_slots(listed, cache.atoms());
        Ok(Some(match form {
            Form::Tick => return Ok(None),
            Form::PassThrough => {
                IncomingFrame::new(body, AtomTable::default(), true, None, limits.term)
            }
            Form::Whole => {
                let message = incoming_frame::message(body, atoms);
                let header = frame.len() - body.len();
                let begins = message.as_ref().map(|(_, payload)| header + payload);
                if let Some(begins) = begins.filter(|begins| *begins <= KEPT) {
                    last.header = header;
                    last.bytes.extend_from_slice(&frame[..begins]);
                }
                IncomingFrame::new(body, atoms, false, message, limits.term)
            }
            Form::First { left: 1, .. } => {
                IncomingFrame::new(body, atoms, false, None, limits.term)
            }
            Form::First { sequence, left: 0 } => return Err(Broken::Sequence(sequence)),
            Form::First { sequence, left } => {
                match fragments.begin(sequence, left, atoms, body, limits)? {
                    Some(exceeding) => IncomingFrame::of_fragments(exceeding, limits.term),
                    None => return Ok(None),
                }
            }
            Form::Next { sequence, left } => {
                match fragments.go_on(sequence, left, body, limits)? {
                    Some(whole) => IncomingFrame::of_fragments(whole, limits.term),
                    None => return Ok(None),
                }
            }
        }))
    }
}
