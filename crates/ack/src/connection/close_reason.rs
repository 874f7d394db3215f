//! Reason for which a connection was closed, for the log, the counters and the supervisor.
//!
//! Errors of the client or the network are not errors of the server: the process then exits with
//! `normal`.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use purlin::{Exit, ExitReason};

use crate::wire::frames::TooLarge;
use crate::wire::session::{Level, Status};

/// Reason for which a connection was closed.
#[derive(Clone, Debug)]
pub(crate) enum CloseReason {
    /// The client closed its writing half.
    Closed,
    /// Idle timeout: no message started or completed in time.
    IdleTimeout,
    /// The client does not read its answers.
    SlowReader,
    /// The connection failed.
    Lost(Arc<io::Error>),
    /// TLS error.
    Insecure(Arc<io::Error>),
    /// A message exceeded the size limit.
    TooLarge(TooLarge),
    /// The handler refused a message outside a session.
    Refused,
    /// The session was refused with this status.
    NoSession(Status),
    /// The handler does not offer the level of the server, on a connection without a session.
    NotOffered { level: Level, offers: Level },
    /// The client opened a session on a newer connection.
    Replaced,
    /// The connection was idle, and a new one needed its slot.
    GaveWay,
    /// The budget of bytes for read buffers or sessions is used up.
    OverBudget,
    /// The process received an exit signal, for example because the server stops.
    ExitSignal(ExitReason),
    /// The handler failed.
    Failed(ExitReason),
}

impl CloseReason {
    /// Returns the close reason for an error of a write or a wait.
    pub(crate) fn lost(error: io::Error) -> Self {
        Self::Lost(Arc::new(error))
    }

    /// Returns the exit reason of the connection process.
    pub(crate) fn reason(self) -> ExitReason {
        match self {
            Self::ExitSignal(reason) | Self::Failed(reason) => reason,
            _ => ExitReason::Normal,
        }
    }
}

/// Converts an exit signal. A connection of the same server that asks this one to close puts the close
/// reason into the signal.
impl From<Exit> for CloseReason {
    fn from(exit: Exit) -> Self {
        match &exit.reason {
            ExitReason::ShutdownWith(why) => match why.downcast_ref() {
                Some(Self::Replaced) => Self::Replaced,
                Some(Self::GaveWay) => Self::GaveWay,
                Some(Self::OverBudget) => Self::OverBudget,
                _ => Self::ExitSignal(exit.reason),
            },
            _ => Self::ExitSignal(exit.reason),
        }
    }
}

/// Converts an error of a read.
impl From<io::Error> for CloseReason {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // WHY: a plain socket does not validate data, so this error comes from TLS.
            io::ErrorKind::InvalidData => Self::Insecure(Arc::new(error)),
            _ => Self::lost(error),
        }
    }
}

impl From<TooLarge> for CloseReason {
    fn from(too_large: TooLarge) -> Self {
        Self::TooLarge(too_large)
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed by the client"),
            Self::IdleTimeout => f.write_str("no message was completed within the idle timeout"),
            Self::SlowReader => f.write_str("the client does not read its acks"),
            Self::Lost(error) => write!(f, "the connection was lost: {error}"),
            Self::Insecure(error) => write!(f, "TLS failed: {error}"),
            Self::TooLarge(too_large) => fmt::Display::fmt(too_large, f),
            Self::Refused => f.write_str("the handler refused a message"),
            Self::NoSession(status) => fmt::Display::fmt(status, f),
            Self::NotOffered { level, offers } => write!(
                f,
                "not acknowledged: the server has Level::{level:?}, and its handler offers \
                 Level::{offers:?}; change Builder::level or Handler::offers"
            ),
            Self::Replaced => f.write_str("the client opened its session on another connection"),
            Self::GaveWay => {
                f.write_str("connection limit reached: closed the longest idle connection")
            }
            Self::OverBudget => f.write_str("out of bytes for read buffers or sessions"),
            Self::ExitSignal(reason) => write!(f, "exit signal: {reason}"),
            Self::Failed(reason) => write!(f, "the handler failed: {reason}"),
        }
    }
}

impl Error for CloseReason {}
