//! Event of a process group: a membership change.

use std::fmt;

use crate::signals::reference::Reference;
use crate::{Name, ProcessId};

/// Monitor of one group or of a whole scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupMonitor(pub(super) Reference);

impl fmt::Display for GroupMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for GroupMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Kind of a membership change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The members have joined.
    Joined,
    /// The members have left or ended.
    Left,
}

/// Membership change of a group: `pg`'s message `{Ref, join | leave, Group, Pids}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Monitor that the event belongs to.
    pub monitor: GroupMonitor,
    /// Group that changed.
    pub group: Name,
    /// Kind of the change.
    pub change: Change,
    /// Members that joined or left.
    pub members: Vec<ProcessId>,
}

impl Event {
    pub(super) fn new(monitor: Reference, group: &Name, change: Change, of: ProcessId) -> Self {
        Self { monitor: GroupMonitor(monitor), group: group.clone(), change, members: vec![of] }
    }
}
