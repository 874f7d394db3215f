//! Takes frames apart.

use crate::control::Control;
use crate::frame::cache::Told;
use crate::frame::fragments::{Fragments, Whole};
use crate::frame::header::{self, Form};
use crate::frame::said::Said;
use crate::frame::{Broken, Limits, Unread};
use purlin_term::AtomTable;

/// One direction of a connection: what the other node says.
///
/// COST: a whole message costs nothing until it is read; one in fragments is copied once.
#[derive(Debug)]
pub struct Incoming {
    limits: Limits,
    cache: Told,
    /// The places of the cache that the header of the last frame listed.
    listed: Vec<u16>,
    fragments: Fragments,
    /// The last message that was put together.
    whole: Whole,
}

impl Incoming {
    /// A connection over which nothing has come.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let (cache, listed, fragments, whole) = Default::default();
        Self { limits, cache, listed, fragments, whole }
    }

    /// Takes a frame, without its length, and reads what it says; the payload is left to be read. `None` if it
    /// was a tick, or a fragment that was not the last.
    ///
    /// # Errors
    /// See [`Broken`]; then the connection cannot go on.
    pub fn take<'a>(
        &'a mut self,
        frame: &'a [u8],
    ) -> Result<Option<(Control, Option<Unread<'a>>)>, Broken> {
        self.said(frame)?.map(Said::signal).transpose()
    }

    /// Takes a frame, without its length.
    ///
    /// # Errors
    /// See [`Broken`]; then the connection cannot go on.
    pub fn said<'a>(&'a mut self, frame: &'a [u8]) -> Result<Option<Said<'a>>, Broken> {
        let (form, body) = header::read(frame, &mut self.cache, &mut self.listed)?;
        let Self { limits, cache, listed, fragments, whole } = self;
        let atoms = AtomTable::of_places(listed, cache.atoms());
        Ok(Some(match form {
            Form::Tick => return Ok(None),
            Form::PassThrough => Said::new(body, AtomTable::default(), true, limits.term),
            Form::Whole | Form::First { left: 1, .. } => Said::new(body, atoms, false, limits.term),
            Form::First { sequence, left: 0 } => return Err(Broken::Sequence(sequence)),
            Form::First { sequence, left } => {
                fragments.begin(sequence, left, atoms, body, limits)?;
                return Ok(None);
            }
            Form::Next { sequence, left } => {
                let Some(all) = fragments.go_on(sequence, left, body, limits)? else {
                    return Ok(None);
                };
                *whole = all;
                Said::new(&whole.bytes, AtomTable::from(&whole.atoms), false, limits.term)
            }
        }))
    }
}
