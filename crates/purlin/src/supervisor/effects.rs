//! Effects of the supervisor core: starting and stopping processes, reading the clock, reporting.
//!
//! Implemented by the supervisor's process ([`super::process`]) and by tests.

use std::future::Future;
use std::time::Duration;

use super::Shutdown;
use super::intensity::Figures;
use super::report::{Context, Offender};
use super::strategy::Key;
use crate::observe::OwnIntensityChild;
use crate::{ExitReason, ProcessId};

/// Effects of a supervisor, which [`super::supervisor_core`] decides on but does not perform.
pub(crate) trait Effects: Send {
    /// Start function of a child.
    type Start: Send + Sync;

    /// Starts a child, linked to the supervisor. Returns `None` if its start returned `ignore`.
    fn start(
        &mut self,
        start: &Self::Start,
    ) -> impl Future<Output = Result<Option<ProcessId>, ExitReason>> + Send;

    /// Stops children concurrently and waits until they have ended or cannot be ended (L7).
    fn stop(
        &mut self,
        processes: &[ProcessId],
        shutdown: Shutdown,
    ) -> impl Future<Output = Vec<Stopped>> + Send;

    /// Returns whether a process is alive.
    fn is_alive(&self, process: ProcessId) -> bool;

    /// Returns the time of a monotonic clock.
    fn now(&self) -> Duration;

    /// Schedules a call of [`super::supervisor_core::SupervisorCore::try_again`].
    fn try_again(&mut self, key: Key);

    /// Schedules a call of [`super::supervisor_core::SupervisorCore::resume`] after a delay.
    fn resume_after(&mut self, delay: Duration, key: Key, number: u64);

    /// Records a restart that is about to happen at `now`, for observers, with the figures of the
    /// intensity that it counts towards: that of the child, if it has its own, or the supervisor's.
    fn restarts(&self, _now: Duration, _own: Option<OwnIntensityChild>, _figures: Figures) {}

    /// Logs a report.
    fn report(&self, context: Context, reason: &ExitReason, offender: Offender<'_>);
}

/// Outcome of stopping a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The child ended.
    Ended(ExitReason),
    /// The child was killed and has not ended; the supervisor abandons it.
    Left,
}
