//! Resolution and cost of the clock.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Readings per batch, and number of batches: about a millisecond in all.
const READINGS: u32 = 1000;
const BATCHES: u32 = 20;

/// Properties of this machine's clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Smallest nonzero difference between two readings: the shortest time that can be measured.
    pub resolution: Duration,
    /// Cost of one reading in nanoseconds: the measured time of a call that does nothing.
    pub cost_ns: f64,
}

impl Clock {
    /// Returns the properties of the clock. The first call measures them, for about a millisecond.
    ///
    /// ```
    /// let clock = purlin_timing::Clock::measure();
    /// println!("resolution {:?}, {:.0} ns per reading", clock.resolution, clock.cost_ns);
    /// ```
    #[must_use]
    pub fn measure() -> Self {
        static SEEN: OnceLock<Clock> = OnceLock::new();
        *SEEN.get_or_init(|| Self { resolution: resolution(), cost_ns: cost_ns() })
    }
}

fn resolution() -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..READINGS {
        let before = Instant::now();
        let mut between = before.elapsed();
        while between.is_zero() {
            between = before.elapsed();
        }
        least = least.min(between);
    }
    // WHY: a reading takes longer than the step of a fine clock; the step is the common divisor of
    // readings.
    let mut step = least.as_nanos();
    for _ in 0..READINGS {
        step = common(step, Instant::now().elapsed().as_nanos());
    }
    Duration::from_nanos(u64::try_from(step).unwrap_or(u64::MAX))
}

/// Returns the greatest common divisor.
fn common(one: u128, other: u128) -> u128 {
    if other == 0 { one } else { common(other, one % other) }
}

/// Returns the lowest of several batches, because delays of a busy machine are not a cost of the
/// clock.
fn cost_ns() -> f64 {
    let batch = |_| {
        let before = Instant::now();
        for _ in 0..READINGS {
            std::hint::black_box(Instant::now());
        }
        before.elapsed().as_nanos() as f64 / f64::from(READINGS)
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_has_a_resolution_and_a_cost() {
        let clock = Clock::measure();
        assert!(!clock.resolution.is_zero());
        assert!(clock.cost_ns > 0.0 && clock.cost_ns.is_finite());
        assert_eq!(clock, Clock::measure());
    }

    #[test]
    fn the_step_is_the_common_divisor_of_all_differences() {
        assert_eq!([300u128, 500, 800].into_iter().fold(0, common), 100);
        assert_eq!(common(42, 0), 42);
    }
}
