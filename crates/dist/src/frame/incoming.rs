//! Takes frames apart.

use purlin_term::AtomTable;

use crate::frame::cache::Told;
use crate::frame::fragments::Fragments;
use crate::frame::header::{self, Form};
use crate::frame::said::{self, Recipient, Said};
use crate::frame::{Broken, Limits};

/// So long a beginning of a frame is kept at most.
const KEPT: usize = 1024;

/// One direction of a connection: what the other node says.
///
/// COST: a whole message costs nothing until it is read; one in fragments is copied once.
#[derive(Debug)]
pub struct Incoming {
    limits: Limits,
    cache: Told,
    /// The places of the cache that the header of the last frame listed.
    listed: Vec<u16>,
    /// How the last frame began, if it was a message.
    last: Beginning,
    fragments: Fragments,
}

/// How a frame begins that is a whole message: most are for whom the one before was for, and begin as it did.
#[derive(Debug, Default)]
struct Beginning {
    /// Its header and control message; none if it was no message.
    bytes: Vec<u8>,
    /// How many of these are the header.
    header: usize,
}

impl Incoming {
    /// A connection over which nothing has come.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let (cache, listed, last, fragments) = Default::default();
        Self { limits, cache, listed, last, fragments }
    }

    /// Takes a frame, without its length. `None` if it was a tick, or a fragment that was not the last.
    ///
    /// # Errors
    /// See [`Broken`]; then the connection cannot go on.
    pub fn take<'a>(&'a mut self, frame: &'a [u8]) -> Result<Option<Said<'a>>, Broken> {
        let Self { limits, cache, listed, last, fragments } = self;
        let (begins, header) = (last.bytes.len(), last.header);
        if begins > 0 && frame.starts_with(&last.bytes) {
            // What it lists is what the last one did; a new atom is put where it was put then.
            let atoms = AtomTable::of_places(listed, cache.atoms());
            let message = Some((Recipient::Same, begins - header));
            return Ok(Some(Said::of_message(&frame[header..], atoms, message, limits.term)));
        }
        last.bytes.clear();
        let (form, body) = header::read(frame, cache, listed)?;
        let atoms = AtomTable::of_places(listed, cache.atoms());
        Ok(Some(match form {
            Form::Tick => return Ok(None),
            Form::PassThrough => Said::new(body, AtomTable::default(), true, limits.term),
            Form::Whole => {
                let message = said::message(body, atoms);
                let header = frame.len() - body.len();
                let begins = message.as_ref().map(|(_, payload)| header + payload);
                if let Some(begins) = begins.filter(|begins| *begins <= KEPT) {
                    last.header = header;
                    last.bytes.extend_from_slice(&frame[..begins]);
                }
                Said::of_message(body, atoms, message, limits.term)
            }
            Form::First { left: 1, .. } => Said::new(body, atoms, false, limits.term),
            Form::First { sequence, left: 0 } => return Err(Broken::Sequence(sequence)),
            Form::First { sequence, left } => {
                fragments.begin(sequence, left, atoms, body, limits)?;
                return Ok(None);
            }
            Form::Next { sequence, left } => {
                match fragments.go_on(sequence, left, body, limits)? {
                    Some(whole) => Said::of_fragments(whole, limits.term),
                    None => return Ok(None),
                }
            }
        }))
    }
}
