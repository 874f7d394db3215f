//! How long a function is timed.

use std::time::Duration;

/// For so long, so many times, or whichever comes first.
///
/// The default is a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    time: Option<Duration>,
    calls: Option<u64>,
}

impl Limit {
    /// The time, where there is one.
    #[must_use]
    pub fn time(self) -> Option<Duration> {
        self.time
    }

    /// The number of calls, where there is one.
    #[must_use]
    pub fn calls(self) -> Option<u64> {
        self.calls
    }

    /// Whether there may be another call after so many.
    pub(crate) fn allows(self, calls: u64) -> bool {
        self.calls.is_none_or(|most| calls < most)
    }

    /// Whether the time is over.
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
