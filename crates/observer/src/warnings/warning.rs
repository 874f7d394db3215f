//! What a warning says. Values, which belong to whoever has them.

use std::fmt;
use std::time::Duration;

use purlin::{Name, ProcessId};

use super::{cycle, drops, full_table, growing, hogging, lost_name, storm};
use crate::census::Census;

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// What it is.
    pub kind: Kind,
    /// Whom it concerns. No two warnings have the same kind and the same subject.
    pub subject: Subject,
    /// What is seen, in one line, with figures of the last look. The names of processes in it are as
    /// they were given: whoever shows it takes care of what characters can do.
    pub line: String,
    /// Since when, in the time of the node.
    pub since: Duration,
}

/// What kind of thing is wrong, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Processes wait for each other's answers: [`cycle`].
    CallCycle,
    /// The node is about to have no room for another process: [`full_table`].
    FullTable,
    /// A supervisor restarts so often that it is about to give up, or has: [`storm`].
    RestartStorm,
    /// A process does not await: [`hogging`].
    Hog,
    /// A mailbox grows: [`growing`].
    GrowingMailbox,
    /// A name is nobody's any more: [`lost_name`].
    LostName,
    /// Messages were dropped: [`drops`].
    Drops,
}

/// Whom a warning concerns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// A process.
    Process(ProcessId),
    /// Processes that wait for each other: each for the one after it, and the last for the first.
    Cycle(Vec<ProcessId>),
    /// A name, and who had it last.
    Name(Name, ProcessId),
    /// The node, in what this says.
    Node(&'static str),
}

/// What a rule sees.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sighting {
    pub(crate) kind: Kind,
    pub(crate) subject: Subject,
    pub(crate) line: String,
    /// Since when it is so, if the rule has seen it coming.
    pub(crate) since: Duration,
}

impl Kind {
    /// All of them, the gravest first.
    pub const ALL: [Self; 7] = [
        Self::CallCycle,
        Self::FullTable,
        Self::RestartStorm,
        Self::Hog,
        Self::GrowingMailbox,
        Self::LostName,
        Self::Drops,
    ];

    /// What it is called in the interfaces of the observer; it never changes.
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

    /// What to do about it.
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
    /// The processes that it names.
    #[must_use]
    pub fn processes(&self) -> &[ProcessId] {
        match self {
            Self::Process(id) | Self::Name(_, id) => std::slice::from_ref(id),
            Self::Cycle(ids) => ids,
            Self::Node(_) => &[],
        }
    }
}

/// What a process is called in a line: its name, or what it runs, and its pid.
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
