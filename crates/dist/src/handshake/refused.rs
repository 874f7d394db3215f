//! Why a handshake came to nothing.

use std::fmt;

use crate::flags::Flags;
use crate::handshake::MOST_BYTES;
use crate::name::NodeName;

/// Why a handshake came to nothing. The connection is to be closed, after what was put out is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A frame of so many bytes.
    TooLong(usize),
    /// A frame that is not what was due, which is named.
    Malformed(&'static str),
    /// What it gives as its name is none.
    NoName,
    /// We called one node and another answered.
    Stranger {
        /// Who was called.
        called: NodeName,
        /// Who answered.
        answered: NodeName,
    },
    /// It cannot do what we need.
    Missing(Flags),
    /// It does not know the cookie, or has another for us.
    WrongCookie,
    /// It is calling us, and its call counts (`nok`).
    TheirCall,
    /// It does not want to talk with us (`not_allowed`).
    NotAllowed,
    /// It says that a connection is there, and we say that it is right; or we said so, and it agreed.
    Connected,
    /// What it says of our call is unknown.
    UnknownStatus(String),
    /// We are busy with it already, and have told it so (`nok`).
    OurCall,
    /// We do not want to talk with it, and have told it so.
    Unwanted,
    /// A frame after the end, or before a decision.
    OutOfTurn,
}

/// As what the first bytes of TLS are read: those of an alert, and those of a handshake.
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
