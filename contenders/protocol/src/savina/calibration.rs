//! Calibration of `spread`: the number of steps of work that take a given time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::local::{WORK_START, work};

/// Steps of one timing.
const TIMED_STEPS: u64 = 200_000;

/// Number of timings, of which the shortest counts.
const TIMINGS: u32 = 10;

/// Result of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Steps of one piece of computing, at least 1.
    pub steps: u64,
    /// Shortest time of the timed steps, in nanoseconds.
    pub calibration_ns: u64,
}

impl Calibration {
    /// Measures how many steps take this many microseconds. Blocks for some milliseconds.
    #[must_use]
    pub fn measure(us: u64) -> Self {
        let timing = |_| {
            let start = Instant::now();
            black_box(work(black_box(WORK_START), TIMED_STEPS));
            start.elapsed()
        };
        Self::from_shortest(us, (0..TIMINGS).map(timing).min().unwrap_or_default())
    }

    fn from_shortest(us: u64, shortest: Duration) -> Self {
        let calibration_ns = u64::try_from(shortest.as_nanos()).unwrap_or(u64::MAX).max(1);
        let timed = TIMED_STEPS * us * 1000;
        Calibration {
            steps: ((timed + calibration_ns / 2) / calibration_ns).max(1),
            calibration_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_rounded_and_never_zero() {
        let steps = |us, ns| Calibration::from_shortest(us, Duration::from_nanos(ns)).steps;
        assert_eq!(steps(10, 400_000), 5000);
        assert_eq!(steps(1, 300_000), 667);
        assert_eq!(steps(1, 1_000_000_000_000), 1);
    }

    #[test]
    fn measured_time_is_positive() {
        let found = Calibration::measure(5);
        assert!(found.calibration_ns > 0 && found.steps > 0);
    }
}
