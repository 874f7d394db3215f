//! Takes frames apart.

use purlin_term::AtomTable;

use crate::frame::cache::Told;
use crate::frame::fragments::Fragments;
use crate::frame::header::{self, Form};
use crate::frame::said::Said;
use crate::frame::{Broken, Limits};

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
}

impl Incoming {
    /// A connection over which nothing has come.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let (cache, listed, fragments) = Default::default();
        Self { limits, cache, listed, fragments }
    }

    /// Takes a frame, without its length. `None` if it was a tick, or a fragment that was not the last.
    ///
    /// # Errors
    /// See [`Broken`]; then the connection cannot go on.
    pub fn take<'a>(&'a mut self, frame: &'a [u8]) -> Result<Option<Said<'a>>, Broken> {
        let (form, body) = header::read(frame, &mut self.cache, &mut self.listed)?;
        let (limits, fragments) = (&self.limits, &mut self.fragments);
        let atoms = AtomTable::of_places(&self.listed, self.cache.atoms());
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
                match fragments.go_on(sequence, left, body, limits)? {
                    Some(whole) => Said::of_fragments(whole, limits.term),
                    None => return Ok(None),
                }
            }
        }))
    }
}
