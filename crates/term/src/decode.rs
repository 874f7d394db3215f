//! Decoder of the external term format for untrusted bytes.
//!
//! Decoders share no state. A decoder uses an explicit stack, so that nesting consumes memory
//! within a limit and never the thread's stack. It stops at the first error.
//!
//! COST: one allocation for each tuple, list and map, each long binary, identifier and big integer.
//! Allocations never exceed what the remaining bytes can hold.

use crate::error::{DecodeError, Reason};
use crate::inflate::inflate;
use crate::reader::Reader;
use crate::tag;
use crate::token::{FunHead, NativeRecordHead, Token};
use crate::{Atom, AtomTable, Binary, BitString, Deep, Fun, Map, NativeRecord, Term};

/// Limits on a decoded term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum nesting depth; a list is one level however long it is. Default
    /// [`Limits::DEEPEST`], to which larger values are clamped.
    pub depth: usize,
    /// Maximum memory of a term, and maximum expanded size of a compressed one, in bytes. Default
    /// 256 MiB. Each element of a list takes 32 bytes, also in a list of bytes, which takes one
    /// byte per element in the encoded form.
    pub memory: usize,
}

impl Limits {
    /// Maximum of [`Limits::depth`]: 2^19. COST: while a term is decoded, up to 150 bytes for each
    /// open level, so 75 MiB.
    pub const DEEPEST: usize = 1 << 19;
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: Self::DEEPEST, memory: 256 << 20 }
    }
}

/// Decoder of a sequence of terms.
///
/// ```
/// use purlin_term::{Decoder, Limits, Term};
///
/// let frame = [131, 97, 1, 131, 106];
/// let mut decoder = Decoder::new(&frame).limits(Limits { depth: 100, ..Limits::default() });
/// assert_eq!(decoder.decode()?, Term::from(1));
/// assert_eq!(decoder.position(), 3);
/// assert_eq!(decoder.decode()?, Term::NIL);
/// assert!(decoder.rest().is_empty());
/// # Ok::<(), purlin_term::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    reader: Reader<'a>,
    limits: Limits,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder with the default limits.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with_atoms(bytes, AtomTable::default())
    }

    /// Creates a decoder for bytes that contain atom cache references into `atoms`, the table from
    /// the header of the message.
    pub fn with_atoms(bytes: &'a [u8], atoms: impl Into<AtomTable<'a>>) -> Self {
        Self { reader: Reader::with_atoms(bytes, atoms), limits: Limits::default() }
    }

    /// Sets the limits of each term.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the number of bytes consumed.
    pub fn position(&self) -> usize {
        self.reader.position()
    }

    /// Returns the remaining bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.reader.rest()
    }

    /// Returns the underlying reader, to read the next term without building a [`Term`]. No limits
    /// apply to it.
    pub fn reader(&mut self) -> &mut Reader<'a> {
        &mut self.reader
    }

    /// Decodes the next term, preceded by the version byte, as `term_to_binary` writes it.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a term or exceed a limit. The position is then inside
    /// of the term.
    pub fn decode(&mut self) -> Result<Term, DecodeError> {
        match *self.rest() {
            [tag::VERSION, tag::COMPRESSED, a, b, c, d, ..] => {
                self.expand(u32::from_be_bytes([a, b, c, d]) as usize)
            }
            [tag::VERSION, tag::COMPRESSED, ..] | [] => Err(self.wrong(Reason::Ended)),
            [tag::VERSION, tag::LOCAL, ref opaque @ ..] => {
                if opaque.len() > self.limits.memory {
                    return Err(self.wrong(Reason::Memory));
                }
                let local = Term::Local(opaque.into());
                self.reader.advance(self.rest().len());
                Ok(local)
            }
            [tag::VERSION, ..] => {
                self.reader.advance(1);
                self.decode_bare()
            }
            [other, ..] => Err(self.wrong(Reason::Version(other))),
        }
    }

    /// Decodes the next term without a version byte, as after the header of a message between
    /// nodes.
    ///
    /// # Errors
    ///
    /// See [`Decoder::decode`].
    pub fn decode_bare(&mut self) -> Result<Term, DecodeError> {
        let depth = self.limits.depth.min(Limits::DEEPEST);
        let memory = self.limits.memory;
        Builder { depth, memory, open: None, outer: Vec::new() }.build(&mut self.reader)
    }

    fn expand(&mut self, size: usize) -> Result<Term, DecodeError> {
        if size > self.limits.memory {
            return Err(self.wrong(Reason::Memory));
        }
        let head = 6;
        let expanded = inflate(&self.rest()[head..], size);
        let (expanded, used) = expanded.map_err(|reason| self.wrong(reason))?;
        let reader = Reader::with_atoms(&expanded, self.reader.atoms());
        let mut inner = Decoder { reader, limits: self.limits };
        let term = inner.decode_bare()?;
        if !inner.rest().is_empty() {
            return Err(self.wrong(Reason::Compressed));
        }
        self.reader.advance(head + used);
        Ok(term)
    }

    fn wrong(&self, reason: Reason) -> DecodeError {
        DecodeError { offset: self.position(), reason }
    }
}

