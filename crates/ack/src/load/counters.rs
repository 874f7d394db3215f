//! Counters shared by all connections of a load generator.
//!
//! Each connection adds to them after a read of answers; any thread may read them. COST: per read
//! of answers one lock, held for a few histogram entries.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

/// Highest trackable latency in nanoseconds: one hour.
const LONGEST: u64 = 3_600_000_000_000;

/// Counters of a load generator.
#[derive(Debug)]
pub(super) struct Counters(Mutex<Sums>);

/// Answered messages and their latency.
#[derive(Debug)]
struct Sums {
    answered: Answered,
    latency: Histogram<u64>,
}

/// Numbers of messages and answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Answered messages, including refused ones.
    pub messages: u64,
    /// Refused messages.
    pub refused: u64,
    /// Replies, acks and refusals received. One ack may answer many messages.
    pub answers: u64,
}

impl Counters {
    pub(super) fn new() -> Self {
        let latency = Histogram::new_with_bounds(1, LONGEST, 3).expect("the bounds are in order");
        Self(Mutex::new(Sums { answered: Answered::default(), latency }))
    }

    fn lock(&self) -> MutexGuard<'_, Sums> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `more`, and the pairs of message count and latency to the histogram.
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
