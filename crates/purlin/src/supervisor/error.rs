//! Why a supervisor did not do what it was asked.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::{CallError, ExitReason, ProcessId};

/// Why a supervisor could not be started: a child could not. It is the cause in the reason
/// `{shutdown, {failed_to_start_child, …}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedToStartChild {
    /// The child.
    pub id: Arc<str>,
    /// Why it could not be started.
    pub reason: ExitReason,
}

impl FailedToStartChild {
    pub(crate) fn new(id: Arc<str>, reason: ExitReason) -> Self {
        Self { id, reason }
    }
}

impl fmt::Display for FailedToStartChild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed_to_start_child {}: {}", self.id, self.reason)
    }
}

impl Error for FailedToStartChild {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.reason)
    }
}

/// Why there can be no such supervisor, or no such child of one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadSpec {
    /// Two children have that id.
    DuplicateId(Arc<str>),
    /// That child is significant and may not be: it is permanent, or its supervisor has no
    /// [`AutoShutdown`](super::AutoShutdown).
    BadSignificance(Arc<str>),
    /// That child was given to a supervisor whose children come and go and are all of one kind.
    NotSimple(Arc<str>),
}

impl fmt::Display for BadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateId(id) => {
                write!(f, "two children have the id {id:?}: give each its own")
            }
            Self::BadSignificance(id) => write!(
                f,
                "child {id:?} cannot be significant: make it transient or temporary, and give its \
                 supervisor an auto_shutdown"
            ),
            Self::NotSimple(id) => write!(
                f,
                "child {id:?} cannot be among children that come and go: start those with \
                 start_child, and give this one to another supervisor"
            ),
        }
    }
}

impl Error for BadSpec {}

/// Why a supervisor could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartError {
    /// Why it ended. The cause in it is a [`FailedToStartChild`], a [`BadSpec`] or a
    /// [`RegisterError`](crate::RegisterError) where it is not another's.
    pub reason: ExitReason,
}

impl From<ExitReason> for StartError {
    fn from(reason: ExitReason) -> Self {
        Self { reason }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the supervisor was not started: {}", self.reason)
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.reason)
    }
}

/// Why a supervisor did not start a new child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartChildError {
    /// A child of that id runs.
    AlreadyStarted(ProcessId),
    /// A child of that id is there, without a process; it can be restarted or deleted.
    AlreadyPresent,
    /// There can be no such child.
    BadSpec(BadSpec),
    /// The children of this supervisor take arguments of another type, or none.
    OtherArguments,
    /// The child ended while it was started, for that reason.
    Failed(ExitReason),
    /// The supervisor is gone, or ended meanwhile.
    NoSupervisor(CallError),
}

/// Why a supervisor did not restart a child that it was asked to restart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestartError {
    /// There is none of that id.
    NotFound,
    /// It runs.
    Running,
    /// It is being restarted anyway.
    Restarting,
    /// It ended while it was started, for that reason.
    Failed(ExitReason),
    /// The supervisor is gone, or ended meanwhile.
    NoSupervisor(CallError),
}

/// Why a supervisor did not delete a child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeleteError {
    /// There is none of that id.
    NotFound,
    /// It runs; it has to be terminated first.
    Running,
    /// It is being restarted; it has to be terminated first.
    Restarting,
    /// The supervisor is gone, or ended meanwhile.
    NoSupervisor(CallError),
}

/// Why a supervisor did not terminate a child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerminateError {
    /// There is none.
    NotFound,
    /// The supervisor is gone, or ended meanwhile.
    NoSupervisor(CallError),
}

const NOT_FOUND: &str = "the supervisor has no such child";

impl fmt::Display for StartChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyStarted(pid) => write!(f, "already_started: process {pid} is that child"),
            Self::AlreadyPresent => f.write_str("already_present: restart that child or delete it"),
            Self::BadSpec(bad) => fmt::Display::fmt(bad, f),
            Self::OtherArguments => {
                f.write_str("the supervisor's children do not take arguments of that type")
            }
            Self::Failed(reason) => write!(f, "the child was not started: {reason}"),
            Self::NoSupervisor(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl fmt::Display for RestartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str(NOT_FOUND),
            Self::Running => f.write_str("the child runs"),
            Self::Restarting => f.write_str("the child is being restarted"),
            Self::Failed(reason) => write!(f, "the child was not started: {reason}"),
            Self::NoSupervisor(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl fmt::Display for DeleteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str(NOT_FOUND),
            Self::Running => f.write_str("the child runs: terminate it first"),
            Self::Restarting => f.write_str("the child is being restarted: terminate it first"),
            Self::NoSupervisor(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl fmt::Display for TerminateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str(NOT_FOUND),
            Self::NoSupervisor(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for StartChildError {}
impl Error for RestartError {}
impl Error for DeleteError {}
impl Error for TerminateError {}
