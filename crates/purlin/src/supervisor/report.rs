//! What a supervisor tells the log: OTP's supervisor reports and progress reports, by `tracing`.
//!
//! A supervisor report is an event of level ERROR, a progress report one of level INFO. Both say who
//! the supervisor is and which child it is about: its process, id, restart, significance, shutdown
//! and type.

use std::fmt;
use std::sync::Arc;

use purlin_raw::quietly;

use super::children::Settings;
use super::{ChildType, Restart, Shutdown};
use crate::ProcessId;

/// What a report is about: OTP's error context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// A child was started: progress, no error.
    Started,
    /// A child could not be started or restarted.
    StartError,
    /// A child ended by itself.
    ChildTerminated,
    /// A child that was stopped did not end as it should.
    ShutdownError,
    /// The supervisor gives up.
    Shutdown,
}

/// The child a report is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offender<'a> {
    pub(crate) process: Option<ProcessId>,
    pub(crate) id: &'a Arc<str>,
    pub(crate) settings: Settings,
}

/// Writes a report. A subscriber that panics is left alone with it.
pub(crate) fn write(
    supervisor: &dyn fmt::Display,
    context: Context,
    reason: &dyn fmt::Display,
    offender: Offender<'_>,
) {
    let Offender { process, id, settings } = offender;
    let Settings { restart, significant, shutdown, child_type } = settings;
    let pid: &dyn fmt::Display = process.as_ref().map_or(&"undefined", |pid| pid as _);
    quietly(|| match context {
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
    /// OTP's word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::StartError => "start_error",
            Self::ChildTerminated => "child_terminated",
            Self::ShutdownError => "shutdown_error",
            Self::Shutdown => "shutdown",
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
