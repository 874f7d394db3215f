//! Puts together what stands between `<<` and `>>`.

use num_bigint::BigInt;

use crate::{BitString, Term};

/// Bits, the first one on the left.
#[derive(Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// How many bits of the last byte are taken; 0 where it is full, or there is none.
    last: u8,
}

impl Bits {
    /// The bits that an integer may have here.
    pub(super) const MOST: u64 = 1 << 16;

    /// Adds the lower bits of an integer.
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

    /// Adds characters in UTF-8.
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
