//! Registered name of a process, and the errors of registration and look-up.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::ProcessId;

/// Maximum length in characters, as for Erlang's atoms.
pub(crate) const LONGEST: usize = 255;

/// Registered name of a process.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<Box<str>>); // WHY: boxed, so that a name is one word.

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(Arc::new(name.into()))
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Error of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is invalid: a name has 1 to 255 characters, and is not `undefined`.
    BadName(String),
    /// Another process has the name.
    Taken {
        /// The requested name.
        name: Name,
        /// The process that has the name.
        by: ProcessId,
    },
    /// The process already has a name.
    HasName {
        /// The process.
        id: ProcessId,
        /// The name that it has.
        name: Name,
    },
    /// The process has ended, or belongs to another node.
    NoProcess(ProcessId),
    /// This thread runs no process, so there is no current node.
    NoNode,
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName(name) => write!(
                f,
                "{name:?} cannot be the name of a process: use 1 to {LONGEST} characters, and not \
                 \"undefined\""
            ),
            Self::Taken { name, by } => write!(f, "process {by} has the name {name:?}"),
            Self::HasName { id, name } => write!(f, "process {id} already has the name {name:?}"),
            Self::NoProcess(id) => {
                write!(f, "noproc: process {id} has ended, or belongs to another node")
            }
            Self::NoNode => f.write_str("this thread runs no process; use Node::register"),
        }
    }
}

impl std::error::Error for RegisterError {}

/// Error of a look-up of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// No live process of this node has this id.
    NoProcess(ProcessId),
    /// No live process of this node has this name.
    NoName(Name),
    /// This thread runs no process, so there is no current node.
    NoNode,
    /// The process receives messages of another type.
    OtherType {
        /// The requested process.
        id: ProcessId,
        /// The requested message type.
        wanted: &'static str,
        /// The message type of the process.
        receives: &'static str,
    },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess(id) => write!(f, "noproc: no process {id} lives on this node"),
            Self::NoName(name) => write!(f, "noproc: no process has the name {name:?}"),
            Self::NoNode => f.write_str(
                "this thread runs no process, so there is no current node; use a method of Node: \
                 whereis, server, supervisor, dynamic_supervisor, groups",
            ),
            Self::OtherType { id, wanted, receives } => {
                write!(f, "process {id} receives messages of type {receives}, not {wanted}")
            }
        }
    }
}

impl std::error::Error for LookupError {}
