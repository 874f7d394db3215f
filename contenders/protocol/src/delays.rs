//! Latency of single messages and round trips, sampled during a throughput measurement.
//!
//! A sender puts a timestamp into one message in [`STAMP_EVERY`], in place of a number that it
//! sends anyway, and the receiver reads the clock again. One round trip in [`TRIP_EVERY`] is timed
//! by its starting process. Both ends share one clock and no memory. Never blocks.
//!
//! COST: one comparison per message; two clock readings and one word per timed message.

use std::time::{Duration, Instant};

use crate::sample::Sample;

/// One message in this number carries a timestamp.
pub const STAMP_EVERY: u64 = 1024;

/// One round trip in this number is timed.
pub const TRIP_EVERY: u64 = 256;

/// Timestamps for messages. Without an origin, no message carries a timestamp.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps(Option<Instant>);

impl Stamps {
    /// Returns timestamps relative to now.
    #[must_use]
    pub fn from_now() -> Stamps {
        Stamps(Some(Instant::now()))
    }

    /// Returns the value this message carries: the time in nanoseconds, or 0 if it is not timed.
    #[must_use]
    #[inline]
    pub fn of(self, message: u64) -> u64 {
        if message.is_multiple_of(STAMP_EVERY) { self.now() } else { 0 }
    }

    // WHY out of line: keeps the sending loop as short as without timing.
    #[cold]
    fn now(self) -> u64 {
        self.0.map_or(0, |origin| since(origin).max(1))
    }
}

/// Latencies of the timed messages, in nanoseconds.
///
/// ```
/// use purlin_contender::{Delays, Stamps};
///
/// let stamps = Stamps::from_now();
/// let mut delays = Delays::new(stamps);
/// for message in 0..2000 {
///     delays.received(stamps.of(message));
/// }
/// assert_eq!(delays.count(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Delays {
    stamps: Stamps,
    /// Start of the round trip that is being timed.
    started: u64,
    times: Vec<u64>,
}

impl Delays {
    /// Creates a collection for messages with these timestamps.
    #[must_use]
    pub fn new(stamps: Stamps) -> Delays {
        Delays { stamps, started: 0, times: Vec::new() }
    }

    /// Creates a collection for round trips, with its clock starting now.
    #[must_use]
    pub fn from_now() -> Delays {
        Delays::new(Stamps::from_now())
    }

    /// Marks the start of a round trip. Round trips of one `Delays` must not overlap.
    #[inline]
    pub fn start(&mut self, round: u64) {
        if round.is_multiple_of(TRIP_EVERY) {
            self.started = self.stamps.now();
        }
    }

    /// Marks the end of a round trip.
    #[inline]
    pub fn back(&mut self, round: u64) {
        if round.is_multiple_of(TRIP_EVERY) {
            self.take(self.started);
        }
    }

    /// Records the receipt of a message with this timestamp.
    #[inline]
    pub fn received(&mut self, stamp: u64) {
        if stamp != 0 {
            self.take(stamp);
        }
    }

    /// Records a latency that was measured otherwise.
    pub(crate) fn record(&mut self, latency: Duration) {
        self.times.push(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    // WHY out of line: for the same reason as on the sender's side.
    #[cold]
    fn take(&mut self, stamp: u64) {
        let now = self.stamps.now();
        self.times.push(now.saturating_sub(stamp));
    }

    /// Adds the latencies of another collection.
    pub fn add(&mut self, other: Delays) {
        self.times.extend(other.times);
    }

    /// Returns the number of timed messages.
    #[must_use]
    pub fn count(&self) -> usize {
        self.times.len()
    }

    /// Returns the percentile: the smallest time that at least this share of times does not exceed.
    fn at(&self, percent: usize) -> u64 {
        let rank = (self.times.len() * percent).div_ceil(100).max(1);
        self.times.get(rank - 1).copied().unwrap_or(0)
    }
}

impl Sample {
    /// Adds the median, the 90th and 99th percentiles and the maximum; adds nothing if no message was timed.
    #[must_use]
    pub fn with_delays(self, mut delays: Delays) -> Sample {
        if delays.times.is_empty() {
            return self;
        }
        delays.times.sort_unstable();
        self.with("p50_ns", delays.at(50))
            .with("p90_ns", delays.at(90))
            .with("p99_ns", delays.at(99))
            .with("max_ns", delays.at(100))
    }
}

fn since(origin: Instant) -> u64 {
    u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl Iterator<Item = u64>) -> Vec<(&'static str, u64)> {
        let delays = Delays { times: times.collect(), ..Delays::default() };
        Sample::new(Duration::ZERO, 0, 0, 0).with_delays(delays).extra
    }

    #[test]
    fn percentiles_are_nearest_rank() {
        let quantiles = of((1..=200).rev());
        assert_eq!(quantiles, [("p50_ns", 100), ("p90_ns", 180), ("p99_ns", 198), ("max_ns", 200)]);
        let single = [("p50_ns", 7), ("p90_ns", 7), ("p99_ns", 7), ("max_ns", 7)];
        assert_eq!(of([7].into_iter()), single);
    }

    #[test]
    fn no_timed_messages_give_no_percentiles() {
        assert_eq!(of(std::iter::empty()), []);
        let mut delays = Delays::new(Stamps::default());
        (0..5000).for_each(|message| delays.received(Stamps::default().of(message)));
        assert_eq!(delays.count(), 0);
    }

    #[test]
    fn every_nth_message_is_timed_starting_with_the_first() {
        let stamps = Stamps::from_now();
        let stamped = (0..=STAMP_EVERY).filter(|message| stamps.of(*message) != 0);
        assert_eq!(stamped.collect::<Vec<_>>(), [0, STAMP_EVERY]);
        let mut trips = Delays::from_now();
        (0..=TRIP_EVERY).for_each(|round| {
            trips.start(round);
            trips.back(round);
        });
        assert_eq!(trips.count(), 2);
    }
}
