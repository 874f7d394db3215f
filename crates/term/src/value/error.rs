//! Errors of serialization and deserialization.

use std::fmt;

use crate::error::{DecodeError, EncodeError, Reason};

/// Error: a value cannot be converted to a term, or a term to the requested type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueError {
    /// The value does not match the type.
    Mismatch(String),
    /// The bytes are not a valid term.
    Decode(DecodeError),
    /// The term cannot be encoded.
    Encode(EncodeError),
}

impl ValueError {
    pub(super) fn wrong(offset: usize, reason: Reason) -> Self {
        Self::Decode(DecodeError { offset, reason })
    }

    pub(super) fn mismatch(text: impl Into<String>) -> Self {
        Self::Mismatch(text.into())
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch(text) => f.write_str(text),
            Self::Decode(error) => write!(f, "{error}"),
            Self::Encode(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ValueError {}

impl From<DecodeError> for ValueError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<EncodeError> for ValueError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl serde::ser::Error for ValueError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::Mismatch(text.to_string())
    }
}

impl serde::de::Error for ValueError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::Mismatch(text.to_string())
    }
}
