//! Clock of the simulated core, with the functions of `std::time::Instant`.

use std::ops::{Add, Sub};
use std::time::Duration;

use crate::costs::Time;
use crate::run;

/// Time since the beginning of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

impl Instant {
    /// Reads the clock of the core.
    pub fn now() -> Self {
        let time = run::read_clock();
        Self(Duration::new(time / 1_000_000_000_000, (time / 1000 % 1_000_000_000) as u32))
    }

    /// Returns the time since this moment.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// Returns the time from `other` to this moment, or zero if `other` is later.
    #[must_use]
    pub fn saturating_duration_since(&self, other: Self) -> Duration {
        self.0.saturating_sub(other.0)
    }

    /// Returns the moment in picoseconds.
    pub(crate) fn time(self) -> Time {
        (self.0.as_nanos() * 1000).try_into().unwrap_or(Time::MAX)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
