//! What can be wrong between a value and a term.

use std::fmt;

use crate::error::{DecodeError, EncodeError, Reason};

/// A value is no term, or a term no such value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueError {
    /// What the type says, or this crate about it.
    Mismatch(String),
    /// The bytes are no term.
    Decode(DecodeError),
    /// The term cannot be written.
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
