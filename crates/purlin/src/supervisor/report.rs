//! Supervisor reports and progress reports as in OTP, by `tracing`.
//!
//! A supervisor report is an event of level ERROR, a progress report one of level INFO. Both
//! contain the supervisor and the child concerned: its process, id, restart type, significance,
//! shutdown type and child type.

use std::fmt;
use std::sync::Arc;

use crate::process::unwind::contain;

use super::children::Settings;
use super::{ChildType, Restart, Shutdown};
use crate::{ExitReason, ProcessId};

/// Subject of a report: OTP's error context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// A child was started: a progress report, not an error.
    Started,
    /// A child failed to start or restart.
    StartError,
    /// A child ended without being stopped.
    ChildTerminated,
    /// A child that was stopped did not end with an expected reason.
    ShutdownError,
    /// The supervisor gives up.
    Shutdown,
    /// The supervisor gives up a child that has reached its own restart intensity.
    GivenUp,
}

/// The child that a report is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offender<'a> {
    pub(crate) process: Option<ProcessId>,
    pub(crate) id: &'a Arc<str>,
    pub(crate) settings: Settings,
}

/// Writes a report. A panic of the subscriber is contained.
pub(crate) fn write(
    supervisor: &dyn fmt::Display,
    context: Context,
    reason: &ExitReason,
    offender: Offender<'_>,
) {
    let Offender { process, id, settings } = offender;
    let Settings { restart, significant, shutdown, child_type, .. } = settings;
    let pid: &dyn fmt::Display = process.as_ref().map_or(&"undefined", |pid| pid as _);
    contain(|| match context {
        Context::Started => tracing::info!(
            %supervisor, %pid, %id, %restart, significant, %shutdown, %child_type, "progress"
        ),
        _ => tracing::error!(
            %supervisor, error_context = %context, %reason,
            %pid, %id, %restart, significant, %shutdown, %child_type, "supervisor report"
        ),
    });
}

impl Context {
    /// Returns the name of the error context: OTP's, or `given_up`, which OTP does not have.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::StartError => "start_error",
            Self::ChildTerminated => "child_terminated",
            Self::ShutdownError => "shutdown_error",
            Self::Shutdown => "shutdown",
            Self::GivenUp => "given_up",
        }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permanent => "permanent",
            Self::Transient => "transient",
            Self::Temporary => "temporary",
        })
    }
}

impl fmt::Display for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BrutalKill => f.write_str("brutal_kill"),
            Self::Timeout(time) => write!(f, "{}", time.as_millis()),
            Self::Infinity => f.write_str("infinity"),
        }
    }
}

impl fmt::Display for ChildType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Worker => "worker",
            Self::Supervisor => "supervisor",
        })
    }
}
