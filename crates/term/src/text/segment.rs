//! Bits of a binary literal `<<...>>`.

use num_bigint::BigInt;

use crate::{BitString, Term};

/// Bits, the first one on the left.
#[derive(Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// Number of bits used in the last byte; 0 if it is full or there is no byte.
    last: u8,
}

impl Bits {
    /// Maximum size of an integer in bits.
    pub(super) const MOST: u64 = 1 << 16;

    /// Appends the lower bits of an integer.
    pub(super) fn push_integer(&mut self, value: &BigInt, size: u64) {
        for bit in (0..size).rev() {
            if self.last == 0 {
                self.bytes.push(0);
            }
            if let Some(byte) = self.bytes.last_mut()
                && value.bit(bit)
            {
                *byte |= 0x80 >> self.last;
            }
            self.last = (self.last + 1) % 8;
        }
    }

    /// Appends characters in UTF-8.
    pub(super) fn push_text(&mut self, text: impl IntoIterator<Item = char>) {
        let mut buffer = [0; 4];
        for c in text {
            for byte in c.encode_utf8(&mut buffer).bytes() {
                self.push_integer(&byte.into(), 8);
            }
        }
    }

    pub(super) fn into_term(self) -> Term {
        match BitString::new(&self.bytes, self.last) {
            Some(bits) => bits.into(),
            None => Term::Binary(self.bytes.into()),
        }
    }
}
