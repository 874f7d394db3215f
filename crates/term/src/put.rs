//! Encoding of atoms, integers, identifiers and heads, for the encoder, the writer and the serializer.

use std::ops::DerefMut;

use bytes::BufMut;
use num_bigint::{BigInt, Sign};

use crate::error::EncodeError;
use crate::{Atom, Pid, Reference, tag};

/// Output buffer: `Vec<u8>`, `BytesMut` and similar types.
///
/// WHY mutable access: the size of a fun precedes it and is known only after it is written.
pub trait Buffer: BufMut + DerefMut<Target = [u8]> {}

impl<B: BufMut + DerefMut<Target = [u8]>> Buffer for B {}

/// Function from an atom to its atom cache index in the message header, if it has one.
pub type AtomIndex<'c> = dyn FnMut(&Atom) -> Option<u8> + Send + 'c;

/// Writer of atoms, as atom cache references where the function returns an index.
pub(crate) struct Atoms<'c>(pub(crate) Option<&'c mut AtomIndex<'c>>);

impl Atoms<'_> {
    pub(crate) fn put<B: Buffer>(&mut self, buffer: &mut B, atom: &Atom) {
        match self.0.as_mut().and_then(|index| index(atom)) {
            Some(index) => buffer.put_slice(&[tag::ATOM_CACHE_REF, index]),
            None => put_atom(buffer, atom.as_str()),
        }
    }

    pub(crate) fn put_pid<B: Buffer>(&mut self, buffer: &mut B, pid: &Pid) {
        buffer.put_u8(tag::NEW_PID);
        self.put(buffer, &pid.node);
        let mut numbers = [0; 12];
        numbers[..4].copy_from_slice(&pid.id.to_be_bytes());
        numbers[4..8].copy_from_slice(&pid.serial.to_be_bytes());
        numbers[8..].copy_from_slice(&pid.creation.to_be_bytes());
        buffer.put_slice(&numbers);
    }

    pub(crate) fn put_reference<B: Buffer>(&mut self, buffer: &mut B, reference: &Reference) {
        buffer.put_u8(tag::NEWER_REFERENCE);
        buffer.put_u16(reference.words().len() as u16);
        self.put(buffer, &reference.node);
        buffer.put_u32(reference.creation);
        for word in reference.words() {
            buffer.put_u32(*word);
        }
    }
}

/// Writes an atom with this text, which must not exceed the maximum length.
pub(crate) fn put_atom<B: Buffer>(buffer: &mut B, text: &str) {
    let text = text.as_bytes();
    match u8::try_from(text.len()) {
        Ok(length) => buffer.put_slice(&[tag::SMALL_ATOM_UTF8, length]),
        Err(_) => {
            buffer.put_u8(tag::ATOM_UTF8);
            // At most 255 characters of 4 bytes.
            buffer.put_u16(text.len() as u16);
        }
    }
    buffer.put_slice(text);
}

pub(crate) fn put_small<B: Buffer>(buffer: &mut B, value: i64) {
    if let Ok(value) = u8::try_from(value) {
        buffer.put_slice(&[tag::SMALL_INTEGER, value]);
    } else if let Ok(value) = i32::try_from(value) {
        buffer.put_u8(tag::INTEGER);
        buffer.put_i32(value);
    } else {
        let digits = value.unsigned_abs().to_le_bytes();
        let length = digits.len() - value.unsigned_abs().leading_zeros() as usize / 8;
        buffer.put_slice(&[tag::SMALL_BIG, length as u8, u8::from(value < 0)]);
        buffer.put_slice(&digits[..length]);
    }
}

/// Writes an integer in the shortest form.
pub(crate) fn put_integer<B: Buffer>(buffer: &mut B, value: &BigInt) -> Result<(), EncodeError> {
    if let Ok(small) = i64::try_from(value) {
        put_small(buffer, small);
        return Ok(());
    }
    let (sign, digits) = value.to_bytes_le();
    match u8::try_from(digits.len()) {
        Ok(few) => buffer.put_slice(&[tag::SMALL_BIG, few]),
        Err(_) => put_head(buffer, tag::LARGE_BIG, digits.len())?,
    }
    buffer.put_u8(u8::from(sign == Sign::Minus));
    buffer.put_slice(&digits);
    Ok(())
}

/// Writes the head of a tuple.
pub(crate) fn put_tuple<B: Buffer>(buffer: &mut B, length: usize) -> Result<(), EncodeError> {
    match u8::try_from(length) {
        Ok(few) => buffer.put_slice(&[tag::SMALL_TUPLE, few]),
        Err(_) => put_head(buffer, tag::LARGE_TUPLE, length)?,
    }
    Ok(())
}

/// Writes a tag and a length of four bytes.
pub(crate) fn put_head<B: Buffer>(
    buffer: &mut B,
    tag: u8,
    length: usize,
) -> Result<(), EncodeError> {
    buffer.put_u8(tag);
    buffer.put_u32(count(length)?);
    Ok(())
}

pub(crate) fn count(length: usize) -> Result<u32, EncodeError> {
    u32::try_from(length).map_err(|_| EncodeError::TooLong)
}
