//! Conversion of values that need no encoding: terms, and long byte strings.

use std::any::Any;

use bytes::Bytes;
use purlin_term::{Binary, Term};
use serde_bytes::ByteBuf;

/// Minimum length of a byte string that is not copied. WHY: a separate part costs more than copying a short one.
const LONG: usize = 4 << 10;

/// Converts a [`Term`], or a long byte string ([`ByteBuf`], [`Bytes`], [`Binary`]), without copying it. Returns any other
/// value unchanged.
pub(in crate::cluster) fn into_term<T: 'static>(value: T) -> Result<Term, T> {
    let mut value = Some(value);
    let any = &mut value as &mut dyn Any;
    if let Some(term) = any.downcast_mut::<Option<Term>>() {
        return Ok(term.take().unwrap_or(Term::NIL));
    }
    let binary: Option<Binary> = if let Some(bytes) = any.downcast_mut::<Option<ByteBuf>>() {
        bytes.take_if(|bytes| bytes.len() >= LONG).map(|bytes| bytes.into_vec().into())
    } else if let Some(bytes) = any.downcast_mut::<Option<Bytes>>() {
        bytes.take_if(|bytes| bytes.len() >= LONG).map(Binary::from)
    } else if let Some(binary) = any.downcast_mut::<Option<Binary>>() {
        binary.take_if(|binary| binary.len() >= LONG)
    } else {
        None
    };
    match (binary, value) {
        (Some(binary), _) => Ok(binary.into()),
        (None, Some(value)) => Err(value),
        (None, None) => Ok(Term::NIL),
    }
}
