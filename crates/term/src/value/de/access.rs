//! Access to the parts of lists, tuples and maps for deserialization.

use std::slice::Iter;
use std::vec;

use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::deserializer::Deserializer;
use crate::token::{NativeRecordHead, Token};
use crate::value::error::ValueError;
use crate::{Atom, Reader, tag};

impl<'de> Deserializer<'_, 'de> {
    /// Deserializes the elements of a list or a tuple, or the fields of a struct that follow each other.
    pub(super) fn elements<V: Visitor<'de>>(
        mut self,
        visitor: V,
        count: usize,
        list: bool,
    ) -> Result<V::Value, ValueError> {
        self.down()?;
        let mut elements = Elements { from: self, left: count };
        let value = visitor.visit_seq(&mut elements)?;
        elements.from.finish(elements.left, list, "elements")?;
        Ok(value)
    }

    /// Deserializes the pairs of a map or a property list.
    pub(super) fn pairs<V: Visitor<'de>>(
        mut self,
        visitor: V,
        count: usize,
        list: bool,
        of_struct: bool,
    ) -> Result<V::Value, ValueError> {
        self.down()?;
        let mut pairs = Pairs { from: self, left: count, list, of_struct, value: None };
        let value = visitor.visit_map(&mut pairs)?;
        pairs.from.finish(pairs.left, list, "pairs")?;
        Ok(value)
    }

    /// Deserializes the fields of a native record, whose values follow.
    pub(super) fn record<V: Visitor<'de>>(
        mut self,
        visitor: V,
        head: NativeRecordHead,
    ) -> Result<V::Value, ValueError> {
        self.down()?;
        let mut fields = Fields { from: self, names: head.fields.into_iter() };
        let value = visitor.visit_map(&mut fields)?;
        fields.from.finish(fields.names.len(), false, "fields")?;
        Ok(value)
    }

    /// Checks that no parts are left, and that a list has no tail.
    fn finish(mut self, left: usize, list: bool, parts: &str) -> Result<(), ValueError> {
        if left > 0 {
            return Err(ValueError::mismatch(format!("{left} {parts} too many")));
        }
        if list && self.token()? != Token::Nil {
            return Err(ValueError::mismatch("a list with a tail"));
        }
        Ok(())
    }
}

/// Elements of a list or a tuple.
struct Elements<'r, 'de> {
    from: Deserializer<'r, 'de>,
    left: usize,
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
struct Fields<'r, 'de> {
    from: Deserializer<'r, 'de>,
    /// Names of the fields whose values have not been read.
    names: vec::IntoIter<Atom>,
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
struct Pairs<'r, 'de> {
    from: Deserializer<'r, 'de>,
    left: usize,
    list: bool,
    /// Whether to skip the key `__struct__` of Elixir.
    of_struct: bool,
    /// Implied value of the last key, if it was a single atom.
    value: Option<bool>,
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
