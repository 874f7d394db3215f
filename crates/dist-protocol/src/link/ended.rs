//! The reason for the end of a link, and errors of senders.

use std::fmt;
use std::io::ErrorKind;

use crate::broken::Broken;
use crate::frame::Unsendable;

/// The reason why a link ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// This node closed it.
    ByUs,
    /// The peer closed it, or ended.
    ByPeer,
    /// Nothing was received for the tick time.
    IdleTimeout,
    /// The connection broke.
    Io(ErrorKind),
    /// The peer violated the protocol.
    Broken(Broken),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByUs => f.write_str("closed by us"),
            Self::ByPeer => f.write_str("closed by the other node"),
            Self::IdleTimeout => f.write_str("the other node has been silent for the tick time"),
            Self::Io(kind) => write!(f, "the connection broke: {kind}"),
            Self::Broken(broken) => write!(f, "the other node broke the protocol: {broken}"),
        }
    }
}

/// The reason why a signal was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The link has ended.
    Ended(Ended),
    /// The signal cannot be encoded for any node.
    Unsendable(Unsendable),
}

impl From<Unsendable> for Unsent {
    fn from(error: Unsendable) -> Self {
        Self::Unsendable(error)
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(ended) => write!(f, "not sent: {ended}"),
            Self::Unsendable(error) => write!(f, "not sent: {error}"),
        }
    }
}

impl std::error::Error for Unsent {}
