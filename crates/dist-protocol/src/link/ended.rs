//! The reason for the end of a link, and errors of senders.

use std::io::ErrorKind;

use crate::broken::Broken;
use crate::frame::Unsendable;

/// The reason why a link ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// This node closed it.
    #[error("closed by us")]
    ByUs,
    /// The peer closed it, or ended.
    #[error("closed by the other node")]
    ByPeer,
    /// Nothing was received for the tick time.
    #[error("the other node has been silent for the tick time")]
    IdleTimeout,
    /// The peer read nothing for the tick time, although bytes were waiting for it.
    #[error("the other node has read nothing for the tick time")]
    SlowReader,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(ErrorKind),
    /// The peer violated the protocol.
    #[error("the other node broke the protocol: {0}")]
    Broken(#[source] Broken),
}

/// The reason why a signal was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsent {
    /// The link has ended.
    #[error("not sent: {0}")]
    Ended(#[source] Ended),
    /// The signal cannot be encoded for any node.
    #[error("not sent: {0}")]
    Unsendable(#[from] Unsendable),
}
