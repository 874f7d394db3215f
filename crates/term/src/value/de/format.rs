//! `serde::Deserializer` for the external term format.

use std::borrow::Cow;

use serde::de::{self, Visitor};
use serde::forward_to_deserialize_any;

use super::access::Bytes;
use super::deserializer::{Deserializer, unexpected};
use super::enums::Variant;
use crate::token::Token;
use crate::value::error::ValueError;
use crate::value::with::RAW;
use crate::{Decoder, Encoder};

impl<'de> Deserializer<'_, 'de> {
    fn string<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        match self.token()? {
            Token::Atom(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Token::Atom(Cow::Owned(text)) => visitor.visit_string(text),
            Token::Binary(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => visitor.visit_borrowed_str(text),
                Err(_) => Err(unexpected(&Token::Binary(bytes), &visitor)),
            },
            Token::String(bytes) => {
                visitor.visit_string(bytes.iter().map(|byte| char::from(*byte)).collect())
            }
            Token::Nil => visitor.visit_borrowed_str(""),
            Token::List(count) => {
                let mut text = String::new();
                for _ in 0..count {
                    match self.token()? {
                        Token::Integer(value) => text.push(character(value)?),
                        other => return Err(unexpected(&other, &visitor)),
                    }
                }
                match self.token()? {
                    Token::Nil => visitor.visit_string(text),
                    other => Err(unexpected(&other, &visitor)),
                }
            }
            other => Err(unexpected(&other, &visitor)),
        }
    }
}

fn character(value: i64) -> Result<char, ValueError> {
    let c = u32::try_from(value).ok().and_then(char::from_u32);
    c.ok_or_else(|| ValueError::mismatch(format!("{value} is no character")))
}

/// Returns whether an atom stands for an absent value.
fn is_absent(token: &Token<'_>) -> bool {
    matches!(token, Token::Atom(text) if matches!(&**text, "undefined" | "nil"))
}

/// WHY apart: most integers are small ones.
macro_rules! deserialize_integers {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            match self.reader.small_integer()? {
                Some(value) => visitor.visit_i64(value.into()),
                None => self.deserialize_any(visitor),
            }
        })*
    };
}

