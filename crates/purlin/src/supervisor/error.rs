//! Why a supervisor did not do what it was asked.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::{ExitReason, ProcessId};

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

/// Why a supervisor did not start a new child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartChildError {
    /// A child of that id runs.
    AlreadyStarted(ProcessId),
    /// A child of that id is there, without a process; it can be restarted or deleted.
    AlreadyPresent,
    /// The child is significant and may not be: it is permanent, or its supervisor does not end by
    /// itself.
    BadSignificance,
    /// The child ended while it was started, for that reason.
    Failed(ExitReason),
    /// The supervisor is gone, or ended meanwhile.
    NoSupervisor(ExitReason),
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
    NoSupervisor(ExitReason),
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
    NoSupervisor(ExitReason),
}
