//! Error types of the client. Pure.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::outbox::{NotSent, TooLarge};
use crate::wire::session::{BadAnswer, Status};
use crate::wire::verifier::Gap;
use crate::wire::{Reason, Refusal};

/// Why a connection was lost. The client may reconnect.
#[derive(Debug)]
pub enum Lost {
    /// Connecting took longer than this timeout.
    Slow(Duration),
    /// I/O error while connecting, reading or writing.
    Io(io::Error),
    /// The server closed the connection.
    Ended,
    /// Messages are unanswered and the server sent no answer for at least this time.
    Silent(Duration),
    /// An answer does not follow on the previous one.
    Gap(Gap),
    /// The server answered a message that was not sent.
    NotSent(NotSent),
    /// The answer to the session handshake is malformed.
    BadAnswer(BadAnswer),
    /// The server has no session available now.
    Busy(Status),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slow(time) => write!(f, "no connection within {time:?}"),
            Self::Io(error) => error.fmt(f),
            Self::Ended => f.write_str("the server closed the connection"),
            Self::Silent(time) => write!(f, "the server has not answered for {time:?}"),
            Self::Gap(gap) => gap.fmt(f),
            Self::NotSent(answer) => answer.fmt(f),
            Self::BadAnswer(answer) => answer.fmt(f),
            Self::Busy(status) => status.fmt(f),
        }
    }
}

impl std::error::Error for Lost {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Gap(gap) => Some(gap),
            Self::NotSent(answer) => Some(answer),
            Self::BadAnswer(answer) => Some(answer),
            Self::Slow(_) | Self::Ended | Self::Silent(_) | Self::Busy(_) => None,
        }
    }
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Gap> for Lost {
    fn from(gap: Gap) -> Self {
        Self::Gap(gap)
    }
}

impl From<NotSent> for Lost {
    fn from(answer: NotSent) -> Self {
        Self::NotSent(answer)
    }
}

/// Why a client has ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The client was closed.
    Closed,
    /// No connection brought an answer for [`Builder::give_up_after`](super::Builder::give_up_after). Holds
    /// the reason for which the last connection was lost.
    GaveUp(Duration, Arc<Lost>),
    /// The server refused the session permanently.
    Refused(Status),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the client is closed"),
            Self::GaveUp(time, last) => {
                write!(f, "no connection brought an answer for {time:?}: {last}")
            }
            Self::Refused(status) => status.fmt(f),
        }
    }
}

impl std::error::Error for Ended {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::GaveUp(_, last) => Some(last),
            Self::Closed | Self::Refused(_) => None,
        }
    }
}

/// Why [`Builder::connect`](super::Builder::connect) failed.
#[derive(Debug)]
pub enum ConnectError {
    /// The connection failed.
    Lost(Lost),
    /// The server refused the session permanently.
    Refused(Status),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(lost) => lost.fmt(f),
            Self::Refused(status) => status.fmt(f),
        }
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lost(lost) => Some(lost),
            Self::Refused(_) => None,
        }
    }
}

impl From<Lost> for ConnectError {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

/// Why a message was not accepted. The caller keeps the message.
#[derive(Clone, Debug)]
pub enum SendError {
    /// The payload exceeds the server's limit.
    TooLarge(TooLarge),
    /// The client has ended.
    Ended(Ended),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(error) => error.fmt(f),
            Self::Ended(ended) => ended.fmt(f),
        }
    }
}

impl std::error::Error for SendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooLarge(error) => Some(error),
            Self::Ended(ended) => Some(ended),
        }
    }
}

/// A message that the server refused.
#[derive(Clone, PartialEq, Eq)]
pub struct Refused {
    /// Id of the message.
    pub id: u64,
    /// Reason given by the server.
    pub reason: Reason,
    /// Payload of the message. Empty if an earlier client sent it: see
    /// [`Builder::resume`](super::Builder::resume).
    pub payload: Vec<u8>,
}

impl Refused {
    pub(super) fn new(refusal: Refusal, payload: Vec<u8>) -> Self {
        Self { id: refusal.id, reason: refusal.reason, payload }
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Refused");
        debug.field("id", &self.id).field("reason", &self.reason).finish_non_exhaustive()
    }
}

/// Messages of unknown fate: the server may or may not have handled them.
pub struct Unanswered {
    /// Why the client stopped waiting for answers.
    pub why: Ended,
    /// Id and payload of each message, oldest first.
    pub messages: Vec<(u64, Vec<u8>)>,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages are unanswered: {}", self.messages.len(), self.why)
    }
}

impl fmt::Debug for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Unanswered");
        debug.field("why", &self.why).field("messages", &self.messages.len()).finish()
    }
}

impl std::error::Error for Unanswered {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}
