//! What all connections of a load have been answered so far.
//!
//! Each connection adds to it when it has read answers; anybody reads it. COST:
//! of a read of answers a lock that is held for some histogram entries.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest wait that is told apart from longer ones, in nanoseconds: an hour.
const LONGEST: u64 = 3_600_000_000_000;

#[derive(Debug)]
pub(super) struct Tally(Mutex<Sums>);

#[derive(Debug)]
struct Sums {
    answered: Answered,
    latency: Histogram<u64>,
}

/// What has been answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Messages, those that were refused included.
    pub messages: u64,
    /// Messages that were refused.
    pub refused: u64,
    /// Replies, acks and refusals.
    pub answers: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        let latency = Histogram::new_with_bounds(1, LONGEST, 3).expect("the bounds are in order");
        Self(Mutex::new(Sums { answered: Answered::default(), latency }))
    }

    fn lock(&self) -> MutexGuard<'_, Sums> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was answered, and how long how many messages waited for it.
    pub(super) fn add(&self, more: Answered, waits: impl Iterator<Item = (u64, Duration)>) {
        let Sums { answered, latency } = &mut *self.lock();
        answered.messages += more.messages;
        answered.refused += more.refused;
        answered.answers += more.answers;
        for (count, wait) in waits {
            let nanos = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
            latency.saturating_record_n(nanos.clamp(1, LONGEST), count);
        }
    }

    pub(super) fn answered(&self) -> Answered {
        self.lock().answered
    }

    pub(super) fn latency(&self) -> Histogram<u64> {
        self.lock().latency.clone()
    }
}
