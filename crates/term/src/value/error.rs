//! Errors of serialization and deserialization.

use std::fmt;

use crate::error::{DecodeError, EncodeError, Reason};

/// Error: a value cannot be converted to a term, or a term to the requested type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The value does not match the type.
    #[error("{0}")]
    Mismatch(String),
    /// The bytes are not a valid term.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The term cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl ValueError {
    pub(super) fn wrong(offset: usize, reason: Reason) -> Self {
        Self::Decode(DecodeError { offset, reason })
    }

    pub(super) fn mismatch(text: impl Into<String>) -> Self {
        Self::Mismatch(text.into())
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
