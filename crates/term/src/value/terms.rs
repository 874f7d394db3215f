//! Serde support of terms as fields: [`Term`], [`Atom`], [`Pid`] and the other component types.
//!
//! They pass through `serde` in encoded form, so they work with this format only.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use super::with::RAW;
use crate::{
    Atom, Binary, BitString, Decoder, Encoder, Export, Fun, Map, NativeRecord, Pid, Port,
    Reference, Term,
};

/// Bytes that `serde` does not treat as a sequence.
struct Bytes<'b>(&'b [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl Serialize for Term {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        Encoder::bare(self).write(&mut bytes).map_err(serde::ser::Error::custom)?;
        serializer.serialize_newtype_struct(RAW, &Bytes(&bytes))
    }
}

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW, RawVisitor)
    }
}

/// Visitor of bytes in the external format, which it decodes to a term.
struct RawVisitor;

impl Visitor<'_> for RawVisitor {
    type Value = Term;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a term in the external format")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Term, E> {
        Decoder::new(bytes).decode_bare().map_err(E::custom)
    }
}

/// COST: one copy of the bytes.
impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self)
    }
}

macro_rules! serialize {
    ($($part:ident)*) => {
        $(impl Serialize for $part {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Term::from(self.clone()).serialize(serializer)
            }
        })*
    };
}

serialize! { Atom BitString Map Pid Port Reference Fun Export NativeRecord }

macro_rules! deserialize {
    ($($part:ident: $what:literal, $term:ident => $value:expr;)*) => {
        $(impl<'de> Deserialize<'de> for $part {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match Term::deserialize(deserializer)? {
                    Term::$part($term) => Ok($value),
                    _ => Err(de::Error::custom(concat!("not ", $what))),
                }
            }
        })*
    };
}

deserialize! {
    Atom: "an atom", atom => atom;
    Binary: "a binary", binary => binary;
    BitString: "a bit string", bits => *bits;
    Map: "a map", map => map;
    Pid: "a process identifier", pid => *pid;
    Port: "a port", port => *port;
    Reference: "a reference", reference => *reference;
    Fun: "a fun", fun => *fun;
    Export: "a function", export => *export;
    NativeRecord: "a native record", record => *record;
}
