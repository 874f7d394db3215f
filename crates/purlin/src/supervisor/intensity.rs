//! How often a supervisor may restart before it gives up.
//!
//! A pure value that is told the time, in whole seconds of a clock that never goes backwards, as
//! OTP's is. A restart counts for as long as its second is no more than the period ago: with a
//! period of 1, restarts at 0.1 s and at 1.9 s count together (seconds 0 and 1), and those at 0.9 s
//! and at 2.0 s do not (seconds 0 and 2).
//!
//! COST: memory for as many restarts as may be in a period, when they come; each restart is put
//! in and taken out once.

use std::collections::VecDeque;

/// The restarts of late.
#[derive(Debug)]
pub(crate) struct Intensity {
    /// The most restarts within a period.
    most: usize,
    /// In seconds.
    period: u64,
    /// When the restarts were that still count, oldest first.
    restarts: VecDeque<u64>,
}

/// Whether a supervisor may go on.
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

    /// How many restarts count, how many may, and within how many seconds.
    pub(crate) fn figures(&self) -> (usize, usize, u64) {
        (self.restarts.len(), self.most, self.period)
    }

    /// Counts a restart, also one that will fail, at that second.
    pub(crate) fn restart(&mut self, now: u64) -> Limit {
        while self.restarts.front().is_some_and(|then| now.saturating_sub(*then) > self.period) {
            self.restarts.pop_front();
        }
        self.restarts.push_back(now);
        if self.restarts.len() > self.most { Limit::Exceeded } else { Limit::Within }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Intensity, Limit};

    /// How many restarts at these times a supervisor gets through.
    fn survived(most: usize, period: u64, times: &[u64]) -> usize {
        let mut intensity = Intensity::new(most, period);
        let within = |now: &&u64| intensity.restart(**now) == Limit::Within;
        times.iter().take_while(within).count()
    }

    // G2: too many restarts within a sliding window
    #[test]
    fn the_window_slides_and_both_its_ends_count() {
        // The most restarts, the period, when they come, how many are survived.
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

    proptest! {
        #[test]
        fn it_gives_up_at_the_first_restart_that_has_too_many_within_its_period(
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
