//! Warnings as plain values.

use std::fmt;
use std::time::Duration;

use purlin::{Name, ProcessId};

use super::{cycle, drops, full_table, growing, hogging, lost_name, storm};
use crate::census::Census;

/// A detected problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Kind of problem.
    pub kind: Kind,
    /// The process, name or resource concerned. No two warnings have the same kind and the same subject.
    pub subject: Subject,
    /// Description in one line, with figures of the last census. Process names are unescaped; the caller must escape
    /// control characters for display.
    pub line: String,
    /// Node uptime at which the problem was first detected.
    pub since: Duration,
}

/// Kind of problem, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Processes wait for each other's replies: [`cycle`].
    CallCycle,
    /// The process table is nearly full: [`full_table`].
    FullTable,
    /// A supervisor is close to or past its restart intensity: [`storm`].
    RestartStorm,
    /// A process does not await: [`hogging`].
    Hog,
    /// A mailbox grows: [`growing`].
    GrowingMailbox,
    /// A registered name has lost its process: [`lost_name`].
    LostName,
    /// Messages were dropped: [`drops`].
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
    /// A name, and the last process registered under it.
    Name(Name, ProcessId),
    /// The node, in the stated respect.
    Node(&'static str),
}

/// A detection of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sighting {
    pub(crate) kind: Kind,
    pub(crate) subject: Subject,
    pub(crate) line: String,
    /// Start of the problem, as far as the rule has tracked it.
    pub(crate) since: Duration,
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

    /// Returns advice on what to do.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::CallCycle => cycle::ADVICE,
            Self::FullTable => full_table::ADVICE,
            Self::RestartStorm => storm::ADVICE,
            Self::Hog => hogging::ADVICE,
            Self::GrowingMailbox => growing::ADVICE,
            Self::LostName => lost_name::ADVICE,
            Self::Drops => drops::ADVICE,
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
            Self::Process(id) | Self::Name(_, id) => std::slice::from_ref(id),
            Self::Cycle(ids) => ids,
            Self::Node(_) => &[],
        }
    }
}

/// Formats a process for a line: its name or function, and its pid.
pub(crate) fn called(census: &Census, id: ProcessId) -> String {
    let table = &census.processes;
    let Some(row) = table.find(id).and_then(|row| table.row(row)) else {
        return id.to_string();
    };
    match row.name {
        Some(name) => format!("{name} ({id})"),
        None => format!("{id} ({})", row.function),
    }
}
