//! Errors of decoding and encoding.

use std::fmt;

/// Error: bytes are not a valid term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Offset of the invalid part in bytes. Inside of a compressed term, offsets refer to the
    /// expanded bytes.
    pub offset: usize,
    /// What is invalid.
    pub reason: Reason,
}

/// Reason of a [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The bytes end within the term, or are fewer than an announced length requires.
    Ended,
    /// Bytes remain after the term.
    Trailing,
    /// The byte in the place of the version, 131.
    Version(u8),
    /// Unknown tag, or one that is not allowed here.
    Tag(u8),
    /// The float is infinite or not a number.
    Float,
    /// The atom is not UTF-8 or has more than 255 characters.
    Atom,
    /// The message header has no atom with this index.
    AtomCache(u8),
    /// The bit string has significant bits without a byte, or more than eight in its last byte.
    BitString,
    /// The integer has more than 512 KiB, the maximum of nodes since OTP 26.
    BigInteger,
    /// The reference has 0 words or more than five.
    Reference,
    /// The fun or export is malformed.
    Fun,
    /// The native record is malformed.
    NativeRecord,
    /// Two keys of the map are equal.
    EqualKeys,
    /// The compressed data is corrupt, or does not have the announced size.
    Compressed,
    /// The term exceeds the depth limit.
    Depth,
    /// The term exceeds the memory limit.
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
            Self::NativeRecord => f.write_str("an invalid native record"),
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

/// Error: a term cannot be written in the external format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A binary, a list, a tuple or a map has more than 2^32 - 1 elements.
    TooLong,
    /// A node's local encoding (LOCAL_EXT) is nested in another term.
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
