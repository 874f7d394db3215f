//! Enum variants: atoms, and tuples whose first element is an atom.

use serde::de::value::CowStrDeserializer;
use serde::de::{self, DeserializeSeed, EnumAccess, VariantAccess, Visitor};

use super::de::{Deserializer, unexpected};
use super::error::ValueError;
use crate::token::Token;

/// Name of a variant.
pub(super) type Name<'de> = CowStrDeserializer<'de, ValueError>;

/// Tuple whose tag is next and is followed by this number of elements.
pub(super) struct Tagged<'r, 'de> {
    pub(super) from: Deserializer<'r, 'de>,
    pub(super) left: usize,
}

impl Tagged<'_, '_> {
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
        self.from.fields(visitor, length)
    }

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
            _ if self.left == fields.len() => self.from.fields(visitor, fields.len()),
            other => Err(unexpected(&other, &visitor)),
        }
    }
}
