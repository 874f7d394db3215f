//! What a supervisor cannot decide but has to do: start and stop processes, read the clock, report.
//!
//! The supervisor's process has hands of its own ([`super::process`]); tests have others.

use std::fmt;
use std::future::Future;

use super::Shutdown;
use super::report::{Context, Offender};
use super::strategy::Key;
use crate::{ExitReason, ProcessId};

/// What a supervisor does to the world.
pub(crate) trait Hands: Send {
    /// How a child is started.
    type Start: Send + Sync;

    /// Starts a child, linked; `None` if it was not needed.
    fn start(
        &mut self,
        start: &Self::Start,
    ) -> impl Future<Output = Result<Option<ProcessId>, ExitReason>> + Send;

    /// Stops children, side by side, and waits until they have ended, or would not (L7).
    fn stop(
        &mut self,
        processes: &[ProcessId],
        shutdown: Shutdown,
    ) -> impl Future<Output = Vec<Stopped>> + Send;

    /// Whether a process has not ended.
    fn is_alive(&self, process: ProcessId) -> bool;

    /// The second, of a clock that never goes backwards.
    fn now(&self) -> u64;

    /// Has [`super::keeper::Keeper::try_again`] called soon.
    fn try_again(&mut self, key: Key);

    /// Something is about to be restarted: so many restarts count for the intensity now, of which there may be
    /// `most` in so many seconds. For whoever looks.
    fn restarts(&self, _counted: usize, _most: usize, _period: u64) {}

    /// Tells the log.
    fn report(&self, context: Context, reason: &dyn fmt::Display, offender: Offender<'_>);
}

/// What became of a child that was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It ended.
    Ended(ExitReason),
    /// It was killed and does not let go; it is left.
    Left,
}
