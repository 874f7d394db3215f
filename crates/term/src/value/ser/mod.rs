//! Serialization of values to the external term format.

mod compound;
mod format;
mod serializer;

pub(super) use serializer::Serializer;
