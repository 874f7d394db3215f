//! Error of the parser.

/// Error: a text is not a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no Erlang term: {reason} at byte {offset}")]
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
