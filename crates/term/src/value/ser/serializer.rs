//! Serializer of one value: the output and the options.

use crate::value::error::ValueError;
use crate::value::options::Options;
use crate::{Atom, put};

/// Serializer that appends one value to the bytes.
pub(in crate::value) struct Serializer<'b> {
    pub(super) bytes: &'b mut Vec<u8>,
    pub(super) options: Options,
    /// Whether byte strings are encoded terms, which are written unchanged.
    pub(super) raw: bool,
}

impl<'b> Serializer<'b> {
    pub(in crate::value) fn new(bytes: &'b mut Vec<u8>, options: Options) -> Self {
        Self { bytes, options, raw: false }
    }
}

/// Writes an atom with this text.
pub(super) fn put_atom(bytes: &mut Vec<u8>, text: &str) -> Result<(), ValueError> {
    // WHY without an `Atom`: creating one takes longer than writing the text.
    if text.len() > Atom::MAX_CHARS {
        Atom::new(text).map_err(|error| ValueError::mismatch(error.to_string()))?;
    }
    put::put_atom(bytes, text);
    Ok(())
}
