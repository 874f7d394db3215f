//! Errors of decoding and encoding.

/// Error: bytes are not a valid term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no Erlang term: {reason} at byte {offset}")]
pub struct DecodeError {
    /// Offset of the invalid part in bytes. Inside of a compressed term, offsets refer to the
    /// expanded bytes.
    pub offset: usize,
    /// What is invalid.
    pub reason: Reason,
}

/// Reason of a [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The bytes end within the term, or are fewer than an announced length requires.
    #[error("the bytes end within a term")]
    Ended,
    /// Bytes remain after the term.
    #[error("bytes follow the term")]
    Trailing,
    /// The byte in the place of the version, 131.
    #[error("{0} instead of the version, 131")]
    Version(u8),
    /// Unknown tag, or one that is not allowed here.
    #[error("no term begins with {0} here")]
    Tag(u8),
    /// The float is infinite or not a number.
    #[error("a float that is not finite")]
    Float,
    /// The atom is not UTF-8 or has more than 255 characters.
    #[error("an atom that is not UTF-8 or has over 255 characters")]
    Atom,
    /// The message header has no atom with this index.
    #[error("no atom with the index {0} in the header")]
    AtomCache(u8),
    /// The bit string has significant bits without a byte, or more than eight in its last byte.
    #[error("a bit string whose last byte cannot be")]
    BitString,
    /// The integer has more than 512 KiB, the maximum of nodes since OTP 26.
    #[error("an integer of more than 512 KiB")]
    BigInteger,
    /// The reference has 0 words or more than five.
    #[error("a reference without one to five words")]
    Reference,
    /// The fun or export is malformed.
    #[error("a fun that cannot be")]
    Fun,
    /// The native record is malformed.
    #[error("an invalid native record")]
    NativeRecord,
    /// Two keys of the map are equal.
    #[error("a map in which two keys are equal")]
    EqualKeys,
    /// The compressed data is corrupt, or does not have the announced size.
    #[error("a compressed term that does not expand as it says")]
    Compressed,
    /// The term exceeds the depth limit.
    #[error("a term deeper than allowed")]
    Depth,
    /// The term exceeds the memory limit.
    #[error("a term larger than allowed")]
    Memory,
}

/// Error: a term cannot be written in the external format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A binary, a list, a tuple or a map has more than 2^32 - 1 elements.
    #[error("the external format holds no more than 2^32 - 1 elements or bytes")]
    TooLong,
    /// A node's local encoding (LOCAL_EXT) is nested in another term.
    #[error("a local term cannot stand inside of another")]
    LocalInside,
}
