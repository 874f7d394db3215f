//! Payloads of control messages, outgoing and incoming.

use purlin_term::{Atom, AtomTable, Decoder, EncodeError, Limits, Pid, Reader, Term, ValueError};
use serde::de::DeserializeOwned;

use crate::broken::InvalidMessage;
use crate::control::Control;
use crate::frame::encoded::Encoded;
use crate::frame::header::VERSION;

/// A control message with its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal<P = Term> {
    /// The control message.
    pub control: Control,
    /// The message, the exit reason or the arguments.
    pub payload: Option<P>,
}

/// An outgoing payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// A term, whose atoms use the atom cache.
    Term(Term),
    /// A term in the external term format without its version byte. Its atoms are sent as encoded, without the cache.
    Bytes(&'a [u8]),
    /// Likewise, in pieces, which are not copied when they are sent in fragments.
    Encoded(Encoded),
}

impl Payload<'_> {
    /// Encodes a term and takes ownership of bytes, so that the payload can be stored and its memory is known.
    pub(crate) fn encoded(self) -> Result<Encoded, EncodeError> {
        match self {
            Self::Term(term) => Encoded::term(&term),
            Self::Bytes(bytes) => Ok(bytes.to_vec().into()),
            Self::Encoded(encoded) => Ok(encoded),
        }
    }

    /// Number of bytes, or `None` for a term.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Term(_) => None,
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::Encoded(encoded) => Some(encoded.len()),
        }
    }
}

/// An incoming payload before decoding. It may turn out not to be a valid term.
#[derive(Clone, Copy, Debug)]
pub struct Unread<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) atoms: AtomTable<'a>,
    /// Whether a version byte precedes the term.
    pub(super) version: bool,
    pub(super) limits: Limits,
    /// Whether it is missing, because its fragments exceed the limit.
    pub(super) exceeds: bool,
}

impl<'a> Unread<'a> {
    /// A term encoded by [`Term::encode`], as if it had been received.
    #[must_use]
    pub fn whole(bytes: &'a [u8]) -> Self {
        let (atoms, limits) = (AtomTable::default(), Limits::default());
        Self { bytes, atoms, version: true, limits, exceeds: false }
    }

    /// Length of the encoding in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Copies the payload, to decode it later.
    #[must_use]
    pub fn store(self) -> StoredPayload {
        let Self { bytes, atoms, version, limits, exceeds } = self;
        let (bytes, atoms) = (bytes.into(), atoms.to_vec().into());
        StoredPayload { bytes, atoms, version, limits, exceeds }
    }

    /// Whether it is a call, `{'$gen_call', From, Request}` or `{system, From, Request}`; also `true` for a compressed
    /// payload.
    #[must_use]
    pub fn is_call(self) -> bool {
        let bytes = match (self.version, self.bytes) {
            (true, [VERSION, COMPRESSED, ..]) => return true,
            (true, [VERSION, bytes @ ..]) | (false, bytes) => bytes,
            (true, _) => return false,
        };
        let mut reader = Reader::with_atoms(bytes, self.atoms);
        matches!(reader.small_tuple(), Ok(Some(3)))
            && matches!(reader.atom_text(), Ok(Some(mark)) if mark == "$gen_call" || mark == "system")
    }

    /// Decodes the payload as a term.
    ///
    /// # Errors
    /// [`InvalidMessage::Term`], [`InvalidMessage::Trailing`], [`InvalidMessage::TooLarge`]: not a valid term within the
    /// limits.
    pub fn term(self) -> Result<Term, InvalidMessage> {
        let mut decoder = Decoder::with_atoms(self.bytes, self.atoms).limits(self.limits);
        let term = if self.version { decoder.decode() } else { decoder.decode_bare() };
        let term = term
            .map_err(|error| if self.exceeds { InvalidMessage::TooLarge } else { error.into() })?;
        if decoder.rest().is_empty() { Ok(term) } else { Err(InvalidMessage::Trailing) }
    }

