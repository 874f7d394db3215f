//! Binaries and bit strings.
//!
//! A short binary lies in its term; a longer one is a [`Bytes`], which clones share and which can be
//! handed in and taken out without copying it.
//!
//! COST: 24 bytes, and what is longer than 22 bytes is allocated, with 48 bytes to count references.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;

/// The bytes that need no allocation.
const SHORT: usize = 22;

/// A binary: bytes, of which a clone is not a copy.
#[derive(Clone)]
pub struct Binary(Held);

#[derive(Clone)]
enum Held {
    Short { length: u8, bytes: [u8; SHORT] },
    Shared(Arc<Bytes>),
}

impl Binary {
    /// A binary of these bytes, which are copied.
    pub fn copy(bytes: &[u8]) -> Self {
        Self::short(bytes)
            .unwrap_or_else(|| Self(Held::Shared(Arc::new(Bytes::copy_from_slice(bytes)))))
    }

    fn short(bytes: &[u8]) -> Option<Self> {
        let mut place = [0; SHORT];
        place.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self(Held::Short { length: bytes.len() as u8, bytes: place }))
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Held::Short { length, bytes } => &bytes[..usize::from(*length)],
            Held::Shared(bytes) => bytes,
        }
    }

    /// The text, if the bytes are UTF-8: a string of Elixir's.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self).ok()
    }
}

impl Deref for Binary {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for Binary {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Bytes> for Binary {
    fn from(bytes: Bytes) -> Self {
        Self::short(&bytes).unwrap_or_else(|| Self(Held::Shared(Arc::new(bytes))))
    }
}

impl From<Vec<u8>> for Binary {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(Bytes::from(bytes))
    }
}

impl From<String> for Binary {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}

impl From<&[u8]> for Binary {
    fn from(bytes: &[u8]) -> Self {
        Self::copy(bytes)
    }
}

impl From<&str> for Binary {
    fn from(text: &str) -> Self {
        Self::copy(text.as_bytes())
    }
}

impl From<Binary> for Bytes {
    fn from(binary: Binary) -> Self {
        match binary.0 {
            Held::Short { length, bytes } => Self::copy_from_slice(&bytes[..usize::from(length)]),
            Held::Shared(bytes) => Arc::unwrap_or_clone(bytes),
        }
    }
}

impl PartialEq for Binary {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Binary {}

impl PartialEq<[u8]> for Binary {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_slice() == other
    }
}

impl PartialEq<str> for Binary {
    fn eq(&self, other: &str) -> bool {
        self.as_slice() == other.as_bytes()
    }
}

impl Hash for Binary {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Debug for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.as_slice().escape_ascii())
    }
}

/// A bit string whose length is no multiple of eight bits.
///
/// INVARIANT: there is a last byte, `last` of its upper bits count, from 1 to 7, and the others are 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitString {
    bytes: Binary,
    last: u8,
}

impl BitString {
    /// The bit string, if it is none that is a binary: `last` is from 1 to 7 and there is a byte. The
    /// lower bits of the last byte do not count.
    pub fn new(bytes: &[u8], last: u8) -> Option<Self> {
        if !(1..=7).contains(&last) {
            return None;
        }
        let mut bytes = bytes.to_vec();
        *bytes.last_mut()? &= 0xff << (8 - last);
        Some(Self { bytes: bytes.into(), last })
    }

    /// The bytes; of the last one the lower bits are 0.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bits of the last byte count: 1 to 7.
    pub fn last(&self) -> u8 {
        self.last
    }

    /// The length in bits.
    pub fn bits(&self) -> usize {
        self.bytes.len() * 8 - usize::from(8 - self.last)
    }
}

/// Compares bits from the left; of two that begin alike the shorter is the lesser.
pub(crate) fn compare_bits(a: (&[u8], usize), b: (&[u8], usize)) -> Ordering {
    let common = a.1.min(b.1);
    let whole = common / 8;
    let first = a.0[..whole].cmp(&b.0[..whole]);
    first.then_with(|| {
        let rest = common % 8;
        let part = |bytes: &[u8]| if rest == 0 { 0 } else { bytes[whole] >> (8 - rest) };
        part(a.0).cmp(&part(b.0)).then(a.1.cmp(&b.1))
    })
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use bytes::Bytes;

    use super::{Binary, BitString, compare_bits};

    #[test]
    fn a_binary_holds_its_bytes_whether_short_or_long() {
        for length in [0, 1, 21, 22, 23, 1000] {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            assert_eq!(Binary::copy(&bytes), Binary::from(bytes.clone()));
            assert_eq!(Bytes::from(Binary::copy(&bytes)), bytes);
        }
    }

    #[test]
    fn a_clone_and_what_is_taken_out_share_the_bytes() {
        let bytes = Bytes::from(vec![7; 100]);
        let binary = Binary::from(bytes.clone());
        assert_eq!(binary.clone().as_ptr(), bytes.as_ptr());
        assert_eq!(Bytes::from(binary).as_ptr(), bytes.as_ptr());
    }

    #[test]
    fn bits_that_do_not_count_make_no_difference() {
        assert_eq!(BitString::new(&[1, 0b1010_0000], 3), BitString::new(&[1, 0b1011_1111], 3));
        assert_eq!(BitString::new(&[9; 30], 4).unwrap().bytes()[29], 0);
        assert_eq!(BitString::new(&[1], 3).unwrap().bits(), 3);
        assert_eq!(BitString::new(&[], 3), None);
        assert_eq!(BitString::new(&[1], 8), None);
        assert_eq!(BitString::new(&[1], 0), None);
    }

    #[test]
    fn bits_are_compared_from_the_left() {
        assert_eq!(compare_bits((&[0b1000_0000], 1), (&[0b0111_1111], 8)), Ordering::Greater);
        assert_eq!(compare_bits((&[0b1000_0000], 1), (&[0b1000_0000], 8)), Ordering::Less);
        assert_eq!(compare_bits((&[1, 2], 16), (&[1, 2], 16)), Ordering::Equal);
    }
}