impl Term {
    /// Decodes these bytes, which must be exactly one term preceded by the version byte.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a term, contain more than one, or exceed the default
    /// [`Limits`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(bytes);
        let term = decoder.decode()?;
        if !decoder.rest().is_empty() {
            return Err(decoder.wrong(Reason::Trailing));
        }
        Ok(term)
    }
}

/// Builds a term from tokens without recursion, within limits of depth and memory.
struct Builder {
    /// Levels that may still be opened.
    depth: usize,
    /// Bytes of memory that may still be used.
    memory: usize,
    /// Innermost open term.
    open: Option<Open>,
    /// Open terms around it. WHY apart: most terms are flat and then need no allocation here.
    outer: Vec<Open>,
}

/// A term some of whose parts are missing.
struct Open {
    kind: Kind,
    /// Parts decoded so far.
    parts: Vec<Term>,
    /// Number of missing parts, at least one. The last part of a list is its tail.
    left: usize,
}

/// Kind of an open term.
enum Kind {
    Tuple,
    List,
    /// Alternating keys and values.
    Map,
    Fun(Box<FunHead>),
    NativeRecord(Box<NativeRecordHead>),
}

impl Builder {
    fn build(mut self, reader: &mut Reader<'_>) -> Result<Term, DecodeError> {
        loop {
            let start = reader.position();
            let wrong = |reason| DecodeError { offset: start, reason };
            // WHY before the token: it holds the names of the fields.
            self.take(field_count(reader.rest()), size_of::<Atom>()).map_err(wrong)?;
            // WHY not as a token: each occurrence, which has two bytes, would copy the text.
            let of_table = reader.rest().first() == Some(&tag::ATOM_CACHE_REF);
            let closed = match if of_table { reader.atom()? } else { None } {
                Some(atom) => self.close(Term::Atom(atom)),
                None => self.take_token(reader.token()?),
            };
            if let Some(term) = closed.map_err(wrong)? {
                return Ok(term);
            }
        }
    }

    /// Opens a compound term, or adds a simple one to its parent. Returns the outermost term once
    /// it is complete.
    fn take_token(&mut self, token: Token<'_>) -> Result<Option<Term>, Reason> {
        let term = match token {
            Token::Integer(value) => Term::Integer(value),
            Token::Float(value) => Term::Float(value),
            Token::Atom(text) => Term::Atom(Atom::new(&text).map_err(|_| Reason::Atom)?),
            Token::Nil => Term::NIL,
            Token::Binary(bytes) => {
                self.take(1, bytes.len())?;
                Term::Binary(Binary::copy(bytes))
            }
            Token::Tuple(count @ 1..) => return self.open(Kind::Tuple, count),
            Token::List(count @ 1..) => return self.list(count),
            Token::Map(count @ 1..) => return self.open(Kind::Map, count.saturating_mul(2)),
            Token::Fun(head, count @ 1..) => return self.open(Kind::Fun(head), count),
            Token::Tuple(_) => Term::Tuple(Vec::new()),
            Token::Map(_) => Term::Map(Map::new()),
            Token::Fun(head, _) => self.fun(*head, Vec::new())?,
            Token::NativeRecord(head) => match head.fields.len() {
                0 => self.record(*head, Vec::new())?,
                count => return self.open(Kind::NativeRecord(head), count),
            },
            // WHY: a list without elements is its tail, which follows.
            Token::List(_) => return Ok(None),
            Token::String(bytes) => {
                self.take(bytes.len(), size_of::<Term>())?;
                Term::List(bytes.iter().map(|byte| Term::Integer((*byte).into())).collect())
            }
            Token::BigInteger(value) => {
                self.take(1, value.digits.len())?;
                Term::from(value.to_big())
            }
            Token::BitString(bytes, last) => {
                self.take(1, bytes.len())?;
                Term::from(BitString::new(bytes, last).ok_or(Reason::BitString)?)
            }
            Token::Pid(pid) => self.boxed(pid, Term::Pid)?,
            Token::Port(port) => self.boxed(port, Term::Port)?,
            Token::Reference(reference) => self.boxed(reference, Term::Reference)?,
            Token::Export(export) => self.boxed(export, Term::Export)?,
        };
        self.close(term)
    }

    fn open(&mut self, kind: Kind, left: usize) -> Result<Option<Term>, Reason> {
        if self.depth == 0 {
            return Err(Reason::Depth);
        }
        self.depth -= 1;
        self.take(left, size_of::<Term>())?;
        let room = left - usize::from(matches!(kind, Kind::List));
        let open = Open { kind, parts: Vec::with_capacity(room), left };
        self.outer.extend(self.open.replace(open));
        Ok(None)
    }

