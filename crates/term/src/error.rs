//! What can be wrong with bytes that should be a term, and with a term that should become bytes.

use std::fmt;

/// Bytes are no term: where, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// How many bytes stand before the part that is wrong. Inside of a compressed term they are
    /// counted as they are when it is expanded.
    pub offset: usize,
    /// What is wrong with it.
    pub reason: Reason,
}

/// Why bytes are no term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The bytes end within the term, or could not hold as much as it says follows.
    Ended,
    /// The term has ended and bytes are left.
    Trailing,
    /// This stands where the version, 131, should.
    Version(u8),
    /// No term begins with this byte, or none that may stand here.
    Tag(u8),
    /// The float is infinite or no number.
    Float,
    /// The atom is not UTF-8 or has more than 255 characters.
    Atom,
    /// The header of the message names no atom of this index.
    AtomCache(u8),
    /// The bit string has bits of which it has no byte, or a last byte of more than eight.
    BitString,
    /// The integer has more than 512 KiB, more than nodes since OTP 26 can hold.
    BigInteger,
    /// The reference has no words or more than five.
    Reference,
    /// The fun or the export is not as they are made.
    Fun,
    /// Two keys of the map are equal.
    EqualKeys,
    /// What is compressed cannot be expanded, or not to the size that it says.
    Compressed,
    /// The term is deeper than the limit.
    Depth,
    /// The term would take more memory than the limit.
    Memory,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => f.write_str("the bytes end within a term"),
            Self::Trailing => f.write_str("bytes follow the term"),
            Self::Version(byte) => write!(f, "{byte} instead of the version, 131"),
            Self::Tag(tag) => write!(f, "no term begins with {tag} here"),
            Self::Float => f.write_str("a float that is not finite"),
            Self::Atom => f.write_str("an atom that is not UTF-8 or has over 255 characters"),
            Self::AtomCache(index) => write!(f, "no atom with the index {index} in the header"),
            Self::BitString => f.write_str("a bit string whose last byte cannot be"),
            Self::BigInteger => f.write_str("an integer of more than 512 KiB"),
            Self::Reference => f.write_str("a reference without one to five words"),
            Self::Fun => f.write_str("a fun that cannot be"),
            Self::EqualKeys => f.write_str("a map in which two keys are equal"),
            Self::Compressed => f.write_str("a compressed term that does not expand as it says"),
            Self::Depth => f.write_str("a term deeper than allowed"),
            Self::Memory => f.write_str("a term larger than allowed"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no Erlang term: {} at byte {}", self.reason, self.offset)
    }
}

impl std::error::Error for DecodeError {}

/// A term cannot be written in the external format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A binary, a list, a tuple or a map has more than 2^32 - 1 elements.
    TooLong,
    /// What a node encoded for itself stands inside of another term.
    LocalInside,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the external format holds no more than 2^32 - 1 elements or bytes",
            Self::LocalInside => "a local term cannot stand inside of another",
        })
    }
}

impl std::error::Error for EncodeError {}
