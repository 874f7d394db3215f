//! Warnings as plain values.

use std::fmt;
use std::time::Duration;

use purlin::observe::OwnIntensityChild;
use purlin::{Name, ProcessId};

/// A detected problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Kind of problem.
    pub kind: Kind,
    /// The process, name or resource concerned. No two warnings have the same kind and the same subject.
    pub subject: Subject,
    /// Description in one line, with figures of the last snapshot. Process names are unescaped; the caller must escape
    /// control characters for display.
    pub line: String,
    /// Node uptime at which the problem was first detected.
    pub since: Duration,
}

/// Kind of problem, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Processes wait for each other's replies: [`cycle`](super::cycle).
    CallCycle,
    /// The process table is nearly full: [`full_table`](super::full_table).
    FullTable,
    /// A supervisor, or a child with its own, is close to or past its restart intensity: [`storm`](super::storm).
    RestartStorm,
    /// A process does not await: [`hogging`](super::hogging).
    Hog,
    /// A mailbox grows: [`growing`](super::growing).
    GrowingMailbox,
    /// A registered name has lost its process: [`lost_name`](super::lost_name).
    LostName,
    /// Messages were dropped: [`drops`](super::drops).
    Drops,
}

/// Subject of a warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// A process.
    Process(ProcessId),
    /// Processes that wait for each other: each for the next, and the last for the first.
    Cycle(Vec<ProcessId>),
    /// A child with its own restart intensity, and its supervisor.
    Child(ProcessId, OwnIntensityChild),
    /// A name, and the last process registered under it.
    Name(Name, ProcessId),
    /// The node, in the stated respect.
    Node(&'static str),
}

impl Kind {
    /// All kinds, most severe first.
    pub const ALL: [Self; 7] = [
        Self::CallCycle,
        Self::FullTable,
        Self::RestartStorm,
        Self::Hog,
        Self::GrowingMailbox,
        Self::LostName,
        Self::Drops,
    ];

    /// Identifier of the kind in the observer's interfaces. It never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CallCycle => "call-cycle",
            Self::FullTable => "full-table",
            Self::RestartStorm => "restart-storm",
            Self::Hog => "hog",
            Self::GrowingMailbox => "growing-mailbox",
            Self::LostName => "lost-name",
            Self::Drops => "drops",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Subject {
    /// Returns the processes that the subject includes.
    #[must_use]
    pub fn processes(&self) -> &[ProcessId] {
        match self {
            Self::Process(id) | Self::Child(id, _) | Self::Name(_, id) => std::slice::from_ref(id),
            Self::Cycle(ids) => ids,
            Self::Node(_) => &[],
        }
    }
}
