//! Writes the parts of a term one after the other, as a [`Reader`](crate::Reader) reads them: for those
//! who know what they want to say, and need no [`Term`] for it.

use crate::encode::{Buffer, Encoder, count, put_atom, put_integer, put_small, put_tuple};
use crate::error::EncodeError;
use crate::{Atom, Pid, Reference, Term, tag};

/// For an atom, the index that the header of the message gives it, if it gives it one.
pub type AtomIndex<'c> = dyn FnMut(&Atom) -> Option<u8> + Send + 'c;

/// Writes what it is told behind what a buffer holds, without a version. That so many parts follow as
/// were announced is the caller's part.
///
/// ```
/// use purlin_term::{Atom, Term, Writer};
///
/// let mut bytes = vec![131];
/// let mut writer = Writer::new(&mut bytes);
/// writer.tuple(2)?;
/// writer.atom(&Atom::OK);
/// writer.integer(42);
/// assert_eq!(Term::decode(&bytes)?.to_string(), "{ok,42}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// COST: none but the buffer's growth.
pub struct Writer<'b, 'c, B> {
    buffer: &'b mut B,
    atoms: Atoms<'c>,
}

impl<'b, 'c, B: Buffer> Writer<'b, 'c, B> {
    /// A writer into this buffer.
    pub fn new(buffer: &'b mut B) -> Self {
        Self { buffer, atoms: Atoms(None) }
    }

    /// Has atoms written as indices where this function has one.
    #[must_use]
    pub fn index(self, index: &'c mut AtomIndex<'c>) -> Self {
        Self { atoms: Atoms(Some(index)), ..self }
    }

    /// The beginning of a tuple; so many elements follow.
    ///
    /// # Errors
    ///
    /// They are more than 2^32 - 1.
    pub fn tuple(&mut self, elements: usize) -> Result<(), EncodeError> {
        put_tuple(self.buffer, elements)
    }

    /// The beginning of a list; so many elements follow, and then the tail.
    ///
    /// # Errors
    ///
    /// They are more than 2^32 - 1.
    pub fn list(&mut self, elements: usize) -> Result<(), EncodeError> {
        self.buffer.put_u8(tag::LIST);
        self.buffer.put_u32(count(elements)?);
        Ok(())
    }

    /// The empty list, which is the tail of another.
    pub fn nil(&mut self) {
        self.buffer.put_u8(tag::NIL);
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        put_small(self.buffer, value);
    }

    /// An integer that may be larger.
    pub fn unsigned(&mut self, value: u64) {
        match i64::try_from(value) {
            Ok(value) => put_small(self.buffer, value),
            // It has no more than nine bytes, so there is room for it.
            Err(_) => drop(put_integer(self.buffer, &value.into())),
        }
    }

    /// An atom.
    pub fn atom(&mut self, atom: &Atom) {
        self.atoms.put(self.buffer, atom);
    }

    /// A process.
    pub fn pid(&mut self, pid: &Pid) {
        self.atoms.put_pid(self.buffer, pid);
    }

    /// A reference.
    pub fn reference(&mut self, reference: &Reference) {
        self.atoms.put_reference(self.buffer, reference);
    }

    /// Any term, whole.
    ///
    /// # Errors
    ///
    /// As [`Encoder::write`].
    pub fn term(&mut self, term: &Term) -> Result<(), EncodeError> {
        let encoder = Encoder::bare(term);
        match &mut self.atoms.0 {
            Some(index) => encoder.index(&mut **index).write(self.buffer),
            None => encoder.write(self.buffer),
        }
    }
}

/// How atoms are written: as indices where there are some.
pub(crate) struct Atoms<'c>(pub(crate) Option<&'c mut AtomIndex<'c>>);

impl Atoms<'_> {
    pub(crate) fn put<B: Buffer>(&mut self, buffer: &mut B, atom: &Atom) {
        match self.0.as_mut().and_then(|index| index(atom)) {
            Some(index) => buffer.put_slice(&[tag::ATOM_CACHE_REF, index]),
            None => put_atom(buffer, atom.as_str()),
        }
    }

    pub(crate) fn put_pid<B: Buffer>(&mut self, buffer: &mut B, pid: &Pid) {
        buffer.put_u8(tag::NEW_PID);
        self.put(buffer, &pid.node);
        let mut numbers = [0; 12];
        numbers[..4].copy_from_slice(&pid.id.to_be_bytes());
        numbers[4..8].copy_from_slice(&pid.serial.to_be_bytes());
        numbers[8..].copy_from_slice(&pid.creation.to_be_bytes());
        buffer.put_slice(&numbers);
    }

    pub(crate) fn put_reference<B: Buffer>(&mut self, buffer: &mut B, reference: &Reference) {
        buffer.put_u8(tag::NEWER_REFERENCE);
        buffer.put_u16(reference.words().len() as u16);
        self.put(buffer, &reference.node);
        buffer.put_u32(reference.creation);
        for word in reference.words() {
            buffer.put_u32(*word);
        }
    }
}
