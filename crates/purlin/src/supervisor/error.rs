//! Errors of requests to a supervisor.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::{CallError, ExitReason, ProcessId};

/// Error returned when a child fails to start, which keeps its supervisor from starting. The cause
/// in the exit reason `{shutdown, {failed_to_start_child, …}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedToStartChild {
    /// Id of the child.
    pub id: Arc<str>,
    /// Reason for which the child did not start.
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

/// Error returned for an invalid supervisor specification or child spec.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadSpec {
    /// Two children have this id.
    DuplicateId(Arc<str>),
    /// This child must not be significant: it is permanent, or its supervisor has no
    /// [`AutoShutdown`](super::AutoShutdown).
    BadSignificance(Arc<str>),
    /// This child must not have a separate [`intensity`](super::ChildSpec::intensity): its
    /// supervisor stops other children to restart it.
    OwnIntensity(Arc<str>),
    /// This initial child was given to a dynamic supervisor, which starts its children from a
    /// template.
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
            Self::OwnIntensity(id) => write!(
                f,
                "child {id:?} cannot have a separate intensity, because its siblings are restarted \
                 with it: set the intensity of the supervisor, or use one_for_one"
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

/// Error returned when a supervisor does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartError {
    /// Exit reason of the supervisor. The cause in it is a [`FailedToStartChild`], a [`BadSpec`], a
    /// [`RegisterError`](crate::RegisterError), or that of another process's exit signal.
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

/// Error returned when a supervisor cannot start a new child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartChildError {
    /// A child with this id is running.
    AlreadyStarted(ProcessId),
    /// A child with this id exists without a process; it can be restarted or deleted.
    AlreadyPresent,
    /// The child spec is invalid.
    BadSpec(BadSpec),
    /// The children of this supervisor take arguments of another type, or no arguments.
    OtherArguments,
    /// The child was started, but its handle is of another type than the caller's
    /// [`DynamicSupervisorRef`](super::DynamicSupervisorRef) has.
    OtherType,
    /// The dynamic supervisor has as many children as it may have
    /// ([`max_children`](super::DynamicSupervisorSpec::max_children)).
    MaxChildren,
    /// The child with this key is being restarted.
    Restarting,
    /// The start of the child returned `ignore`: the child has no process. A supervisor whose
    /// children have ids keeps the child spec, as OTP does after `{ok, undefined}`.
    Ignored,
    /// The child ended during its start, for this reason.
    Failed(ExitReason),
    /// The supervisor has ended, or ended before it replied.
    NoSupervisor(CallError),
}

/// Error returned when a supervisor cannot restart a child on request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestartError {
    /// There is no child with this id.
    NotFound,
    /// The child is running.
    Running,
    /// The supervisor is already restarting the child.
    Restarting,
    /// The child ended during its start, for this reason.
    Failed(ExitReason),
    /// The supervisor has ended, or ended before it replied.
    NoSupervisor(CallError),
}

/// Error returned when a supervisor cannot delete a child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeleteError {
    /// There is no child with this id.
    NotFound,
    /// The child is running; terminate it first.
    Running,
    /// The child is being restarted; terminate it first.
    Restarting,
    /// The supervisor has ended, or ended before it replied.
    NoSupervisor(CallError),
}

/// Error returned when a supervisor cannot terminate a child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerminateError {
    /// There is no such child.
    NotFound,
    /// The supervisor has ended, or ended before it replied.
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
            Self::OtherType => {
                f.write_str("the child was started and has a handle of another type")
            }
            Self::MaxChildren => f.write_str("max_children: the supervisor takes no more children"),
            Self::Restarting => f.write_str("the child is being restarted"),
            Self::Ignored => f.write_str("ignore: the child needs no process"),
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