macro_rules! deserialize_by {
    ($($by:ident: $name:ident($($_ignored:ty),*);)*) => {
        $(fn $name<V: Visitor<'de>>(
            self,
            $(_: $_ignored,)*
            visitor: V,
        ) -> Result<V::Value, ValueError> {
            self.$by(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Deserializer<'_, 'de> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        match self.peek()? {
            Token::Integer(value) => {
                self.token()?;
                visitor.visit_i64(value)
            }
            Token::BigInteger(value) => {
                self.token()?;
                match value.as_i128() {
                    Some(fits) => match u64::try_from(fits) {
                        Ok(fits) => visitor.visit_u64(fits),
                        Err(_) => visitor.visit_i128(fits),
                    },
                    None => match value.to_big().try_into() {
                        Ok(fits) => visitor.visit_u128(fits),
                        Err(_) => Err(unexpected(&Token::BigInteger(value), &visitor)),
                    },
                }
            }
            Token::Float(value) => {
                self.token()?;
                visitor.visit_f64(value.get())
            }
            Token::Atom(text) if matches!(&*text, "true" | "false") => {
                self.token()?;
                visitor.visit_bool(&*text == "true")
            }
            token if is_absent(&token) => {
                self.token()?;
                visitor.visit_unit()
            }
            Token::Atom(_) => self.string(visitor),
            Token::Binary(bytes) if std::str::from_utf8(bytes).is_ok() => self.string(visitor),
            Token::Binary(_) => self.deserialize_bytes(visitor),
            Token::Map(_) | Token::NativeRecord(_) => self.deserialize_map(visitor),
            Token::Nil | Token::List(_) | Token::String(_) | Token::Tuple(_) => {
                self.deserialize_seq(visitor)
            }
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        match self.peek()? {
            Token::Integer(value) => {
                self.token()?;
                visitor.visit_char(character(value)?)
            }
            _ => self.string(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        match self.token()? {
            Token::Binary(bytes) | Token::String(bytes) => visitor.visit_borrowed_bytes(bytes),
            Token::Nil => visitor.visit_borrowed_bytes(&[]),
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        if is_absent(&self.peek()?) {
            self.token()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        match self.token()? {
            Token::Tuple(0) => visitor.visit_unit(),
            token if is_absent(&token) => visitor.visit_unit(),
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match self.token()? {
            Token::Atom(text) if text == name => visitor.visit_unit(),
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        if name != RAW {
            self.down()?;
            return visitor.visit_newtype_struct(self);
        }
        let atoms = self.reader.atoms();
        let bytes = self.reader.skip()?;
        if atoms.is_empty() {
            return visitor.visit_borrowed_bytes(bytes);
        }
        // Atom cache references are meaningless without their table.
        let term = Decoder::with_atoms(bytes, atoms).decode_bare()?;
        let mut bytes = Vec::new();
        Encoder::bare(&term).write(&mut bytes)?;
        visitor.visit_byte_buf(bytes)
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        if let Some(count) = self.reader.small_tuple()? {
            return self.elements(visitor, count.into(), false);
        }
        match self.token()? {
            Token::Nil => self.elements(visitor, 0, false),
            Token::List(count) => self.elements(visitor, count, true),
            Token::Tuple(count) => self.elements(visitor, count, false),
            Token::String(bytes) | Token::Binary(bytes) => {
                let mut bytes = Bytes(bytes.iter());
                let value = visitor.visit_seq(&mut bytes)?;
                bytes.finish()?;
                Ok(value)
            }
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        match self.token()? {
            Token::Map(count) => self.pairs(visitor, count, false, false),
            Token::NativeRecord(head) => self.record(visitor, *head),
            Token::List(count) => self.pairs(visitor, count, true, false),
            Token::Nil => self.pairs(visitor, 0, false, false),
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let own = fields.contains(&"__struct__");
        match self.token()? {
            Token::Map(count) => self.pairs(visitor, count, false, !own),
            Token::NativeRecord(head) => self.record(visitor, *head),
            Token::List(count) => self.pairs(visitor, count, true, false),
            Token::Nil => self.pairs(visitor, 0, false, false),
            Token::Tuple(count) if count == fields.len() => self.elements(visitor, count, false),
            Token::Tuple(count) if count == fields.len() + 1 => match self.token()? {
                Token::Atom(tag) if tag == name => self.elements(visitor, count - 1, false),
                other => Err(unexpected(&other, &visitor)),
            },
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        // WHY apart: most variants are small tuples.
        match self.reader.small_tuple()? {
            Some(0) => return Err(unexpected(&Token::Tuple(0), &visitor)),
            Some(count) => {
                self.down()?;
                return visitor.visit_enum(Variant::tagged(self, usize::from(count) - 1)?);
            }
            None => {}
        }
        match self.token()? {
            Token::Tuple(count @ 1..) => {
                self.down()?;
                visitor.visit_enum(Variant::tagged(self, count - 1)?)
            }
            Token::Atom(name) => visitor.visit_enum(Variant::unit(name, self)),
            Token::Binary(bytes) => match std::str::from_utf8(bytes) {
                Ok(name) => visitor.visit_enum(Variant::unit(Cow::Borrowed(name), self)),
                Err(_) => Err(unexpected(&Token::Binary(bytes), &visitor)),
            },
            other => Err(unexpected(&other, &visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.reader.skip()?;
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    deserialize_by! {
        string: deserialize_str();
        string: deserialize_string();
        string: deserialize_identifier();
        deserialize_bytes: deserialize_byte_buf();
        deserialize_seq: deserialize_tuple(usize);
        deserialize_seq: deserialize_tuple_struct(&'static str, usize);
    }
    deserialize_integers! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 }
    deserialize_integers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64
    }
}
