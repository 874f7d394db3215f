//! Zero-copy pull parser of the external term format.
//!
//! A [`Reader`] builds no tree: it returns one [`Token`] after the other, and a token states the
//! number of terms that follow as its parts. So it needs no stack, and skipping a term of any depth
//! takes neither memory nor recursion.
//!
//! It does not trust announced lengths: a token is returned only if at least as many bytes remain
//! as parts are outstanding on all levels. A caller that allocates for announced parts therefore
//! never allocates for more than the bytes can hold.

use std::borrow::Cow;

use crate::error::{DecodeError, Reason};
use crate::tag;
use crate::token::{FunHead, Magnitude, NativeRecordHead, PidParts, Token};
use crate::{Atom, AtomTable, Export, Float, Pid, Port, Reference};

/// WHY: the maximum of a BEAM since OTP 26; a larger one takes minutes to print.
const MAX_INTEGER_BYTES: usize = 512 << 10;

/// Reader of the tokens of a sequence of terms, without version bytes.
///
/// ```
/// use purlin_term::{Reader, Term, Token};
///
/// let bytes = "{log, #{level => info}, <<\"a line\">>}".parse::<Term>()?.encode()?;
/// let mut reader = Reader::new(&bytes[1..]);
/// assert_eq!(reader.token()?, Token::Tuple(3));
/// assert_eq!(reader.token()?, Token::Atom("log".into()));
/// reader.skip()?;
/// assert_eq!(reader.token()?, Token::Binary(b"a line"));
/// assert!(reader.rest().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// COST: no allocation except for identifiers, exports, funs, native records, and Latin-1 atoms that
/// are not ASCII. [`skip`](Self::skip) keeps none of them.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of terms announced by tokens and not yet read.
    owed: usize,
    atoms: AtomTable<'a>,
}

