//! Deserialization of enum variants.
//!
//! A unit variant is an atom, or a binary with its name. Any variant can be a tuple whose first
//! element, the *tag*, is the variant's name as an atom.

use serde::de::value::CowStrDeserializer;
use serde::de::{self, DeserializeSeed, EnumAccess, VariantAccess, Visitor};

use super::deserializer::{Deserializer, unexpected};
use crate::token::Token;
use crate::value::error::ValueError;

/// `EnumAccess` for a unit variant that is an atom or a binary: its name.
pub(super) type Name<'de> = CowStrDeserializer<'de, ValueError>;

/// `EnumAccess` and `VariantAccess` for a variant that is a tuple.
pub(super) struct Tagged<'r, 'de> {
    /// Positioned at the tag; after `variant_seed`, at the element that follows it.
    pub(super) from: Deserializer<'r, 'de>,
    /// Number of elements after the tag.
    pub(super) left: usize,
}

impl Tagged<'_, '_> {
    /// Returns an error if the number of elements after the tag is not `count`.
    fn holds(&self, count: usize) -> Result<(), ValueError> {
        if self.left == count {
            return Ok(());
        }
        let text = format!("a variant that holds {}, not {count}", self.left);
        Err(ValueError::mismatch(text))
    }
}

impl<'r, 'de> EnumAccess<'de> for Tagged<'r, 'de> {
    type Error = ValueError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), ValueError> {
        match self.from.reader.atom_text()? {
            Some(text) => Ok((seed.deserialize(Name::new(text))?, self)),
            None => Err(ValueError::mismatch("a tuple that does not begin with an atom")),
        }
    }
}

impl<'de> VariantAccess<'de> for Tagged<'_, 'de> {
    type Error = ValueError;

    fn unit_variant(self) -> Result<(), ValueError> {
        self.holds(0)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        mut self,
        seed: T,
    ) -> Result<T::Value, ValueError> {
        self.holds(1)?;
        self.from.read(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.holds(length)?;
        self.from.elements(visitor, length, false)
    }

    /// Accepts `{Tag, Fields}`, with a map or keyword list of the fields, and `{Tag, A, B, …}`,
    /// with the values in the order of the fields.
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let one = self.left == 1;
        match self.from.peek()? {
            Token::Map(_) | Token::List(_) | Token::Nil if one => {
                de::Deserializer::deserialize_struct(self.from, "", fields, visitor)
            }
            _ if self.left == fields.len() => self.from.elements(visitor, fields.len(), false),
            other => Err(unexpected(&other, &visitor)),
        }
    }
}
