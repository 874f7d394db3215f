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
    pub fn of(self, message: u64) -> u64 {
        match self.0 {
            Some(origin) if message.is_multiple_of(STAMP_EVERY) => since(origin).max(1),
            _ => 0,
        }
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
    times: Vec<u64>,
}

impl Delays {
    /// For messages that carry these stamps.
    #[must_use]
    pub fn new(stamps: Stamps) -> Delays {
        Delays { stamps, times: Vec::new() }
    }

    /// A message has come that carried this.
    pub fn received(&mut self, stamp: u64) {
        if stamp != 0
            && let Some(origin) = self.stamps.0
        {
            self.times.push(since(origin).saturating_sub(stamp));
        }
    }

    /// When this round trip starts, if it is one of those that are timed.
    #[must_use]
    pub fn start(round: u64) -> Option<Instant> {
        round.is_multiple_of(TRIP_EVERY).then(Instant::now)
    }

    /// A round trip is back that started then.
    pub fn back(&mut self, start: Option<Instant>) {
        self.times.extend(start.map(since));
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
        let delays = Delays { stamps: Stamps::default(), times: times.collect() };
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
        let timed = (0..=TRIP_EVERY).filter(|round| Delays::start(*round).is_some());
        assert_eq!(timed.collect::<Vec<_>>(), [0, TRIP_EVERY]);
    }
}
