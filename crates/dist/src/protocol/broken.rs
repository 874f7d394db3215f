//! Protocol errors that end a connection.

use std::fmt;

use purlin_term::{DecodeError, Pid};

/// A protocol error. The connection must be closed: the bytes after it have no known start or meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A frame of this length, longer than the limit.
    TooLong(u32),
    /// A frame with an unknown first byte or tag.
    Unknown,
    /// A frame that ends within its header.
    Header,
    /// An invalid atom in a header.
    Atom,
    /// A header refers to an empty entry of the atom cache.
    NotCached(u16),
    /// A fragment out of order, or of an unknown message.
    Sequence(u64),
    /// More incomplete messages than the limit.
    TooManySequences,
    /// More bytes of incomplete messages than the limit.
    TooMuch,
    /// A term that is invalid or exceeds the limits.
    Term(DecodeError),
    /// An invalid control message.
    Control(Malformed),
    /// Unexpected bytes after the control message or the payload.
    Trailing,
    /// A signal on behalf of a process of another node.
    NotItsOwn(Pid),
}

impl From<DecodeError> for Broken {
    fn from(error: DecodeError) -> Self {
        Self::Term(error)
    }
}

impl From<Malformed> for Broken {
    fn from(error: Malformed) -> Self {
        Self::Control(error)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(length) => write!(f, "a frame of {length} bytes, more than allowed"),
            Self::Unknown => f.write_str("a frame that begins like none"),
            Self::Header => f.write_str("a frame that ends within its header"),
            Self::Atom => f.write_str("an atom in a header that cannot be"),
            Self::NotCached(place) => write!(f, "place {place} of the atom cache is empty"),
            Self::Sequence(sequence) => {
                write!(f, "a fragment of message {sequence} out of its order")
            }
            Self::TooManySequences => {
                f.write_str("more messages under way in fragments than allowed")
            }
            Self::TooMuch => f.write_str("more bytes under way in fragments than allowed"),
            Self::Term(error) => error.fmt(f),
            Self::Control(error) => error.fmt(f),
            Self::Trailing => f.write_str("bytes behind a message"),
            Self::NotItsOwn(Pid { node, id, serial, .. }) => {
                let node = node.as_str().escape_debug();
                write!(f, "it speaks of the process {id}.{serial} of {node}, which is not its own")
            }
        }
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Term(error) => Some(error),
            Self::Control(error) => Some(error),
            _ => None,
        }
    }
}

/// Error for a term that is not a valid control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The number of the control message, if it has one.
    pub number: Option<i64>,
    /// Description of the error.
    pub what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "control message {number}: {}", self.what),
            None => write!(f, "no control message: {}", self.what),
        }
    }
}

impl std::error::Error for Malformed {}
