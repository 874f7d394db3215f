//! Encoder of the external term format, for whole terms or in fragments.
//!
//! Encoders share no state. The output equals that of the BEAM's `term_to_binary` with UTF-8 atoms,
//! the default since OTP 26 and between nodes before that. The encoder uses an explicit stack, so
//! it can stop inside of a large term and continue later, and nesting depth is not limited.
//!
//! COST: the growth of the caller's buffer, and a stack of 24 bytes per level.

use std::slice::Iter;

use bytes::Bytes;

use crate::error::EncodeError;
use crate::put::{AtomIndex, Atoms, Buffer, count, put_head, put_integer, put_small, put_tuple};
use crate::tag;
use crate::{Atom, Fun, NativeRecord, Port, Term};

/// Maximum length of a list of bytes that is encoded as STRING_EXT.
const MAX_STRING: usize = u16::MAX as usize;
/// Minimum length of a binary that is shared. WHY: sharing a short one costs more than copying it.
const MIN_SHARED: usize = 4 << 10;
/// Ports with a number below this are encoded as nodes before OTP 24 encode them.
const SMALL_PORTS: u64 = 1 << 28;

/// Encoder of one term.
///
/// ```
/// use purlin_term::{Encoder, Term};
///
/// let term = Term::tuple([Term::atom("ok"), Term::from(vec![7; 300_000].as_slice())]);
/// let mut encoder = Encoder::new(&term);
/// let mut portions = Vec::new();
/// loop {
///     let mut portion = Vec::new();
///     let done = encoder.write_some(&mut portion, 64 << 10)?;
///     portions.push(portion);
///     if done {
///         break;
///     }
/// }
/// assert_eq!(portions.len(), 5);
/// assert_eq!(portions.concat(), term.encode()?);
/// # Ok::<(), purlin_term::EncodeError>(())
/// ```
pub struct Encoder<'t, 'c> {
    stack: Vec<Left<'t>>,
    version: bool,
    /// Whether only the version has been written, so that a whole message follows.
    whole: bool,
    atoms: Atoms<'c>,
    shared: Option<&'c mut Vec<(usize, Bytes)>>,
    /// Number of open funs. No fragment ends inside of one, because its size is not yet known.
    funs: usize,
}

