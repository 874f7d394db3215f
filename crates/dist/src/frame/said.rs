//! What a frame says, before it is read.

use std::borrow::Cow;

use purlin_term::{Atom, AtomTable, Decoder, Limits, PidParts, Reader};

use crate::control::Control;
use crate::frame::fragments::Whole;
use crate::frame::{Broken, Unread, header};

/// A control message, and what stands behind it, as they came.
#[derive(Debug)]
pub struct Said<'a> {
    bytes: Cow<'a, [u8]>,
    atoms: Atoms<'a>,
    /// The version stands before each of them.
    versions: bool,
    /// Who gets it and where its payload begins, if it is a message in one frame.
    message: Option<(Recipient<'a>, usize)>,
    limits: Limits,
}

/// The atoms that it refers to: those of the last header, or its own, if it came in fragments.
#[derive(Debug)]
enum Atoms<'a> {
    Listed(AtomTable<'a>),
    Own(Vec<Atom>),
}

/// Who gets a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient<'a> {
    /// The process of this pid.
    Pid(PidParts<'a>),
    /// Whoever has this name.
    Name(Cow<'a, str>),
    /// The one of the message before.
    Same,
}

impl<'a> Said<'a> {
    pub(super) fn new(
        bytes: &'a [u8],
        atoms: AtomTable<'a>,
        versions: bool,
        limits: Limits,
    ) -> Self {
        let (bytes, atoms) = (Cow::Borrowed(bytes), Atoms::Listed(atoms));
        Self { bytes, atoms, versions, message: None, limits }
    }

    /// A message without versions, for somebody, with its payload from there on.
    pub(super) fn of_message(
        bytes: &'a [u8],
        atoms: AtomTable<'a>,
        message: Option<(Recipient<'a>, usize)>,
        limits: Limits,
    ) -> Self {
        Self { message, ..Self::new(bytes, atoms, false, limits) }
    }

    pub(super) fn of_fragments(whole: Whole, limits: Limits) -> Self {
        let (bytes, atoms) = (Cow::Owned(whole.bytes), Atoms::Own(whole.atoms));
        Self { bytes, atoms, versions: false, message: None, limits }
    }

    /// What is in these bytes, which are part of it.
    fn payload<'s>(&'s self, bytes: &'s [u8]) -> Unread<'s> {
        let (atoms, version, limits) = (self.atoms(), self.versions, self.limits);
        Unread { bytes, atoms, version, limits }
    }

    fn atoms(&self) -> AtomTable<'_> {
        match &self.atoms {
            Atoms::Listed(table) => *table,
            Atoms::Own(atoms) => AtomTable::from(atoms),
        }
    }

    /// The message that it is, to a pid or a name; `None` if it is anything else, came in parts, or has no
    /// header of its own.
    ///
    /// COST: none; most of what nodes say are these.
    pub fn message(&self) -> Option<(Recipient<'_>, Unread<'_>)> {
        let (to, payload) = self.message.as_ref()?;
        Some((to.clone(), self.payload(&self.bytes[*payload..])))
    }

    /// Reads what it says; the payload behind it is left to be read.
    ///
    /// # Errors
    /// See [`Broken`]; then the connection cannot go on.
    pub fn signal(&self) -> Result<(Control, Option<Unread<'_>>), Broken> {
        let bytes = match (self.versions, &*self.bytes) {
            (false, bytes) | (true, [header::VERSION, bytes @ ..]) => bytes,
            (true, _) => return Err(Broken::Unknown),
        };
        let mut decoder = Decoder::with_atoms(bytes, self.atoms()).limits(self.limits);
        let control = Control::read(&mut decoder)?;
        let rest = decoder.rest();
        if control.has_payload() {
            return Ok((control, Some(self.payload(rest))));
        }
        if rest.is_empty() { Ok((control, None)) } else { Err(Broken::Trailing) }
    }
}

/// Who gets it, if it is a message without a token, and where its payload begins.
pub(super) fn message<'a>(bytes: &'a [u8], atoms: AtomTable<'a>) -> Option<(Recipient<'a>, usize)> {
    let mut reader = Reader::with_atoms(bytes, atoms);
    let to = recipient(&mut reader)?;
    Some((to, bytes.len() - reader.rest().len()))
}

fn recipient<'a>(reader: &mut Reader<'a>) -> Option<Recipient<'a>> {
    let fields = reader.small_tuple().ok()??;
    match (reader.small_integer().ok()??, fields) {
        // `SEND` and `SEND_SENDER`: what stands before it is not used.
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
