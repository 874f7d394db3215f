//! Protocol errors: of the framing, which end a connection, and of one message, which is dropped.

use std::fmt;

use purlin_term::{DecodeError, Pid};

/// An error in the framing. The connection must be closed: the bytes after it have no known start or meaning.
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
        }
    }
}

impl std::error::Error for Broken {}

/// An error in one message, or a message that exceeds a limit. It is dropped and the connection stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidMessage {
    /// A frame without a header whose control message has no version byte.
    Version,
    /// The fragments exceed the limit together with those of the other incomplete messages.
    TooLarge,
    /// A term that is invalid or exceeds the limits.
    Term(DecodeError),
    /// An invalid or unknown control message.
    Control(Malformed),
    /// Unexpected bytes after the control message or the payload.
    Trailing,
    /// A signal on behalf of a process of another node.
    NotItsOwn(Pid),
}

impl From<DecodeError> for InvalidMessage {
    fn from(error: DecodeError) -> Self {
        Self::Term(error)
    }
}

impl From<Malformed> for InvalidMessage {
    fn from(error: Malformed) -> Self {
        Self::Control(error)
    }
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => f.write_str("a control message without a version byte"),
            Self::TooLarge => f.write_str("more bytes in fragments than allowed"),
            Self::Term(error) => error.fmt(f),
            Self::Control(error) => error.fmt(f),
            Self::Trailing => f.write_str("bytes after the message"),
            Self::NotItsOwn(Pid { node, id, serial, .. }) => {
                let node = node.as_str().escape_debug();
                write!(f, "a signal on behalf of process {id}.{serial} of {node}, another node")
            }
        }
    }
}

impl std::error::Error for InvalidMessage {
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
