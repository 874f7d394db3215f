//! A complete incoming frame before decoding.

use std::borrow::Cow;

use purlin_term::{Atom, AtomTable, Decoder, Limits, PidParts, Reader};

use crate::broken::InvalidMessage;
use crate::control::Control;
use crate::frame::fragments::Whole;
use crate::frame::header;
use crate::frame::payload::Unread;

/// A control message with its payload, before decoding.
#[derive(Debug)]
pub struct IncomingFrame<'a> {
    bytes: Cow<'a, [u8]>,
    atoms: Atoms<'a>,
    /// Whether a version byte precedes each term.
    versions: bool,
    /// Recipient and payload offset, if it is a message in one frame.
    message: Option<(Recipient<'a>, usize)>,
    limits: Limits,
    /// Whether its fragments exceed the limit, so that its payload is incomplete.
    exceeds: bool,
}

/// The atoms referred to: those of the last header, or a copy for a fragmented message.
#[derive(Debug)]
enum Atoms<'a> {
    Listed(AtomTable<'a>),
    Own(Vec<Atom>),
}

/// Recipient of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient<'a> {
    /// The process with this pid.
    Pid(PidParts<'a>),
    /// The process registered under this name.
    Name(Cow<'a, str>),
    /// The recipient of the previous message.
    Same,
}

impl<'a> IncomingFrame<'a> {
    /// `message` has the recipient and the offset of the payload, if it is a message.
    pub(super) fn new(
        bytes: &'a [u8],
        atoms: AtomTable<'a>,
        versions: bool,
        message: Option<(Recipient<'a>, usize)>,
        limits: Limits,
    ) -> Self {
        let (bytes, atoms) = (Cow::Borrowed(bytes), Atoms::Listed(atoms));
        Self { bytes, atoms, versions, message, limits, exceeds: false }
    }

    pub(super) fn of_fragments(whole: Whole, limits: Limits) -> Self {
        let (bytes, atoms) = (Cow::Owned(whole.bytes), Atoms::Own(whole.atoms));
        let exceeds = whole.exceeds;
        Self { bytes, atoms, versions: false, message: None, limits, exceeds }
    }

    /// The payload in `bytes`, a part of this frame.
    fn payload<'s>(&'s self, bytes: &'s [u8]) -> Unread<'s> {
        let (atoms, version, limits) = (self.atoms(), self.versions, self.limits);
        Unread { bytes, atoms, version, limits, exceeds: self.exceeds }
    }

    fn atoms(&self) -> AtomTable<'_> {
        match &self.atoms {
            Atoms::Listed(table) => *table,
            Atoms::Own(atoms) => AtomTable::from(atoms),
        }
    }

    /// Returns the recipient and payload of a message to a pid or a name. Returns `None` for any other signal, for a
    /// fragmented message, and for a frame without a header.
    ///
    /// COST: none; this covers most frames.
    #[inline]
    pub fn message(&self) -> Option<(Recipient<'_>, Unread<'_>)> {
        let (to, payload) = self.message.as_ref()?;
        Some((to.clone(), self.payload(&self.bytes[*payload..])))
    }

    /// Decodes the control message, and returns the payload undecoded. A reason in the control message is returned as the
    /// payload, too. If the fragments exceed the limit, the payload of an exit or a spawn request is not a term, and
    /// another message is an error.
    ///
    /// # Errors
    /// [`InvalidMessage`]; the following frames are not affected.
    pub fn signal(&self) -> Result<(Control, Option<Unread<'_>>), InvalidMessage> {
        if !self.exceeds {
            return self.decode();
        }
        match self.decode() {
            Ok((control, payload)) if !control.is_message() => {
                Ok((control, payload.map(|payload| Unread { bytes: &[], ..payload })))
            }
            _ => Err(InvalidMessage::TooLarge),
        }
    }

    fn decode(&self) -> Result<(Control, Option<Unread<'_>>), InvalidMessage> {
        let bytes = match (self.versions, &*self.bytes) {
            (false, bytes) | (true, [header::VERSION, bytes @ ..]) => bytes,
            (true, _) => return Err(InvalidMessage::Version),
        };
        let mut decoder = Decoder::with_atoms(bytes, self.atoms()).limits(self.limits);
        let (control, is_in_tuple) = Control::read_to_reason(&mut decoder)?;
        let rest = decoder.rest();
        if is_in_tuple {
            return Ok((control, Some(Unread { version: false, ..self.payload(rest) })));
        }
        if control.has_payload() {
            return Ok((control, Some(self.payload(rest))));
        }
        if rest.is_empty() { Ok((control, None)) } else { Err(InvalidMessage::Trailing) }
    }
}

/// Recipient and payload offset of a message without a trace token.
pub(super) fn message<'a>(bytes: &'a [u8], atoms: AtomTable<'a>) -> Option<(Recipient<'a>, usize)> {
    let mut reader = Reader::with_atoms(bytes, atoms);
    let to = recipient(&mut reader)?;
    Some((to, bytes.len() - reader.rest().len()))
}

fn recipient<'a>(reader: &mut Reader<'a>) -> Option<Recipient<'a>> {
    let fields = reader.small_tuple().ok()??;
    match (reader.small_integer().ok()??, fields) {
        // `SEND` and `SEND_SENDER`: the field before the recipient is ignored.
        (2, 3) => drop(reader.atom_text().ok()??),
        (22, 3) => drop(reader.pid_parts().ok()??),
        (6, 4) => {
            reader.pid_parts().ok()??;
            reader.atom_text().ok()??;
            return Some(Recipient::Name(reader.atom_text().ok()??));
        }
        _ => return None,
    }
    Some(Recipient::Pid(reader.pid_parts().ok()??))
}
