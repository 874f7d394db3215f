//! Clock: the system clock, or a manual clock for tests and simulations.
//!
//! Any thread may read it. It is monotonic.
//!
//! COST: one reading of the system clock takes about 25 ns, so one reading serves many timers (see
//! `timers`).

use std::sync::Arc;
use std::time::Duration;

use crate::sync::{AtomicU64, Instant, Ordering};

/// Maximum duration in nanoseconds: 146 years.
pub(crate) const LONGEST: u64 = 1 << 62;

/// Monotonic clock that counts nanoseconds since its start.
#[derive(Debug, Clone)]
pub struct Clock(Source);

/// Where the time comes from.
#[derive(Debug, Clone)]
enum Source {
    Machine(Instant),
    Manual(Arc<AtomicU64>),
}

/// Setter of a manual clock.
#[derive(Debug)]
pub struct ClockHand(Arc<AtomicU64>);

impl Clock {
    /// Returns the system clock, started now.
    pub fn machine() -> Self {
        Self(Source::Machine(Instant::now()))
    }

    /// Returns a manual clock at 0 and the [`ClockHand`] that sets it. The caller that moves the
    /// clock must also fire the timers that are due ([`crate::Timers::fire_overdue`]): moving the
    /// clock wakes no thread.
    pub fn manual() -> (Self, ClockHand) {
        let now = Arc::new(AtomicU64::new(0));
        (Self(Source::Manual(Arc::clone(&now))), ClockHand(now))
    }

    /// Returns the nanoseconds since the start.
    #[inline]
    pub fn now(&self) -> u64 {
        match &self.0 {
            Source::Machine(start) => nanos(start.elapsed()),
            Source::Manual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Returns whether this is a manual clock.
    pub(crate) fn is_manual(&self) -> bool {
        matches!(self.0, Source::Manual(_))
    }

    /// Returns how long to sleep until `moment`, or `None` for a manual clock.
    pub(crate) fn until(&self, moment: u64) -> Option<Duration> {
        match &self.0 {
            Source::Machine(_) => Some(Duration::from_nanos(moment.saturating_sub(self.now()))),
            Source::Manual(_) => None,
        }
    }
}

impl ClockHand {
    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(nanos(by), Ordering::Relaxed);
    }
}

/// Returns the nanoseconds of a duration, at most 146 years, so that sums do not overflow.
pub(crate) fn nanos(duration: Duration) -> u64 {
    let seconds = duration.as_secs().min(LONGEST / 1_000_000_000 - 1);
    seconds * 1_000_000_000 + u64::from(duration.subsec_nanos())
}