impl<'a> Reader<'a> {
    /// Creates a reader.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with_atoms(bytes, AtomTable::default())
    }

    /// Creates a reader for bytes that contain atom cache references into `atoms`, the table from
    /// the header of their message.
    pub fn with_atoms(bytes: &'a [u8], atoms: impl Into<AtomTable<'a>>) -> Self {
        Self { bytes, at: 0, owed: 0, atoms: atoms.into() }
    }

    /// Returns the number of bytes read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the remaining bytes.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(crate) fn atoms(&self) -> AtomTable<'a> {
        self.atoms
    }

    /// Skips bytes that are not part of a term.
    pub(crate) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Reads the next token.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are invalid; see [`Reason`]. The position is then inside of
    /// the token.
    pub fn token(&mut self) -> Result<Token<'a>, DecodeError> {
        self.counted(Self::read, Token::parts)
    }

    /// Reads something that announces parts.
    fn counted<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Reason>,
        parts: impl FnOnce(&T) -> usize,
    ) -> Result<T, DecodeError> {
        let start = self.at;
        let wrong = |reason| DecodeError { offset: start, reason };
        let token = read(self).map_err(wrong)?;
        self.owed = self.owed.saturating_sub(1).saturating_add(parts(&token));
        if self.owed > self.rest().len() {
            return Err(wrong(Reason::Ended));
        }
        Ok(token)
    }

    /// Skips the next term with all its parts. Returns its bytes.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    pub fn skip(&mut self) -> Result<&'a [u8], DecodeError> {
        let start = self.at;
        let mut left = 1;
        while left > 0 {
            left += match self.rest().first() {
                // WHY: its token would hold the names of the fields.
                Some(&tag::NATIVE_RECORD) => self.counted(Self::skip_record, |parts| *parts)?,
                _ => self.token()?.parts(),
            };
            left -= 1;
        }
        Ok(&self.bytes[start..self.at])
    }

    /// Reads the next term if it is a pid. Otherwise returns `None` and reads nothing.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    pub fn pid(&mut self) -> Result<Option<Pid>, DecodeError> {
        self.only(|tag| matches!(tag, tag::PID | tag::NEW_PID), Self::read_pid)
    }

    /// Reads the next term if it is a reference. Otherwise returns `None` and reads nothing.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    pub fn reference(&mut self) -> Result<Option<Reference>, DecodeError> {
        let is_one =
            |tag| matches!(tag, tag::REFERENCE | tag::NEW_REFERENCE | tag::NEWER_REFERENCE);
        self.only(is_one, Self::read_reference)
    }

    /// Reads the next term if it is an atom. Otherwise returns `None` and reads nothing.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    pub fn atom(&mut self) -> Result<Option<Atom>, DecodeError> {
        self.only(tag::is_atom, Self::read_atom)
    }

    /// Reads the text of the next term if it is an atom, borrowed if possible. Otherwise returns
    /// `None` and reads nothing.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    pub fn atom_text(&mut self) -> Result<Option<Cow<'a, str>>, DecodeError> {
        self.only(tag::is_atom, Self::text)
    }

    /// Reads the next term if it is a pid, and borrows the name of its node if possible. Otherwise
    /// returns `None` and reads nothing.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    pub fn pid_parts(&mut self) -> Result<Option<PidParts<'a>>, DecodeError> {
        self.only(
            |tag| matches!(tag, tag::PID | tag::NEW_PID),
            |this, tag| {
                let node = this.byte().and_then(|tag| this.text(tag))?;
                let [id, serial] = [this.word()?, this.word()?];
                let creation = this.creation(tag == tag::PID)?;
                Ok(PidParts { node, id, serial, creation })
            },
        )
    }

    /// Reads the head of the next term if it is a tuple of at most 255 elements, and returns their
    /// number; the elements follow. Otherwise returns `None` and reads nothing.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    #[inline]
    pub fn small_tuple(&mut self) -> Result<Option<u8>, DecodeError> {
        let count = self.only(|tag| tag == tag::SMALL_TUPLE, |this, _| this.byte())?;
        let Some(parts) = count else { return Ok(None) };
        self.owed += usize::from(parts);
        if self.owed > self.rest().len() {
            return Err(DecodeError { offset: self.at - 2, reason: Reason::Ended });
        }
        Ok(count)
    }

    /// Reads the next term if it is an integer from -2^31 to 2^31 - 1. Otherwise returns `None` and
    /// reads nothing.
    ///
    /// # Errors
    ///
    /// See [`Reader::token`].
    #[inline]
    pub fn small_integer(&mut self) -> Result<Option<i32>, DecodeError> {
        self.only(
            |tag| matches!(tag, tag::SMALL_INTEGER | tag::INTEGER),
            |this, tag| match tag {
                tag::SMALL_INTEGER => this.byte().map(i32::from),
                _ => this.array().map(i32::from_be_bytes),
            },
        )
    }

    /// Reads a term without parts if its tag is accepted.
    #[inline]
    fn only<T>(
        &mut self,
        is_one: impl Fn(u8) -> bool,
        read: impl Fn(&mut Self, u8) -> Result<T, Reason>,
    ) -> Result<Option<T>, DecodeError> {
        let start = self.at;
        let wrong = |reason| DecodeError { offset: start, reason };
        let tag = *self.rest().first().ok_or(wrong(Reason::Ended))?;
        if !is_one(tag) {
            return Ok(None);
        }
        self.at += 1;
        let term = read(self, tag).map_err(wrong)?;
        self.owed = self.owed.saturating_sub(1);
        Ok(Some(term))
    }

    fn read(&mut self) -> Result<Token<'a>, Reason> {
        Ok(match self.byte()? {
            tag::SMALL_INTEGER => Token::Integer(self.byte()?.into()),
            tag::INTEGER => Token::Integer(i32::from_be_bytes(self.array()?).into()),
            tag::SMALL_BIG => {
                let length = self.byte()?.into();
                self.integer(length)?
            }
            tag::LARGE_BIG => {
                let length = self.length()?;
                self.integer(length)?
            }
            tag::NEW_FLOAT => {
                Token::Float(Float::new(f64::from_be_bytes(self.array()?)).ok_or(Reason::Float)?)
            }
            tag::FLOAT => Token::Float(written_float(self.take(31)?).ok_or(Reason::Float)?),
            tag::NIL => Token::Nil,
            tag::STRING => {
                let length = self.short()?;
                Token::String(self.take(length.into())?)
            }
            tag::LIST => Token::List(self.length()?),
            tag::BINARY => {
                let length = self.length()?;
                Token::Binary(self.take(length)?)
            }
            tag::BIT_BINARY => self.bit_string()?,
            tag::SMALL_TUPLE => Token::Tuple(self.byte()?.into()),
            tag::LARGE_TUPLE => Token::Tuple(self.length()?),
            tag::MAP => Token::Map(self.length()?),
            tag @ (tag::PID | tag::NEW_PID) => Token::Pid(Box::new(self.read_pid(tag)?)),
            tag @ (tag::PORT | tag::NEW_PORT | tag::V4_PORT) => {
                let node = self.atom_inside()?;
                let id = match tag {
                    tag::V4_PORT => u64::from_be_bytes(self.array()?),
                    _ => self.word()?.into(),
                };
                let creation = self.creation(tag == tag::PORT)?;
                Token::Port(Box::new(Port { node, id, creation }))
            }
            tag @ (tag::REFERENCE | tag::NEW_REFERENCE | tag::NEWER_REFERENCE) => {
                Token::Reference(Box::new(self.read_reference(tag)?))
            }
            tag::EXPORT => {
                let module = self.atom_inside()?;
                let function = self.atom_inside()?;
                let arity = self.integer_inside()?;
                let arity = u8::try_from(arity).map_err(|_| Reason::Fun)?;
                Token::Export(Box::new(Export { module, function, arity }))
            }
            tag::NEW_FUN => self.fun()?,
            tag::NATIVE_RECORD => self.record()?,
            tag => Token::Atom(self.text(tag)?),
        })
    }

    /// Reads the text of an atom whose tag has been read.
    fn text(&mut self, tag: u8) -> Result<Cow<'a, str>, Reason> {
        match tag {
            tag::ATOM | tag::SMALL_ATOM => {
                let length = self.text_length(tag == tag::SMALL_ATOM)?;
                let bytes = self.take(length)?;
                if length > Atom::MAX_CHARS {
                    return Err(Reason::Atom);
                }
                Ok(match std::str::from_utf8(bytes) {
                    Ok(text) if bytes.is_ascii() => Cow::Borrowed(text),
                    _ => bytes.iter().map(|byte| char::from(*byte)).collect(),
                })
            }
            tag::ATOM_UTF8 | tag::SMALL_ATOM_UTF8 => {
                let length = self.text_length(tag == tag::SMALL_ATOM_UTF8)?;
                let text = std::str::from_utf8(self.take(length)?).map_err(|_| Reason::Atom)?;
                if length > Atom::MAX_CHARS && text.chars().count() > Atom::MAX_CHARS {
                    return Err(Reason::Atom);
                }
                Ok(Cow::Borrowed(text))
            }
            tag::ATOM_CACHE_REF => {
                let index = self.byte()?;
                let atom = self.atoms.get(index).ok_or(Reason::AtomCache(index))?;
                Ok(Cow::Borrowed(atom.as_str()))
            }
            tag => Err(Reason::Tag(tag)),
        }
    }

    fn text_length(&mut self, small: bool) -> Result<usize, Reason> {
        if small { self.byte().map(usize::from) } else { self.short().map(usize::from) }
    }

    /// Reads an atom inside of another token.
    fn atom_inside(&mut self) -> Result<Atom, Reason> {
        let tag = self.byte()?;
        self.read_atom(tag)
    }

    fn read_atom(&mut self, tag: u8) -> Result<Atom, Reason> {
        match tag {
            // Clones the atom of the table, so a long text is shared and not copied.
            tag::ATOM_CACHE_REF => {
                let index = self.byte()?;
                self.atoms.get(index).cloned().ok_or(Reason::AtomCache(index))
            }
            tag => Atom::new(&self.text(tag)?).map_err(|_| Reason::Atom),
        }
    }

    fn integer(&mut self, length: usize) -> Result<Token<'a>, Reason> {
        let negative = self.byte()? != 0;
        let integer = Magnitude { negative, digits: self.take(length)? };
        if length > MAX_INTEGER_BYTES {
            return Err(Reason::BigInteger);
        }
        Ok(match integer.as_i128().and_then(|value| i64::try_from(value).ok()) {
            Some(small) => Token::Integer(small),
            None => Token::BigInteger(integer),
        })
    }

    fn bit_string(&mut self) -> Result<Token<'a>, Reason> {
        let length = self.length()?;
        let last = self.byte()?;
        let bytes = self.take(length)?;
        match (last, length) {
            (8, _) | (0, 0) => Ok(Token::Binary(bytes)),
            (1..=7, 1..) => Ok(Token::BitString(bytes, last)),
            _ => Err(Reason::BitString),
        }
    }

    fn read_pid(&mut self, tag: u8) -> Result<Pid, Reason> {
        let node = self.atom_inside()?;
        let id = self.word()?;
        let serial = self.word()?;
        let creation = self.creation(tag == tag::PID)?;
        Ok(Pid { node, id, serial, creation })
    }

    fn read_reference(&mut self, tag: u8) -> Result<Reference, Reason> {
        let mut words = [0; Reference::MAX_WORDS];
        if tag == tag::REFERENCE {
            let node = self.atom_inside()?;
            words[0] = self.word()?;
            let creation = self.creation(true)?;
            return Reference::new(node, creation, &words[..1]).ok_or(Reason::Reference);
        }
        let count = usize::from(self.short()?);
        let node = self.atom_inside()?;
        let creation = self.creation(tag == tag::NEW_REFERENCE)?;
        let words = words.get_mut(..count).ok_or(Reason::Reference)?;
        for word in words.iter_mut() {
            *word = self.word()?;
        }
        Reference::new(node, creation, words).ok_or(Reason::Reference)
    }

    fn fun(&mut self) -> Result<Token<'a>, Reason> {
        // WHY: the size is skipped, because the following fields determine it.
        self.word()?;
        let arity = self.byte()?;
        let uniq = self.array()?;
        let index = self.word()?;
        let free = self.length()?;
        let module = self.atom_inside()?;
        let old_index = self.integer_inside()?;
        let old_uniq = self.integer_inside()?;
        let pid = match self.byte()? {
            tag @ (tag::PID | tag::NEW_PID) => self.read_pid(tag)?,
            _ => return Err(Reason::Fun),
        };
        let head = FunHead { module, arity, uniq, index, old_index, old_uniq, pid };
        Ok(Token::Fun(Box::new(head), free))
    }

    fn record(&mut self) -> Result<Token<'a>, Reason> {
        let (mut head, count) = self.record_head()?;
        head.fields.reserve_exact(count);
        for _ in 0..count {
            head.fields.push(self.atom_inside()?);
        }
        Ok(Token::NativeRecord(Box::new(head)))
    }

    /// Skips a native record up to its values. Returns their number.
    fn skip_record(&mut self) -> Result<usize, Reason> {
        self.byte()?;
        let (_, count) = self.record_head()?;
        for _ in 0..count {
            let tag = self.byte()?;
            self.text(tag)?;
        }
        Ok(count)
    }

    /// Reads a native record up to the names of its fields. Returns their number.
    fn record_head(&mut self) -> Result<(NativeRecordHead, usize), Reason> {
        let count = self.length()?;
        // A node accepts no other flag.
        let exported = match self.byte()? {
            flags @ (0 | 1) => flags == 1,
            _ => return Err(Reason::NativeRecord),
        };
        let [module, name] = [self.atom_inside()?, self.atom_inside()?];
        // WHY: a name takes at least two bytes and a value one, so no allocation exceeds the input.
        if count > self.rest().len() / 3 {
            return Err(Reason::Ended);
        }
        Ok((NativeRecordHead { module, name, exported, fields: Vec::new() }, count))
    }

    /// Reads an integer inside of another token.
    fn integer_inside(&mut self) -> Result<i64, Reason> {
        // WHY checked first: reading another token could recurse.
        match self.rest().first().ok_or(Reason::Ended)? {
            &(tag::SMALL_INTEGER | tag::INTEGER | tag::SMALL_BIG) => match self.read()? {
                Token::Integer(value) => Ok(value),
                _ => Err(Reason::Fun),
            },
            _ => Err(Reason::Fun),
        }
    }

    /// Reads the creation of a node; nodes before OTP 23 send two bits of it.
    fn creation(&mut self, old: bool) -> Result<u32, Reason> {
        if old { self.byte().map(u32::from) } else { self.word() }
    }

    fn length(&mut self) -> Result<usize, Reason> {
        self.word().map(|length| length as usize)
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Reason> {
        self.array().map(u32::from_be_bytes)
    }

    fn short(&mut self) -> Result<u16, Reason> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Reason> {
        self.array().map(|[byte]| byte)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Reason> {
        let (array, _) = self.rest().split_first_chunk().ok_or(Reason::Ended)?;
        self.at += N;
        Ok(*array)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Reason> {
        let taken = self.rest().get(..length).ok_or(Reason::Ended)?;
        self.at += length;
        Ok(taken)
    }
}

/// Parses a float as nodes before OTP R11 wrote it: in decimal, padded with zeros.
fn written_float(bytes: &[u8]) -> Option<Float> {
    let text = bytes.split(|byte| *byte == 0).next()?;
    Float::new(std::str::from_utf8(text).ok()?.trim().parse().ok()?)
}

#[cfg(test)]
mod tests;
