//! Notices that a process receives as messages: exit signals and down signals.

use std::fmt;

use crate::signals::reference::Reference;
use crate::{ExitReason, Name, ProcessId};

/// Exit signal as received by a process that traps exits: Erlang's `{'EXIT', From, Reason}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The process that ended or sent the signal; `None` if the node sent it, or a thread outside
    /// any process.
    pub from: Option<ProcessId>,
    /// The exit reason.
    pub reason: ExitReason,
}

/// Identifies a monitor: Erlang's monitor reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MonitorRef(pub(crate) Reference);

/// Message of a monitor that fired: Erlang's `{'DOWN', Ref, process, Object, Reason}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Down {
    /// The monitor that fired.
    pub monitor: MonitorRef,
    /// The process that ended, by id or by name as it was monitored.
    pub process: Monitored,
    /// The exit reason; `noproc` if the process had ended before.
    pub reason: ExitReason,
}

/// Target of a monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Monitored {
    /// A process.
    Process(ProcessId),
    /// The process that had this name when it was monitored (D5).
    Name(Name),
}

impl MonitorRef {
    /// Returns the monitor as a number that identifies it to other nodes.
    pub fn number(self) -> u64 {
        self.0.number()
    }

    /// Restores a reference from [`MonitorRef::number`].
    pub fn from_number(number: u64) -> Self {
        Self(Reference::from_number(number))
    }
}

impl fmt::Display for MonitorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for MonitorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
