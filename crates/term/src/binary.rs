//! Erlang binaries and bit strings.
//!
//! A short binary is stored inline; a longer one is a [`Bytes`], which clones share and which can
//! be moved in and out without copying.
//!
//! COST: 24 bytes; more than 22 bytes of data are allocated, with 48 bytes for the reference count.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;

/// Maximum length of an inline binary.
const SHORT: usize = 22;

/// An Erlang binary. Clones share long data.
#[derive(Clone)]
pub struct Binary(Held);

/// Bytes of a binary: inline if they are few, shared otherwise.
#[derive(Clone)]
enum Held {
    Short { length: u8, bytes: [u8; SHORT] },
    Shared(Arc<Bytes>),
}

impl Binary {
    /// Creates a binary from a copy of these bytes.
    pub fn copy(bytes: &[u8]) -> Self {
        Self::short(bytes)
            .unwrap_or_else(|| Self(Held::Shared(Arc::new(Bytes::copy_from_slice(bytes)))))
    }

    fn short(bytes: &[u8]) -> Option<Self> {
        let mut buffer = [0; SHORT];
        buffer.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self(Held::Short { length: bytes.len() as u8, bytes: buffer }))
    }

    /// Returns the bytes.
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Held::Short { length, bytes } => &bytes[..usize::from(*length)],
            Held::Shared(bytes) => bytes,
        }
    }

    /// Returns the bytes as text, or `None` if they are not UTF-8. An Elixir string is such a
    /// binary.
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

macro_rules! from {
    ($($type:ty: |$value:ident| $binary:expr;)*) => {
        $(impl From<$type> for Binary {
            fn from($value: $type) -> Self {
                $binary
            }
        })*
    };
}

from! {
    Bytes: |bytes| Self::short(&bytes).unwrap_or_else(|| Self(Held::Shared(Arc::new(bytes))));
    Vec<u8>: |bytes| Bytes::from(bytes).into();
    String: |text| text.into_bytes().into();
    &[u8]: |bytes| Self::copy(bytes);
    &str: |text| Self::copy(text.as_bytes());
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

/// An Erlang bit string whose length is not a multiple of eight bits.
///
/// INVARIANT: there is a last byte; its upper `last` bits, from 1 to 7, are significant and the
/// others are 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitString {
    bytes: Binary,
    last: u8,
}

impl BitString {
    /// Creates a bit string whose last byte has `last` significant upper bits; the lower bits are
    /// ignored. Returns `None` if there is no byte or `last` is not from 1 to 7.
    pub fn new(bytes: &[u8], last: u8) -> Option<Self> {
        if !(1..=7).contains(&last) {
            return None;
        }
        let mut bytes = bytes.to_vec();
        *bytes.last_mut()? &= 0xff << (8 - last);
        Some(Self { bytes: bytes.into(), last })
    }

    /// Returns the bytes. Unused bits of the last byte are 0.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of significant bits of the last byte: 1 to 7.
    pub fn last(&self) -> u8 {
        self.last
    }

    /// Returns the length in bits.
    pub fn bits(&self) -> usize {
        self.bytes.len() * 8 - usize::from(8 - self.last)
    }
}

/// Compares bits from the left. If one is a prefix of the other, the shorter is less.
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
    fn clones_and_extracted_bytes_share_the_allocation() {
        let bytes = Bytes::from(vec![7; 100]);
        let binary = Binary::from(bytes.clone());
        assert_eq!(binary.clone().as_ptr(), bytes.as_ptr());
        assert_eq!(Bytes::from(binary).as_ptr(), bytes.as_ptr());
    }

    #[test]
    fn unused_bits_do_not_affect_equality() {
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
