//! Why a connection cannot go on: what came is not the protocol.

use std::fmt;

use purlin_term::{DecodeError, Pid};

use crate::control::Malformed;

/// Why a connection cannot go on. What was sent after it has no known beginning or no known meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A frame of so many bytes, more than are allowed.
    TooLong(u32),
    /// A frame that begins like none.
    Unknown,
    /// A frame that ends within its header.
    Header,
    /// An atom in a header that cannot be.
    Atom,
    /// A header refers to a place of the atom cache where there is none.
    NotCached(u16),
    /// A fragment that does not follow the one before it, or has none.
    Sequence(u64),
    /// More messages that are incomplete than are allowed.
    TooManySequences,
    /// More bytes of messages that are incomplete than are allowed.
    TooMuch,
    /// A term that cannot be, or is more than allowed.
    Term(DecodeError),
    /// A control message that cannot be.
    Control(Malformed),
    /// Something behind the control message, or the payload, that should not be there.
    Trailing,
    /// It speaks of a process that is not its own.
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
