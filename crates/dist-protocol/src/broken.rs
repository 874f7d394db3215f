//! Protocol errors: of the framing, which end a connection, and of one message, which is dropped.

use purlin_term::{DecodeError, Pid};

/// An error in the framing. The connection must be closed: the bytes after it have no known start or meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A frame of this length, longer than the limit.
    #[error("a frame of {0} bytes, more than allowed")]
    TooLong(u32),
    /// A frame with an unknown first byte or tag.
    #[error("a frame that begins like none")]
    Unknown,
    /// A frame that ends within its header.
    #[error("a frame that ends within its header")]
    Header,
    /// An invalid atom in a header.
    #[error("an atom in a header that cannot be")]
    Atom,
    /// A header refers to an empty entry of the atom cache.
    #[error("slot {0} of the atom cache is empty")]
    NotCached(u16),
    /// A fragment out of order, or of an unknown message.
    #[error("a fragment of message {0} out of its order")]
    Sequence(u64),
    /// More incomplete messages than the limit.
    #[error("more messages under way in fragments than allowed")]
    TooManySequences,
}

/// An error in one message, or a message that exceeds a limit. It is dropped and the connection stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessage {
    /// A frame without a header whose control message has no version byte.
    #[error("a control message without a version byte")]
    Version,
    /// The fragments exceed the limit together with those of the other incomplete messages. Also the payload of an exit or
    /// a spawn request that is passed on without it.
    #[error("more bytes in fragments than allowed")]
    TooLarge,
    /// A term that is invalid or exceeds the limits.
    #[error(transparent)]
    Term(#[from] DecodeError),
    /// An invalid or unknown control message.
    #[error(transparent)]
    Control(#[from] Malformed),
    /// Unexpected bytes after the control message or the payload.
    #[error("bytes after the message")]
    Trailing,
    /// An exit reason that is invalid or exceeds a limit. The signal is delivered with another reason.
    #[error("an exit reason, which was replaced: {0}")]
    Reason(Box<Self>),
    /// A signal on behalf of a process of another node.
    #[error("a signal on behalf of process {}.{} of {}, another node", .0.id, .0.serial, .0.node.as_str().escape_debug())]
    NotItsOwn(Pid),
}

/// Error for a term that is not a valid control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", title(*number))]
pub struct Malformed {
    /// The number of the control message, if it has one.
    pub number: Option<i64>,
    /// Description of the error.
    pub what: &'static str,
}

fn title(number: Option<i64>) -> String {
    number.map_or("no control message".to_owned(), |number| format!("control message {number}"))
}