    /// Splits a call of `gen_server:call`, `{'$gen_call', {From, Tag}, Request}`, into caller, tag and request. Returns
    /// `None` for any other payload, and for a compressed one.
    ///
    /// COST: the request is not decoded.
    #[must_use]
    pub fn gen_call(self) -> Option<(Pid, Term, Self)> {
        let mut reader = Reader::with_atoms(self.bare()?, self.atoms);
        if reader.small_tuple().ok()?? != 3
            || reader.atom_text().ok()?? != "$gen_call"
            || reader.small_tuple().ok()?? != 2
        {
            return None;
        }
        let from = reader.pid().ok()??;
        let tag = Self { bytes: reader.skip().ok()?, version: false, ..self }.term().ok()?;
        Some((from, tag, Self { bytes: reader.rest(), version: false, ..self }))
    }

    /// The caller in a call `{Pid, {call, Module, Function, Arguments, GroupLeader}}`, as C nodes and jinterface send it to
    /// `rex`. Returns `None` for any other payload, and for a compressed one.
    ///
    /// COST: the call is not decoded.
    #[must_use]
    pub fn rex_call(self) -> Option<Pid> {
        let mut reader = Reader::with_atoms(self.bare()?, self.atoms);
        if reader.small_tuple().ok()?? != 2 {
            return None;
        }
        let from = reader.pid().ok()??;
        let is_call = reader.small_tuple().ok()?? == 5
            && matches!(&*reader.atom_text().ok()??, "call" | "block_call");
        is_call.then_some(from)
    }

    /// The encoding without the version byte.
    fn bare(self) -> Option<&'a [u8]> {
        if self.version { self.bytes.strip_prefix(&[VERSION]) } else { Some(self.bytes) }
    }

    /// Decodes the payload as a value.
    ///
    /// COST: that of the value's decoder. No intermediate term is built, unless the payload is compressed, or so large
    /// that it could exceed the limits for terms.
    ///
    /// # Errors
    /// [`NoValue`].
    pub fn value<T: DeserializeOwned>(self) -> Result<T, NoValue> {
        // A payload contains no more terms than bytes.
        let is_surely_allowed = self.bytes.len() <= self.limits.memory / size_of::<Term>();
        let bytes = match (self.version, self.bytes) {
            (false, bytes) if is_surely_allowed => bytes,
            (true, [VERSION, bytes @ ..])
                if is_surely_allowed && bytes.first() != Some(&COMPRESSED) =>
            {
                bytes
            }
            _ => {
                return Ok(purlin_term::from_term(&self.term()?)?);
            }
        };
        let mut reader = Reader::with_atoms(bytes, self.atoms);
        match purlin_term::from_reader(&mut reader) {
            Ok(value) if reader.rest().is_empty() => Ok(value),
            Ok(_) => Err(InvalidMessage::Trailing.into()),
            // Only decoding all of it shows whether it is a valid term.
            Err(why) => {
                self.term()?;
                Err(why.into())
            }
        }
    }
}

/// A copy of an incoming payload before decoding.
#[derive(Clone, Debug)]
pub struct StoredPayload {
    bytes: Box<[u8]>,
    atoms: Box<[Atom]>,
    version: bool,
    limits: Limits,
    exceeds: bool,
}

impl StoredPayload {
    /// The payload.
    #[must_use]
    pub fn unread(&self) -> Unread<'_> {
        let (bytes, atoms) = (&self.bytes[..], AtomTable::from(&self.atoms));
        let Self { version, limits, exceeds, .. } = *self;
        Unread { bytes, atoms, version, limits, exceeds }
    }

    /// Memory that it occupies, in bytes. Atoms are counted as if nothing else used them.
    #[must_use]
    pub fn memory(&self) -> usize {
        let atoms = self.atoms.iter().map(|atom| size_of::<Atom>() + 32 + atom.as_str().len());
        self.bytes.len() + atoms.sum::<usize>()
    }
}

/// First byte of a compressed term.
const COMPRESSED: u8 = 80;

/// The reason why a payload is not a value of the requested type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoValue {
    /// Not a valid term within the limits.
    #[error(transparent)]
    Invalid(#[from] InvalidMessage),
    /// A valid term of another type.
    #[error(transparent)]
    Other(#[from] ValueError),
}
