//! Why a connection ended: for the log, the counts and its supervisor. Pure.
//!
//! What a client does, or the network, is no error of the server: then the
//! process ends with `normal`. COST: nothing.

use std::error::Error;
use std::fmt;
use std::io;

use purlin::ExitReason;

use crate::frames::TooLarge;
use crate::session::Status;

/// Why a connection ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The client has written all it wanted to.
    Closed,
    /// No message became whole for too long.
    Silent,
    /// The client does not read what it is answered.
    Deaf,
    /// The connection broke.
    Lost(io::Error),
    /// What came was not TLS as it should be.
    Insecure(io::Error),
    /// A message was over the limit.
    TooLarge(TooLarge),
    /// The handler did not take a message, and there is no session in which to say so.
    Refused,
    /// There is no session, for this reason.
    NoSession(Status),
    /// The client has another connection now.
    Replaced,
    /// The server stops, or somebody told the process to end.
    Told(ExitReason),
    /// The handler failed.
    Failed(ExitReason),
    /// A process that does a part of the connection's work has ended; with the connection's own end as
    /// its reason where that is what it found.
    Helper(ExitReason),
}

impl End {
    /// The exit reason of the connection's process.
    pub(crate) fn reason(self) -> ExitReason {
        match self {
            Self::Told(reason) | Self::Failed(reason) => reason,
            Self::Helper(reason) if !reason.is_orderly() => reason,
            Self::Helper(reason) => match said(&reason) {
                Some(Self::Failed(why)) => why.clone(),
                _ => ExitReason::Normal,
            },
            _ => ExitReason::Normal,
        }
    }

    /// Why it really ended: where a helper ended for a reason of the connection's, for that.
    pub(crate) fn cause(&self) -> &Self {
        match self {
            Self::Helper(reason) => said(reason).unwrap_or(self),
            _ => self,
        }
    }
}

/// The end of the connection that a helper ended with.
fn said(reason: &ExitReason) -> Option<&End> {
    match reason {
        ExitReason::ShutdownWith(why) => why.downcast_ref(),
        _ => None,
    }
}

/// Of reading.
impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // WHY: a socket has no opinion on what comes.
            io::ErrorKind::InvalidData => Self::Insecure(error),
            _ => Self::Lost(error),
        }
    }
}

impl From<TooLarge> for End {
    fn from(too_large: TooLarge) -> Self {
        Self::TooLarge(too_large)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed by the client"),
            Self::Silent => f.write_str("no message became whole for too long"),
            Self::Deaf => f.write_str("the client does not read its acks"),
            Self::Lost(error) => write!(f, "the connection was lost: {error}"),
            Self::Insecure(error) => write!(f, "not TLS as it should be: {error}"),
            Self::TooLarge(too_large) => fmt::Display::fmt(too_large, f),
            Self::Refused => f.write_str("the handler did not take a message"),
            Self::NoSession(status) => fmt::Display::fmt(status, f),
            Self::Replaced => f.write_str("the client has another connection now"),
            Self::Told(reason) => write!(f, "told to end: {reason}"),
            Self::Failed(reason) => write!(f, "the handler failed: {reason}"),
            Self::Helper(reason) => write!(f, "a process of the connection ended: {reason}"),
        }
    }
}

impl Error for End {}
