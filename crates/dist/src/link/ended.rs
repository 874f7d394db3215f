//! How a link has ended, and what a sender is told then.

use std::fmt;
use std::io::ErrorKind;

use crate::frame::{Broken, Unsendable};

/// How a link has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// We have closed it.
    ByUs,
    /// The other node has closed it, or ended.
    ByPeer,
    /// Nothing came for the tick time.
    Silent,
    /// The connection broke.
    Io(ErrorKind),
    /// What came is not the protocol.
    Broken(Broken),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByUs => f.write_str("closed by us"),
            Self::ByPeer => f.write_str("closed by the other node"),
            Self::Silent => f.write_str("the other node has been silent for the tick time"),
            Self::Io(kind) => write!(f, "the connection broke: {kind}"),
            Self::Broken(broken) => write!(f, "the other node broke the protocol: {broken}"),
        }
    }
}

/// Why nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The link has ended.
    Ended(Ended),
    /// It cannot be sent to any node.
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