    /// Opens a list. In tail position, it continues the enclosing list.
    fn list(&mut self, count: usize) -> Result<Option<Term>, Reason> {
        let Some(Open { kind: Kind::List, left: 1, .. }) = self.open else {
            return self.open(Kind::List, count + 1);
        };
        self.take(count, size_of::<Term>())?;
        if let Some(Open { parts, left, .. }) = &mut self.open {
            *left += count;
            parts.reserve(count);
        }
        Ok(None)
    }

    /// Adds a term to its parent, and the parent to the next one while parents become complete.
    fn close(&mut self, mut term: Term) -> Result<Option<Term>, Reason> {
        loop {
            let Some(open) = &mut self.open else { return Ok(Some(term)) };
            open.left -= 1;
            let is_tail = open.left == 0 && matches!(open.kind, Kind::List);
            if !is_tail {
                open.parts.push(term);
                if open.left > 0 {
                    return Ok(None);
                }
                // A placeholder until the variable is assigned the completed term.
                term = Term::Integer(0);
            }
            let outer = self.outer.pop();
            let Some(Open { kind, parts, .. }) = std::mem::replace(&mut self.open, outer) else {
                return Ok(None);
            };
            self.depth += 1;
            term = match kind {
                Kind::List => Term::list_with_tail(parts, term),
                Kind::Tuple => Term::Tuple(parts),
                Kind::Map => Term::Map(map(parts)?),
                Kind::Fun(head) => self.fun(*head, parts)?,
                Kind::NativeRecord(head) => self.record(*head, parts)?,
            };
            let level = self.outer.len() + usize::from(self.open.is_some());
            if level > 0 && level.is_multiple_of(Deep::LEVELS) {
                term = Term::Deep(Deep::new(term));
            }
        }
    }

    fn fun(&mut self, head: FunHead, free: Vec<Term>) -> Result<Term, Reason> {
        let FunHead { module, arity, uniq, index, old_index, old_uniq, pid } = head;
        let fun = Fun { module, arity, uniq, index, old_index, old_uniq, pid, free };
        self.boxed(Box::new(fun), Term::Fun)
    }

    fn record(&mut self, head: NativeRecordHead, values: Vec<Term>) -> Result<Term, Reason> {
        let NativeRecordHead { module, name, exported, fields } = head;
        let fields = fields.into_iter().zip(values).collect();
        self.boxed(Box::new(NativeRecord { module, name, exported, fields }), Term::NativeRecord)
    }

    fn boxed<T>(&mut self, part: Box<T>, term: fn(Box<T>) -> Term) -> Result<Term, Reason> {
        self.take(1, size_of::<T>())?;
        Ok(term(part))
    }

    fn take(&mut self, count: usize, size: usize) -> Result<(), Reason> {
        let taken = count.checked_mul(size).ok_or(Reason::Memory)?;
        self.memory = self.memory.checked_sub(taken).ok_or(Reason::Memory)?;
        Ok(())
    }
}

/// Returns the number of fields of a native record at the start of these bytes. Returns 0 if there is
/// none, or if it announces more fields than the bytes hold, which the reader rejects.
fn field_count(bytes: &[u8]) -> usize {
    let [tag::NATIVE_RECORD, a, b, c, d, ..] = *bytes else { return 0 };
    let count = u32::from_be_bytes([a, b, c, d]) as usize;
    if count > bytes.len() / 3 { 0 } else { count }
}

/// Builds a map from alternating keys and values.
fn map(parts: Vec<Term>) -> Result<Map, Reason> {
    let mut pairs = Vec::with_capacity(parts.len() / 2);
    let mut parts = parts.into_iter();
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        pairs.push((key, value));
    }
    Map::from_pairs(pairs).map_err(|_| Reason::EqualKeys)
}

#[cfg(test)]
mod tests {
    use super::{Builder, Kind, Open, Reason};

    #[test]
    fn memory_for_the_continuation_of_a_list_is_counted_before_it_is_allocated() {
        let open = Some(Open { kind: Kind::List, parts: Vec::new(), left: 1 });
        let mut builder = Builder { depth: 1, memory: 64, open, outer: Vec::new() };
        assert_eq!(builder.list(1 << 20), Err(Reason::Memory));
        assert_eq!(builder.open.map(|open| open.parts.capacity()), Some(0));
        // A list that fits the limit continues.
        let open = Some(Open { kind: Kind::List, parts: Vec::new(), left: 1 });
        let mut builder = Builder { depth: 1, memory: 64, open, outer: Vec::new() };
        assert_eq!(builder.list(2), Ok(None));
        assert_eq!((builder.memory, builder.open.map(|open| open.left)), (0, Some(3)));
    }
}
