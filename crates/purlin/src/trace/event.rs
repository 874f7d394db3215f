//! Trace events.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::ProcessId;

/// Trace event: an action of a traced process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Sequence number in the trace, from 1; lost events have no number.
    pub number: u64,
    /// Node time of the event, with nanosecond resolution.
    pub at: Duration,
    /// The traced process.
    pub process: ProcessId,
    /// Kind of the action.
    pub kind: EventKind,
    /// The other process involved, if there is one and it is known; the sender of a received message is not known.
    pub other: Option<ProcessId>,
    /// The message type, or the text that [`Options::show`](super::Options::show) makes of the message; the function of
    /// a spawned process; the reason of an exit.
    pub what: Cow<'static, str>,
}

/// Kind of a trace event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// Sent a message, whether or not the receiver is alive.
    Send,
    /// Received a message.
    Receive,
    /// Spawned the other process.
    Spawn,
    /// Ended.
    End,
    /// Linked to the other process.
    Link,
    /// Unlinked from the other process.
    Unlink,
    /// Monitored the other process.
    Monitor,
    /// Cancelled the monitor of the other process.
    Demonitor,
    /// Sent an exit signal to the other process.
    SendExit,
    /// Received an exit signal, sent explicitly or by a link.
    ReceiveExit,
    /// Received the down signal of a monitor.
    ReceiveDown,
    /// The other process has linked to it.
    Linked,
    /// The other process has monitored it.
    Monitored,
}

impl EventKind {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Spawn => "spawn",
            Self::End => "end",
            Self::Link => "link",
            Self::Unlink => "unlink",
            Self::Monitor => "monitor",
            Self::Demonitor => "demonitor",
            Self::SendExit => "send_exit",
            Self::ReceiveExit => "receive_exit",
            Self::ReceiveDown => "receive_down",
            Self::Linked => "linked",
            Self::Monitored => "monitored",
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
