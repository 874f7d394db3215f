//! Writer of the external term format without a [`Term`], the counterpart of
//! [`Reader`](crate::Reader).

use crate::encode::Encoder;
use crate::error::EncodeError;
use crate::put::{AtomIndex, Atoms, Buffer, put_head, put_integer, put_small, put_tuple};
use crate::{Atom, Pid, Reference, Term, tag};

/// Appends tokens to a buffer, without a version byte. The caller must write exactly the announced
/// number of parts.
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
/// COST: the growth of the buffer.
pub struct Writer<'b, 'c, B> {
    buffer: &'b mut B,
    atoms: Atoms<'c>,
}

impl<'b, 'c, B: Buffer> Writer<'b, 'c, B> {
    /// Creates a writer that appends to this buffer.
    pub fn new(buffer: &'b mut B) -> Self {
        Self { buffer, atoms: Atoms(None) }
    }

    /// Sets the function that maps atoms to atom cache indices.
    #[must_use]
    pub fn index(self, index: &'c mut AtomIndex<'c>) -> Self {
        Self { atoms: Atoms(Some(index)), ..self }
    }

    /// Writes the head of a tuple; `elements` terms must follow.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more than 2^32 - 1 elements.
    pub fn tuple(&mut self, elements: usize) -> Result<(), EncodeError> {
        put_tuple(self.buffer, elements)
    }

    /// Writes the head of a list; `elements` terms must follow, and then the tail.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more than 2^32 - 1 elements.
    pub fn list(&mut self, elements: usize) -> Result<(), EncodeError> {
        put_head(self.buffer, tag::LIST, elements)
    }

    /// Writes the empty list, which is also the tail of a proper list.
    pub fn nil(&mut self) {
        self.buffer.put_u8(tag::NIL);
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: i64) {
        put_small(self.buffer, value);
    }

    /// Writes an unsigned integer.
    pub fn unsigned(&mut self, value: u64) {
        match i64::try_from(value) {
            Ok(value) => put_small(self.buffer, value),
            // It has at most nine bytes, which cannot fail.
            Err(_) => drop(put_integer(self.buffer, &value.into())),
        }
    }

    /// Writes an atom.
    pub fn atom(&mut self, atom: &Atom) {
        self.atoms.put(self.buffer, atom);
    }

    /// Writes a pid.
    pub fn pid(&mut self, pid: &Pid) {
        self.atoms.put_pid(self.buffer, pid);
    }

    /// Writes a reference.
    pub fn reference(&mut self, reference: &Reference) {
        self.atoms.put_reference(self.buffer, reference);
    }

    /// Writes a whole term.
    ///
    /// # Errors
    ///
    /// See [`Encoder::write`].
    pub fn term(&mut self, term: &Term) -> Result<(), EncodeError> {
        let encoder = Encoder::bare(term);
        match &mut self.atoms.0 {
            Some(index) => encoder.index(&mut **index).write(self.buffer),
            None => encoder.write(self.buffer),
        }
    }
}
