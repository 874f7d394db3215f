//! What is seen of a process that is followed.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::ProcessId;

/// Something that a process has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// 1 for the first of its trace; events that were lost have none.
    pub number: u64,
    /// When, in the time of the node, to the nanosecond.
    pub at: Duration,
    /// Who did it.
    pub process: ProcessId,
    /// What it did.
    pub kind: EventKind,
    /// The other process that it is about, if there is one and it is known: whoever sent a message is not.
    pub other: Option<ProcessId>,
    /// The type of the message, or what was asked to be shown of it; the function of a process that was
    /// spawned; the reason of an exit.
    pub what: Cow<'static, str>,
}

/// What a process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// It sent a message, whether the other lives or not.
    Send,
    /// It received a message.
    Receive,
    /// It spawned the other.
    Spawn,
    /// It has ended.
    End,
    /// It linked itself to the other.
    Link,
    /// It took that back.
    Unlink,
    /// It monitors the other.
    Monitor,
    /// It does no more.
    Demonitor,
    /// It told the other to end.
    SendExit,
    /// It was told to end, or a process that it is linked to has ended.
    ReceiveExit,
    /// A process that it monitors has ended.
    ReceiveDown,
    /// The other has linked itself to it.
    Linked,
    /// The other monitors it.
    Monitored,
}

impl EventKind {
    /// The word for it.
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
