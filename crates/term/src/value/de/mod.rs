//! Deserialization of values from the external term format.

mod access;
mod deserializer;
mod enums;
mod format;

pub(super) use deserializer::Deserializer;
