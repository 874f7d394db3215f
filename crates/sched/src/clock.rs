//! The clock, as a value: the machine's, or one that a test moves.
//!
//! Any thread may read it. It never goes backwards.
//!
//! COST: reading the machine's is a system clock's reading, some 25 ns, so it is read for many
//! timers at once (see `timers`).

use std::sync::Arc;
use std::time::Duration;

use crate::sync::{AtomicU64, Instant, Ordering};

/// The longest time: 146 years.
pub(crate) const LONGEST: u64 = 1 << 62;

/// Nanoseconds since its start.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    Machine(Instant),
    Manual(Arc<AtomicU64>),
}

/// The hand of a clock that stands still unless it is moved.
#[derive(Debug)]
pub struct Hand(Arc<AtomicU64>);

impl Clock {
    /// The machine's clock, starting now.
    pub fn machine() -> Self {
        Self(Source::Machine(Instant::now()))
    }

    /// A clock that shows what its hand says, at first 0. Whoever moves it also has to look what is
    /// due ([`crate::Timers::fire_overdue`]): no thread wakes up by itself for it.
    pub fn manual() -> (Self, Hand) {
        let now = Arc::new(AtomicU64::new(0));
        (Self(Source::Manual(Arc::clone(&now))), Hand(now))
    }

    /// Nanoseconds since the start.
    #[inline]
    pub fn now(&self) -> u64 {
        match &self.0 {
            Source::Machine(start) => nanos(start.elapsed()),
            Source::Manual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// How long to sleep until that moment; `None` if the machine's time does not tell.
    pub(crate) fn until(&self, moment: u64) -> Option<Duration> {
        match &self.0 {
            Source::Machine(_) => Some(Duration::from_nanos(moment.saturating_sub(self.now()))),
            Source::Manual(_) => None,
        }
    }
}

impl Hand {
    /// Moves the clock forward.
    pub fn forward(&self, by: Duration) {
        self.0.fetch_add(nanos(by), Ordering::Relaxed);
    }
}

/// Nanoseconds of a duration; what is beyond 146 years counts as that, and leaves room for sums.
#[inline]
pub(crate) fn nanos(duration: Duration) -> u64 {
    let seconds = duration.as_secs().min(LONGEST / 1_000_000_000 - 1);
    seconds * 1_000_000_000 + u64::from(duration.subsec_nanos())
}
