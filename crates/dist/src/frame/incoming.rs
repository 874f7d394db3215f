//! Takes frames apart.

use purlin_term::{Atom, Decoder, Term};

use crate::control::Control;
use crate::frame::cache::Told;
use crate::frame::fragments::Fragments;
use crate::frame::header::{self, Form};
use crate::frame::{Broken, Limits};

/// What one node tells another, with what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// What it is.
    pub control: Control,
    /// The message, the reason or the arguments.
    pub payload: Option<Term>,
}

/// One direction of a connection: what the other node says.
///
/// COST: a whole message costs what its terms do; one in fragments is copied once besides.
#[derive(Debug)]
pub struct Incoming {
    limits: Limits,
    cache: Told,
    /// The atoms that the header of the last frame listed.
    atoms: Vec<Atom>,
    fragments: Fragments,
}

impl Incoming {
    /// A connection over which nothing has come.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let (cache, fragments) = (Told::default(), Fragments::default());
        Self { limits, cache, atoms: Vec::new(), fragments }
    }

    /// Takes a frame, without its length. `None` if it was a tick, or a fragment that was not the last.
    ///
    /// # Errors
    /// See [`Broken`]; then the connection cannot go on.
    pub fn take(&mut self, frame: &[u8]) -> Result<Option<Signal>, Broken> {
        let (form, body) = header::read(frame, &mut self.cache, &mut self.atoms)?;
        let limits = &self.limits;
        match form {
            Form::Tick => Ok(None),
            Form::PassThrough => self.signal(&[], body, true),
            Form::Whole | Form::First { left: 1, .. } => self.signal(&self.atoms, body, false),
            Form::First { sequence, left: 0 } => Err(Broken::Sequence(sequence)),
            Form::First { sequence, left } => {
                self.fragments.begin(sequence, left, &self.atoms, body, limits)?;
                Ok(None)
            }
            Form::Next { sequence, left } => {
                match self.fragments.go_on(sequence, left, body, limits)? {
                    Some(whole) => self.signal(&whole.atoms, &whole.bytes, false),
                    None => Ok(None),
                }
            }
        }
    }

    /// Reads the terms, with version bytes or without.
    fn signal(
        &self,
        atoms: &[Atom],
        body: &[u8],
        versions: bool,
    ) -> Result<Option<Signal>, Broken> {
        let mut decoder = Decoder::with_atoms(body, atoms).limits(self.limits.term);
        let mut term = || if versions { decoder.decode() } else { decoder.decode_bare() };
        let control = Control::try_from(term()?)?;
        let payload = if control.has_payload() { Some(term()?) } else { None };
        if !decoder.rest().is_empty() {
            return Err(Broken::Trailing);
        }
        Ok(Some(Signal { control, payload }))
    }
}