/// Work item of the encoder's stack.
enum Left<'t> {
    One(&'t Term),
    Terms(Iter<'t, Term>),
    Pairs(Iter<'t, (Term, Term)>),
    /// Values of a native record.
    Fields(Iter<'t, (Atom, Term)>),
    Bytes(&'t [u8]),
    /// End of a proper list.
    Nil,
    /// End of a fun whose size goes to this position.
    Size(usize),
}

impl<'t, 'c> Encoder<'t, 'c> {
    /// Creates an encoder that writes the version byte before the term, as `term_to_binary` does.
    pub fn new(term: &'t Term) -> Self {
        let stack = vec![Left::One(term)];
        Self { stack, version: true, whole: true, atoms: Atoms(None), shared: None, funs: 0 }
    }

    /// Creates an encoder that writes no version byte, as after the header of a message between
    /// nodes.
    pub fn bare(term: &'t Term) -> Self {
        Self { version: false, whole: false, ..Self::new(term) }
    }

    /// Sets the function that maps atoms to atom cache indices.
    #[must_use]
    pub fn index(mut self, index: &'c mut AtomIndex<'c>) -> Self {
        self.atoms = Atoms(Some(index));
        self
    }

    /// Does not append binaries of 4 KiB or more to the buffer, but adds each to `shared`, with its position in the
    /// buffer. Those in funs are appended.
    ///
    /// ```
    /// use purlin_term::{Encoder, Term};
    ///
    /// let term = Term::tuple([Term::from(vec![7; 5000].as_slice()), Term::from(1)]);
    /// let (mut bytes, mut shared) = (Vec::new(), Vec::new());
    /// Encoder::new(&term).share(&mut shared).write(&mut bytes)?;
    /// let [(at, binary)] = &shared[..] else { panic!("one binary") };
    /// assert_eq!([&bytes[..*at], binary, &bytes[*at..]].concat(), term.encode()?);
    /// # Ok::<(), purlin_term::EncodeError>(())
    /// ```
    #[must_use]
    pub fn share(mut self, shared: &'c mut Vec<(usize, Bytes)>) -> Self {
        self.shared = Some(shared);
        self
    }

    /// Appends the rest of the term to the buffer.
    ///
    /// # Errors
    ///
    /// Returns an error if the term cannot be encoded. The buffer then contains an incomplete term.
    pub fn write<B: Buffer>(mut self, buffer: &mut B) -> Result<(), EncodeError> {
        self.write_some(buffer, usize::MAX).map(drop)
    }

    /// Appends the next part of the term, and stops after about `most` bytes or at the end of the
    /// term. Returns `true` at the end. Binaries are split. An item that cannot be split may exceed
    /// the limit by up to 64 KiB, a large integer or a fun by its size.
    ///
    /// # Errors
    ///
    /// Returns an error if the term cannot be encoded. The buffer then contains an incomplete term.
    pub fn write_some<B: Buffer>(
        &mut self,
        buffer: &mut B,
        most: usize,
    ) -> Result<bool, EncodeError> {
        let end = buffer.len().saturating_add(most);
        if std::mem::take(&mut self.version) {
            buffer.put_u8(tag::VERSION);
        }
        while buffer.len() < end || self.funs > 0 {
            let Some(left) = self.stack.pop() else { return Ok(true) };
            match left {
                Left::One(term) => self.term(buffer, term)?,
                Left::Terms(mut terms) => {
                    if let Some(term) = terms.next() {
                        self.stack.push(Left::Terms(terms));
                        self.term(buffer, term)?;
                    }
                }
                Left::Pairs(mut pairs) => {
                    if let Some((key, value)) = pairs.next() {
                        self.stack.extend([Left::Pairs(pairs), Left::One(value)]);
                        self.term(buffer, key)?;
                    }
                }
                Left::Fields(mut fields) => {
                    if let Some((_, value)) = fields.next() {
                        self.stack.push(Left::Fields(fields));
                        self.term(buffer, value)?;
                    }
                }
                Left::Bytes(bytes) => {
                    let room = if self.funs > 0 { usize::MAX } else { end - buffer.len() };
                    let (now, later) = bytes.split_at(room.min(bytes.len()));
                    buffer.put_slice(now);
                    if !later.is_empty() {
                        self.stack.push(Left::Bytes(later));
                    }
                }
                Left::Nil => buffer.put_u8(tag::NIL),
                Left::Size(at) => {
                    let size = count(buffer.len() - at)?.to_be_bytes();
                    buffer[at..at + size.len()].copy_from_slice(&size);
                    self.funs -= 1;
                }
            }
        }
        Ok(self.stack.is_empty())
    }

    /// Writes a simple term, or the head of a compound one and pushes its parts to the stack.
    fn term<B: Buffer>(&mut self, buffer: &mut B, term: &'t Term) -> Result<(), EncodeError> {
        let whole = std::mem::take(&mut self.whole);
        match term.contents() {
            Term::Integer(value) => put_small(buffer, *value),
            Term::BigInteger(value) => put_integer(buffer, value.get())?,
            Term::Float(value) => {
                buffer.put_u8(tag::NEW_FLOAT);
                buffer.put_f64(value.get());
            }
            Term::Atom(atom) => self.atoms.put(buffer, atom),
            Term::Binary(bytes) => {
                put_head(buffer, tag::BINARY, bytes.len())?;
                match &mut self.shared {
                    Some(shared) if bytes.len() >= MIN_SHARED && self.funs == 0 => {
                        shared.push((buffer.len(), bytes.clone().into()));
                    }
                    _ => self.stack.push(Left::Bytes(bytes)),
                }
            }
            Term::BitString(bits) => {
                put_head(buffer, tag::BIT_BINARY, bits.bytes().len())?;
                buffer.put_u8(bits.last());
                self.stack.push(Left::Bytes(bits.bytes()));
            }
            Term::Tuple(elements) => {
                put_tuple(buffer, elements.len())?;
                self.stack.push(Left::Terms(elements.iter()));
            }
            Term::List(elements) => self.list(buffer, elements)?,
            Term::ImproperList(list) => {
                put_head(buffer, tag::LIST, list.elements().len())?;
                self.stack.extend([Left::One(list.tail()), Left::Terms(list.elements().iter())]);
            }
            Term::Map(map) => {
                put_head(buffer, tag::MAP, map.len())?;
                self.stack.push(Left::Pairs(map.pairs().iter()));
            }
            Term::Pid(pid) => self.atoms.put_pid(buffer, pid),
            Term::Port(port) => self.port(buffer, port),
            Term::Reference(reference) => self.atoms.put_reference(buffer, reference),
            Term::Fun(fun) => self.fun(buffer, fun)?,
            Term::Export(export) => {
                buffer.put_u8(tag::EXPORT);
                self.atoms.put(buffer, &export.module);
                self.atoms.put(buffer, &export.function);
                put_small(buffer, export.arity.into());
            }
            Term::NativeRecord(record) => self.record(buffer, record)?,
            Term::Local(opaque) => {
                if !whole {
                    return Err(EncodeError::LocalInside);
                }
                buffer.put_u8(tag::LOCAL);
                self.stack.push(Left::Bytes(opaque));
            }
            // Contents are not one themselves.
            Term::Deep(_) => {}
        }
        Ok(())
    }

    fn list<B: Buffer>(&mut self, buffer: &mut B, elements: &'t [Term]) -> Result<(), EncodeError> {
        let byte = |term: &Term| match term {
            Term::Integer(value) => u8::try_from(*value).ok(),
            _ => None,
        };
        if elements.is_empty() {
            buffer.put_u8(tag::NIL);
        } else if elements.len() <= MAX_STRING && elements.iter().all(|e| byte(e).is_some()) {
            buffer.put_u8(tag::STRING);
            buffer.put_u16(elements.len() as u16);
            for byte in elements.iter().filter_map(byte) {
                buffer.put_u8(byte);
            }
        } else {
            put_head(buffer, tag::LIST, elements.len())?;
            self.stack.extend([Left::Nil, Left::Terms(elements.iter())]);
        }
        Ok(())
    }

    fn port<B: Buffer>(&mut self, buffer: &mut B, port: &Port) {
        let small = u32::try_from(port.id).ok().filter(|_| port.id < SMALL_PORTS);
        buffer.put_u8(if small.is_some() { tag::NEW_PORT } else { tag::V4_PORT });
        self.atoms.put(buffer, &port.node);
        match small {
            Some(id) => buffer.put_u32(id),
            None => buffer.put_u64(port.id),
        }
        buffer.put_u32(port.creation);
    }

    fn fun<B: Buffer>(&mut self, buffer: &mut B, fun: &'t Fun) -> Result<(), EncodeError> {
        buffer.put_u8(tag::NEW_FUN);
        let size = buffer.len();
        buffer.put_u32(0);
        buffer.put_u8(fun.arity);
        buffer.put_slice(&fun.uniq);
        buffer.put_u32(fun.index);
        buffer.put_u32(count(fun.free.len())?);
        self.atoms.put(buffer, &fun.module);
        put_small(buffer, fun.old_index);
        put_small(buffer, fun.old_uniq);
        self.atoms.put_pid(buffer, &fun.pid);
        self.funs += 1;
        self.stack.extend([Left::Size(size), Left::Terms(fun.free.iter())]);
        Ok(())
    }

    fn record<B: Buffer>(
        &mut self,
        buffer: &mut B,
        record: &'t NativeRecord,
    ) -> Result<(), EncodeError> {
        put_head(buffer, tag::NATIVE_RECORD, record.fields.len())?;
        buffer.put_u8(record.exported.into());
        self.atoms.put(buffer, &record.module);
        self.atoms.put(buffer, &record.name);
        for (field, _) in &record.fields {
            self.atoms.put(buffer, field);
        }
        self.stack.push(Left::Fields(record.fields.iter()));
        Ok(())
    }
}

impl Term {
    /// Encodes the term with the version byte, as `term_to_binary` does.
    ///
    /// # Errors
    ///
    /// Returns an error if one part has more than 2^32 - 1 elements or bytes, or if a
    /// [`Local`](Term::Local) is nested in the term.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::new();
        Encoder::new(self).write(&mut bytes)?;
        Ok(bytes)
    }
}
