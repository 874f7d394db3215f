//! Serialized form of a trace context: a list of pairs, of the names and values of its fields.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::TraceContext;
use crate::carrier::{Carrier, LONGEST_STATE};

impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // WHY collected: some formats need the length first.
        serializer.collect_seq(Carrier::of(self.span_context()).fields().collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for TraceContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(deserializer.deserialize_seq(Pairs)?.parse().into())
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Carrier<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace context, which is a list of pairs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Self::Value, A::Error> {
        let mut carrier = Carrier::default();
        while let Some((Text(name), Text(value))) = pairs.next_element()? {
            carrier.put(&name, value);
        }
        Ok(carrier)
    }
}

/// Text that is borrowed where the format allows it. A text that is too long for any field is not copied, but empty.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let kept = if text.len() <= LONGEST_STATE { text } else { "" };
        Ok(Text(Cow::Owned(kept.to_owned())))
    }
}
