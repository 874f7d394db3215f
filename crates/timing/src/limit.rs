//! Limit of a measurement.

use std::time::Duration;

/// A duration, a number of calls, or both, of which the first reached counts.
///
/// The default is a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    time: Option<Duration>,
    calls: Option<u64>,
}

impl Limit {
    /// Returns the limit of time, if there is one.
    #[must_use]
    pub fn time(self) -> Option<Duration> {
        self.time
    }

    /// Returns the limit of calls, if there is one.
    #[must_use]
    pub fn calls(self) -> Option<u64> {
        self.calls
    }

    /// Returns whether another call is allowed after `calls` calls.
    pub(crate) fn allows(self, calls: u64) -> bool {
        self.calls.is_none_or(|most| calls < most)
    }

    /// Returns whether the time is over.
    pub(crate) fn is_over(self, elapsed: Duration) -> bool {
        self.time.is_some_and(|time| elapsed >= time)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::from(Duration::from_secs(1))
    }
}

impl From<Duration> for Limit {
    fn from(time: Duration) -> Self {
        Self { time: Some(time), calls: None }
    }
}

impl From<u64> for Limit {
    fn from(calls: u64) -> Self {
        Self { time: None, calls: Some(calls) }
    }
}

impl From<(Duration, u64)> for Limit {
    fn from((time, calls): (Duration, u64)) -> Self {
        Self { time: Some(time), calls: Some(calls) }
    }
}
