//! Deserializer of the next term: a reader and the depth that is left.

use serde::de::{self, DeserializeSeed, Unexpected, Visitor};

use crate::token::Token;
use crate::value::error::ValueError;
use crate::{Reader, Reason};

/// Maximum nesting depth of values.
const DEEPEST: usize = 128;

/// Deserializer of the next term.
pub(in crate::value) struct Deserializer<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
    depth: usize,
}

impl<'r, 'de> Deserializer<'r, 'de> {
    pub(in crate::value) fn new(reader: &'r mut Reader<'de>) -> Self {
        Self { reader, depth: DEEPEST }
    }

    /// Returns a deserializer for a part of the term.
    pub(super) fn inner(&mut self) -> Deserializer<'_, 'de> {
        Deserializer { reader: self.reader, depth: self.depth }
    }

    pub(super) fn read<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, ValueError> {
        seed.deserialize(self.inner())
    }

    pub(super) fn token(&mut self) -> Result<Token<'de>, ValueError> {
        Ok(self.reader.token()?)
    }

    pub(super) fn peek(&self) -> Result<Token<'de>, ValueError> {
        Ok(self.reader.clone().token()?)
    }

    /// Descends one level.
    pub(super) fn down(&mut self) -> Result<(), ValueError> {
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| ValueError::wrong(self.reader.position(), Reason::Depth))?;
        Ok(())
    }
}

/// Returns an error with the actual and the expected type.
pub(super) fn unexpected<'de>(token: &Token<'_>, visitor: &impl Visitor<'de>) -> ValueError {
    let there = match token {
        Token::Integer(value) => Unexpected::Signed(*value),
        Token::Float(value) => Unexpected::Float(value.get()),
        Token::Atom(text) => Unexpected::Other(text),
        Token::BigInteger(_) => Unexpected::Other("a big integer"),
        Token::Binary(_) => Unexpected::Other("a binary"),
        Token::BitString(..) => Unexpected::Other("a bit string"),
        Token::Nil | Token::List(_) => Unexpected::Other("a list"),
        Token::String(_) => Unexpected::Other("a string"),
        Token::Tuple(_) => Unexpected::Other("a tuple"),
        Token::Map(_) => Unexpected::Other("a map"),
        Token::NativeRecord(_) => Unexpected::Other("a native record"),
        Token::Pid(_) => Unexpected::Other("a process identifier"),
        Token::Port(_) => Unexpected::Other("a port"),
        Token::Reference(_) => Unexpected::Other("a reference"),
        Token::Export(_) | Token::Fun(..) => Unexpected::Other("a fun"),
    };
    de::Error::invalid_type(there, visitor)
}
