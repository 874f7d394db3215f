//! Reasons for a failed handshake.

use std::fmt;

use crate::flags::Flags;
use crate::name::{MOST_CHARACTERS, NodeName};

/// Maximum length of an accepted frame: a name of 255 four-byte characters, the fields before it, and room for
/// additions of later versions.
pub const MOST_BYTES: usize = 4 * MOST_CHARACTERS + 19 + 255;

/// The reason why a handshake failed. The connection must be closed after pending frames are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A frame of this length, longer than the limit.
    TooLong(usize),
    /// Not the expected frame, which is named here.
    Malformed(&'static str),
    /// The peer gives an invalid node name.
    NoName,
    /// Another node answered than the one called.
    Stranger {
        /// The node that was called.
        called: NodeName,
        /// The node that answered.
        answered: NodeName,
    },
    /// The peer lacks these required flags.
    Missing(Flags),
    /// The peer does not know the cookie, or has another one for this node.
    WrongCookie,
    /// Simultaneous connect, and the peer's connection wins (`nok`).
    TheirCall,
    /// The peer refuses connections from this node (`not_allowed`).
    NotAllowed,
    /// The old connection is alive: this node answered `alive` with false, or the peer did.
    Connected,
    /// The peer sent an unknown status.
    UnknownStatus(String),
    /// Simultaneous connect, and our connection wins; the peer has received `nok`.
    OurCall,
    /// This node refuses the peer, which has received `not_allowed`.
    Unwanted,
    /// A frame after the end, or before a decision.
    OutOfTurn,
}

/// The first two bytes of a TLS alert and of a TLS handshake, read as a length.
const TLS_ALERT: usize = 0x1503;
const TLS_HANDSHAKE: usize = 0x1603;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(TLS_ALERT | TLS_HANDSHAKE) => {
                f.write_str("it speaks TLS, which this node does not")
            }
            Self::TooLong(length) => {
                write!(f, "a frame of {length} bytes; a handshake needs at most {MOST_BYTES}")
            }
            Self::Malformed(due) => write!(f, "not a handshake: {due} was due"),
            Self::NoName => f.write_str("it gives a name that no node can have"),
            Self::Stranger { called, answered } => {
                write!(f, "{called} was called and {answered} answered")
            }
            Self::Missing(flags) => write!(f, "it lacks {flags}"),
            Self::WrongCookie => f.write_str("it does not know the cookie"),
            Self::TheirCall => f.write_str("it is calling us at the same time"),
            Self::NotAllowed => f.write_str("it does not allow us to connect"),
            Self::Connected => f.write_str("there is a connection already"),
            Self::UnknownStatus(status) => write!(f, "its status is unknown: {status:?}"),
            Self::OurCall => f.write_str("we are calling it at the same time"),
            Self::Unwanted => f.write_str("it is not allowed to connect"),
            Self::OutOfTurn => f.write_str("a frame that is not awaited"),
        }
    }
}

impl std::error::Error for Refused {}

/// Returns an error if the peer lacks required flags.
pub(super) fn check(theirs: Flags) -> Result<(), Refused> {
    match Flags::REQUIRED.without(theirs) {
        Flags::NONE => Ok(()),
        missing => Err(Refused::Missing(missing)),
    }
}
