//! Deserialization of enum variants.
//!
//! A unit variant is an atom, or a binary with its name. Any variant can be a tuple whose first
//! element, the *tag*, is the variant's name as an atom.

use std::borrow::Cow;

use serde::de::value::CowStrDeserializer;
use serde::de::{self, DeserializeSeed, EnumAccess, VariantAccess, Visitor};

use super::deserializer::Deserializer;
use crate::token::Token;
use crate::value::error::ValueError;

/// `EnumAccess` and `VariantAccess` for a variant.
pub(super) struct Variant<'r, 'de> {
    name: Cow<'de, str>,
    /// Positioned at the element that follows the tag.
    from: Deserializer<'r, 'de>,
    /// Number of elements after the tag.
    left: usize,
}

impl<'r, 'de> Variant<'r, 'de> {
    /// A variant that is an atom or a binary, its name.
    pub(super) fn unit(name: Cow<'de, str>, from: Deserializer<'r, 'de>) -> Self {
        Self { name, from, left: 0 }
    }

    /// A variant that is a tuple, of which the tag is next.
    pub(super) fn tagged(from: Deserializer<'r, 'de>, left: usize) -> Result<Self, ValueError> {
        match from.reader.atom_text()? {
            Some(name) => Ok(Self { name, from, left }),
            None => Err(ValueError::mismatch("a tuple that does not begin with an atom")),
        }
    }

    /// Returns an error if the number of elements after the tag is not `count`.
    fn holds(&self, count: usize) -> Result<(), ValueError> {
        if self.left == count {
            return Ok(());
        }
        let (name, left, plural) = (&self.name, self.left, if count == 1 { "" } else { "s" });
        Err(ValueError::mismatch(format!("`{name}` takes {count} argument{plural}, not {left}")))
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = ValueError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), ValueError> {
        let name = CowStrDeserializer::<ValueError>::new(self.name.clone());
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
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
        let is_one = self.left == 1;
        if is_one && matches!(self.from.peek()?, Token::Map(_) | Token::List(_) | Token::Nil) {
            return de::Deserializer::deserialize_struct(self.from, "", fields, visitor);
        }
        self.holds(fields.len())?;
        self.from.elements(visitor, fields.len(), false)
    }
}
