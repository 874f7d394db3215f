//! How long messages and round trips take, one at a time, beside the time of all of them together.
//!
//! A sender puts the time into one message in [`STAMP_EVERY`], in the place of a number that it
//! would send anyway, and who receives it looks at the clock again. Of round trips one in
//! [`TRIP_EVERY`] is timed where it starts. Both share one clock and no memory. Waits for nothing.
//!
//! COST: a comparison for each message; two readings of the clock and a word for each that is timed.

use std::time::Instant;

use crate::sample::Sample;

/// One message in so many carries the time.
pub const STAMP_EVERY: u64 = 1024;

/// One round trip in so many is timed.
pub const TRIP_EVERY: u64 = 256;

/// What senders put into their messages. Without an origin none carries the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps(Option<Instant>);

impl Stamps {
    /// Times are counted from now on.
    #[must_use]
    pub fn from_now() -> Stamps {
        Stamps(Some(Instant::now()))
    }

    /// What this message of a sender carries: the time in nanoseconds, or 0 if it is not timed.
    #[must_use]
    #[inline]
    pub fn of(self, message: u64) -> u64 {
        if message.is_multiple_of(STAMP_EVERY) { self.now() } else { 0 }
    }

    // WHY out of line: the loop that sends stays as short as it was without.
    #[cold]
    fn now(self) -> u64 {
        self.0.map_or(0, |origin| since(origin).max(1))
    }
}

/// How long those took that were timed, in nanoseconds.
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
    /// When the trip started that is timed.
    started: u64,
    times: Vec<u64>,
}

impl Delays {
    /// For messages that carry these stamps.
    #[must_use]
    pub fn new(stamps: Stamps) -> Delays {
        Delays { stamps, started: 0, times: Vec::new() }
    }

    /// For round trips from now on.
    #[must_use]
    pub fn from_now() -> Delays {
        Delays::new(Stamps::from_now())
    }

    /// This round trip starts. Those of one `Delays` come one after the other.
    #[inline]
    pub fn start(&mut self, round: u64) {
        if round.is_multiple_of(TRIP_EVERY) {
            self.started = self.stamps.now();
        }
    }

    /// This round trip is back.
    #[inline]
    pub fn back(&mut self, round: u64) {
        if round.is_multiple_of(TRIP_EVERY) {
            self.take(self.started);
        }
    }

    /// A message has come that carried this.
    #[inline]
    pub fn received(&mut self, stamp: u64) {
        if stamp != 0 {
            self.take(stamp);
        }
    }

    // WHY out of line: as the sender's half.
    #[cold]
    fn take(&mut self, stamp: u64) {
        let now = self.stamps.now();
        self.times.push(now.saturating_sub(stamp));
    }

    /// How many were timed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.times.len()
    }

    /// The smallest time that at least this share of them do not pass.
    fn at(&self, percent: usize) -> u64 {
        let rank = (self.times.len() * percent).div_ceil(100).max(1);
        self.times.get(rank - 1).copied().unwrap_or(0)
    }
}

impl Sample {
    /// The same with the median, the 99th percentile and the longest of what was timed; with
    /// nothing more if nothing was.
    #[must_use]
    pub fn with_delays(self, mut delays: Delays) -> Sample {
        if delays.times.is_empty() {
            return self;
        }
        delays.times.sort_unstable();
        self.with("p50_ns", delays.at(50))
            .with("p99_ns", delays.at(99))
            .with("max_ns", delays.at(100))
    }
}

fn since(origin: Instant) -> u64 {
    u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn of(times: impl Iterator<Item = u64>) -> Vec<(&'static str, u64)> {
        let delays = Delays { times: times.collect(), ..Delays::default() };
        Sample::new(Duration::ZERO, 0, 0, 0).with_delays(delays).extra
    }

    #[test]
    fn the_figures_are_the_smallest_that_so_many_do_not_pass() {
        let told = of((1..=200).rev());
        assert_eq!(told, [("p50_ns", 100), ("p99_ns", 198), ("max_ns", 200)]);
        assert_eq!(of([7].into_iter()), [("p50_ns", 7), ("p99_ns", 7), ("max_ns", 7)]);
    }

    #[test]
    fn where_nothing_was_timed_nothing_is_told() {
        assert_eq!(of(std::iter::empty()), []);
        let mut delays = Delays::new(Stamps::default());
        (0..5000).for_each(|message| delays.received(Stamps::default().of(message)));
        assert_eq!(delays.count(), 0);
    }

    #[test]
    fn one_in_so_many_is_timed_the_first_among_them() {
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
