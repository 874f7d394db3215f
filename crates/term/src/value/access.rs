//! Access to the parts of lists, tuples and maps for deserialization.

use std::slice::Iter;
use std::vec;

use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};

use super::de::Deserializer;
use super::error::ValueError;
use crate::token::Token;
use crate::{Atom, Reader, tag};

/// Elements of a list or a tuple.
pub(super) struct Elements<'r, 'de> {
    pub(super) from: Deserializer<'r, 'de>,
    pub(super) left: usize,
    /// Whether a tail follows.
    pub(super) list: bool,
}

impl Elements<'_, '_> {
    /// Checks that no elements are left.
    pub(super) fn finish(mut self) -> Result<(), ValueError> {
        if self.left > 0 {
            return Err(ValueError::mismatch(format!("{} elements too many", self.left)));
        }
        if self.list && self.from.token()? != Token::Nil {
            return Err(ValueError::mismatch("a list with a tail"));
        }
        Ok(())
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = ValueError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.from.read(seed).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// Encoded form of each byte as an integer, so that it can be deserialized as any other.
static SMALL_INTEGERS: [[u8; 2]; 256] = {
    let mut all = [[tag::SMALL_INTEGER, 0]; 256];
    let mut byte = 0;
    while byte < all.len() {
        all[byte][1] = byte as u8;
        byte += 1;
    }
    all
};

/// Bytes that are read as a sequence of numbers.
pub(super) struct Bytes<'de>(pub(super) Iter<'de, u8>);

impl Bytes<'_> {
    pub(super) fn finish(self) -> Result<(), ValueError> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(ValueError::mismatch(format!("{left} elements too many"))),
        }
    }
}

impl<'de> SeqAccess<'de> for &mut Bytes<'de> {
    type Error = ValueError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueError> {
        let Some(byte) = self.0.next() else { return Ok(None) };
        let mut reader = Reader::new(&SMALL_INTEGERS[usize::from(*byte)]);
        seed.deserialize(Deserializer::new(&mut reader)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// Fields of a native record.
pub(super) struct Fields<'r, 'de> {
    pub(super) from: Deserializer<'r, 'de>,
    /// Names of the fields whose values have not been read.
    pub(super) names: vec::IntoIter<Atom>,
}

impl Fields<'_, '_> {
    pub(super) fn finish(self) -> Result<(), ValueError> {
        match self.names.len() {
            0 => Ok(()),
            left => Err(ValueError::mismatch(format!("{left} fields too many"))),
        }
    }
}

impl<'de> MapAccess<'de> for &mut Fields<'_, 'de> {
    type Error = ValueError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueError> {
        let Some(name) = self.names.next() else { return Ok(None) };
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ValueError> {
        self.from.read(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.names.len())
    }
}

/// Pairs of a map or a property list: a list of pairs and of atoms that stand for `true`.
pub(super) struct Pairs<'r, 'de> {
    pub(super) from: Deserializer<'r, 'de>,
    pub(super) left: usize,
    pub(super) list: bool,
    /// Whether to skip the key `__struct__` of Elixir.
    pub(super) of_struct: bool,
    /// Implied value of the last key, if it was a single atom.
    pub(super) value: Option<bool>,
}

impl Pairs<'_, '_> {
    pub(super) fn finish(mut self) -> Result<(), ValueError> {
        if self.left > 0 {
            return Err(ValueError::mismatch(format!("{} pairs too many", self.left)));
        }
        if self.list && self.from.token()? != Token::Nil {
            return Err(ValueError::mismatch("a list with a tail"));
        }
        Ok(())
    }
}

impl<'de> MapAccess<'de> for &mut Pairs<'_, 'de> {
    type Error = ValueError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueError> {
        if self.of_struct
            && self.left > 0
            && matches!(self.from.peek()?, Token::Atom(text) if text == "__struct__")
        {
            self.left -= 1;
            self.from.token()?;
            self.from.reader.skip()?;
        }
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.list {
            match self.from.peek()? {
                Token::Tuple(2) => drop(self.from.token()?),
                Token::Atom(_) => self.value = Some(true),
                _ => return Err(ValueError::mismatch("a list of what is neither pair nor atom")),
            }
        }
        self.from.read(seed).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ValueError> {
        match self.value.take() {
            Some(value) => seed.deserialize(value.into_deserializer()),
            None => self.from.read(seed),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}
