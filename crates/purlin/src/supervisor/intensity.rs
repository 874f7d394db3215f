//! Restart intensity: how often a supervisor may restart children before it gives up.
//!
//! A pure value that is passed the time, in whole seconds of a monotonic clock, as in OTP. A
//! restart counts while its second is at most the period ago. With a period of 1, restarts at 0.1 s
//! and 1.9 s count together (seconds 0 and 1); restarts at 0.9 s and 2.0 s do not (seconds 0 and
//! 2).
//!
//! COST: memory for the restarts of one period, allocated as they happen; each restart is inserted
//! and removed once.

use std::collections::VecDeque;
use std::time::Duration;

/// Restarts within the sliding window, and its limits.
#[derive(Debug)]
pub(crate) struct Intensity {
    /// Most restarts within a period.
    most: usize,
    /// Length of the period in seconds.
    period: u64,
    /// Times of the restarts that still count, oldest first.
    restarts: VecDeque<u64>,
}

/// Figures of a restart intensity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Restarts that count.
    pub(crate) counted: usize,
    /// Most restarts within a period.
    pub(crate) most: usize,
    /// Length of the period in seconds.
    pub(crate) period: u64,
}

/// Whether the restart intensity allows another restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Limit {
    Within,
    Exceeded,
}

impl Intensity {
    pub(crate) fn new(most: usize, period: u64) -> Self {
        Self { most, period, restarts: VecDeque::new() }
    }

    /// Returns the figures as of the last restart.
    pub(crate) fn figures(&self) -> Figures {
        Figures { counted: self.restarts.len(), most: self.most, period: self.period }
    }

    /// Counts a restart at second `now`, also one that will fail.
    pub(crate) fn restart(&mut self, now: u64) -> Limit {
        while self.restarts.front().is_some_and(|then| now.saturating_sub(*then) > self.period) {
            self.restarts.pop_front();
        }
        self.restarts.push_back(now);
        if self.restarts.len() > self.most { Limit::Exceeded } else { Limit::Within }
    }
}

/// Returns a period in seconds, rounded up, at least 1.
pub(crate) fn whole_seconds(period: Duration) -> u64 {
    let part = u64::from(period.subsec_nanos() > 0);
    period.as_secs().saturating_add(part).max(1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{Intensity, Limit, whole_seconds};

    /// Returns the number of restarts at these times before the supervisor gives up.
    fn survived(most: usize, period: u64, times: &[u64]) -> usize {
        let mut intensity = Intensity::new(most, period);
        let within = |now: &&u64| intensity.restart(**now) == Limit::Within;
        times.iter().take_while(within).count()
    }

    // G2: too many restarts within a sliding window
    #[test]
    fn restart_window_slides_and_includes_both_ends() {
        // Most restarts, period, times of the restarts, number survived.
        let table: [(usize, u64, &[u64], usize); 10] = [
            (0, 5, &[3], 0),
            (1, 5, &[0, 0], 1),
            (1, 5, &[0, 5], 1),
            (1, 5, &[0, 6], 2),
            (1, 1, &[0, 1], 1),
            (1, 1, &[0, 2], 2),
            (2, 5, &[0, 4, 8, 12, 16], 5),
            (2, 5, &[0, 4, 5], 2),
            (3, 10, &[0, 1, 2, 11, 12, 13, 20], 6),
            (2, u64::MAX, &[7, 8, 9], 2),
        ];
        for (most, period, times, expected) in table {
            assert_eq!(survived(most, period, times), expected, "{most} in {period}: {times:?}");
        }
    }

    #[test]
    fn a_period_is_rounded_up_to_whole_seconds_and_a_period_of_zero_to_one() {
        for (nanoseconds, seconds) in [(0, 1), (1, 1), (1_000_000_000, 1), (1_000_000_001, 2)] {
            assert_eq!(whole_seconds(Duration::from_nanos(nanoseconds)), seconds);
        }
        assert_eq!(whole_seconds(Duration::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn supervisor_gives_up_at_the_first_restart_beyond_the_intensity(
            most in 0_usize..5,
            period in 1_u64..8,
            gaps in prop::collection::vec(0_u64..6, 1..40),
        ) {
            let times: Vec<u64> = gaps.iter().scan(0, |now, gap| { *now += gap; Some(*now) }).collect();
            let crowded = |at: &usize| {
                let now = times[*at];
                times[..=*at].iter().filter(|then| now - **then <= period).count() > most
            };
            let first = (0..times.len()).find(crowded).unwrap_or(times.len());
            prop_assert_eq!(survived(most, period, &times), first);
        }
    }
}
