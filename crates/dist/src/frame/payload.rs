//! What stands behind a control message: how it is given to be sent, and how it comes.

use std::borrow::Cow;
use std::fmt;

use purlin_term::{AtomTable, Decoder, Encoder, Limits, Reader, Term, ValueError};
use serde::de::DeserializeOwned;

use crate::control::Control;
use crate::frame::Broken;
use crate::frame::header::VERSION;

/// What one node tells another, with what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal<P = Term> {
    /// What it is.
    pub control: Control,
    /// The message, the reason or the arguments.
    pub payload: Option<P>,
}

/// A payload to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// A term, whose atoms are told once.
    Term(Term),
    /// A term in the external format, without the version before it; its atoms are sent as they stand there.
    Bytes(Cow<'a, [u8]>),
}

impl Payload<'_> {
    /// The same, with nothing borrowed.
    #[must_use]
    pub fn into_owned(self) -> Payload<'static> {
        match self {
            Self::Term(term) => Payload::Term(term),
            Self::Bytes(bytes) => Payload::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }

    /// What writes it a portion at a time.
    pub(crate) fn portions(&self) -> Portions<'_> {
        match self {
            Self::Term(term) => Portions::Term(Encoder::bare(term)),
            Self::Bytes(bytes) => Portions::Bytes(bytes),
        }
    }
}

impl From<Term> for Payload<'static> {
    fn from(term: Term) -> Self {
        Self::Term(term)
    }
}

/// What is left of a payload to be written.
pub(crate) enum Portions<'a> {
    Term(Encoder<'a, 'a>),
    Bytes(&'a [u8]),
}

impl Portions<'_> {
    /// Writes the next portion; says whether it was the last.
    pub(crate) fn write(
        &mut self,
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<bool, purlin_term::EncodeError> {
        match self {
            Self::Term(encoder) => encoder.write_some(out, most),
            Self::Bytes(bytes) => {
                let (now, later) = bytes.split_at(most.min(bytes.len()));
                out.extend_from_slice(now);
                *bytes = later;
                Ok(later.is_empty())
            }
        }
    }
}

/// A payload that has come, and has not been read: nobody knows yet whether it is a term.
#[derive(Clone, Copy, Debug)]
pub struct Unread<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) atoms: AtomTable<'a>,
    /// The version stands before it.
    pub(super) version: bool,
    pub(super) limits: Limits,
}

impl<'a> Unread<'a> {
    /// A term by itself, as [`Term::encode`] writes it.
    pub(crate) fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, atoms: AtomTable::default(), version: true, limits: Limits::default() }
    }

    /// The term that it is.
    ///
    /// # Errors
    /// [`Broken::Term`], [`Broken::Trailing`]: it is none. Then the connection cannot go on.
    pub fn term(self) -> Result<Term, Broken> {
        let mut decoder = Decoder::with_atoms(self.bytes, self.atoms).limits(self.limits);
        let term = if self.version { decoder.decode() } else { decoder.decode_bare() }?;
        if decoder.rest().is_empty() { Ok(term) } else { Err(Broken::Trailing) }
    }

    /// The value that it is.
    ///
    /// COST: what the value does; there is no term in between, unless it is compressed or so large that the limits
    /// of terms may not allow it.
    ///
    /// # Errors
    /// [`NoValue`].
    pub fn value<T: DeserializeOwned>(self) -> Result<T, NoValue> {
        // Whatever stands there, it has no more terms than bytes.
        let is_surely_allowed = self.bytes.len() <= self.limits.memory / size_of::<Term>();
        let bytes = match (self.version, self.bytes) {
            (false, bytes) if is_surely_allowed => bytes,
            (true, [VERSION, bytes @ ..])
                if is_surely_allowed && bytes.first() != Some(&COMPRESSED) =>
            {
                bytes
            }
            _ => {
                let term = self.term().map_err(NoValue::Broken)?;
                return purlin_term::from_term(&term).map_err(NoValue::Other);
            }
        };
        let mut reader = Reader::with_atoms(bytes, self.atoms);
        match purlin_term::from_reader(&mut reader) {
            Ok(value) if reader.rest().is_empty() => Ok(value),
            Ok(_) => Err(NoValue::Broken(Broken::Trailing)),
            // Whether it is a term at all is seen by reading all of it.
            Err(why) => self
                .term()
                .map_or_else(|broken| Err(NoValue::Broken(broken)), |_| Err(NoValue::Other(why))),
        }
    }
}

/// What a compressed term begins with.
const COMPRESSED: u8 = 80;

/// Why a payload is not the value that was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// It is no term: the connection cannot go on.
    Broken(Broken),
    /// It is a term, of another kind.
    Other(ValueError),
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(broken) => broken.fmt(f),
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoValue {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Broken(broken) => Some(broken),
            Self::Other(error) => Some(error),
        }
    }
}
