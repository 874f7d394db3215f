//! Error of the parser.

use std::fmt;

/// Error: a text is not a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Offset of the invalid part in bytes.
    pub offset: usize,
    pub(super) reason: &'static str,
}

impl ParseError {
    pub(super) fn new(offset: usize, reason: &'static str) -> Self {
        Self { offset, reason }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no Erlang term: {} at byte {}", self.reason, self.offset)
    }
}

impl std::error::Error for ParseError {}
