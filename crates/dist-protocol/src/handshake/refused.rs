//! Reasons for a failed handshake.

use crate::flags::Flags;
use crate::name::{MOST_CHARACTERS, NodeName};

/// Maximum length of an accepted frame: a name of 255 four-byte characters, the fields before it, and room for
/// additions of later versions.
pub const MOST_BYTES: usize = 4 * MOST_CHARACTERS + 19 + 255;

/// The reason why a handshake failed. The connection must be closed after pending frames are sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A frame of this length, longer than the limit.
    #[error("{}", too_long(*.0))]
    TooLong(usize),
    /// Not the expected frame, which is named here.
    #[error("not a handshake: {0} was due")]
    Malformed(&'static str),
    /// The peer gives an invalid node name.
    #[error("it gives a name that no node can have")]
    NoName,
    /// The peer asks for a dynamic node name (`-name undefined`), which this node does not assign.
    #[error("it asks for a name, and this node assigns none: start it with -name or -sname")]
    Nameless,
    /// Another node answered than the one called.
    #[error("{called} was called and {answered} answered")]
    Stranger {
        /// The node that was called.
        called: NodeName,
        /// The node that answered.
        answered: NodeName,
    },
    /// The peer lacks these required flags.
    #[error("it lacks {0}")]
    Missing(Flags),
    /// The peer does not know the cookie, or has another one for this node.
    #[error("it does not know the cookie")]
    WrongCookie,
    /// Simultaneous connect, and the peer's connection wins (`nok`).
    #[error("it is calling us at the same time")]
    TheirCall,
    /// The peer refuses connections from this node (`not_allowed`).
    #[error("it does not allow us to connect")]
    NotAllowed,
    /// The old connection is alive: this node answered `alive` with false, or the peer did.
    #[error("there is a connection already")]
    Connected,
    /// The peer sent an unknown status.
    #[error("its status is unknown: {0:?}")]
    UnknownStatus(String),
    /// Simultaneous connect, and our connection wins; the peer has received `nok`.
    #[error("we are calling it at the same time")]
    OurCall,
    /// This node refuses the peer, which has received `not_allowed`.
    #[error("it is not allowed to connect")]
    Unwanted,
    /// A frame after the end, or before a decision.
    #[error("a frame that is not awaited")]
    OutOfTurn,
}

fn too_long(length: usize) -> String {
    match length {
        // The first two bytes of a TLS alert and of a TLS handshake, read as a length.
        0x1503 | 0x1603 => "it speaks TLS, which this node does not".to_owned(),
        _ => format!("a frame of {length} bytes; a handshake needs at most {MOST_BYTES}"),
    }
}

/// Returns an error if the peer lacks required flags.
pub(super) fn check(theirs: Flags) -> Result<(), Refused> {
    let missing = Flags::REQUIRED - theirs;
    if missing.is_empty() { Ok(()) } else { Err(Refused::Missing(missing)) }
}
