//! Delay between reconnection attempts. Pure: randomness and time are arguments.
//!
//! The delay doubles with each failure up to a bound and is then scaled by a random factor (*full
//! jitter*), so that the clients of a restarted server do not reconnect simultaneously.

use std::time::Duration;

/// Exponential backoff with full jitter.
///
/// ```
/// use std::time::Duration;
/// use purlin_ack::client::Backoff;
///
/// let backoff = Backoff { first: Duration::from_millis(10), most: Duration::from_secs(1) };
/// assert_eq!(backoff.wait(0, 1.0), Duration::from_millis(10));
/// assert_eq!(backoff.wait(3, 1.0), Duration::from_millis(80));
/// assert_eq!(backoff.wait(3, 0.25), Duration::from_millis(20));
/// assert_eq!(backoff.wait(300, 1.0), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Maximum delay after the first failure.
    pub first: Duration,
    /// Upper bound of the delay.
    pub most: Duration,
}

impl Default for Backoff {
    /// Returns a backoff from 10 ms to 5 s.
    fn default() -> Self {
        Self { first: Duration::from_millis(10), most: Duration::from_secs(5) }
    }
}

impl Backoff {
    /// Returns the delay after `failures` earlier consecutive failures. `chance` is from 0 to 1.
    #[must_use]
    pub fn wait(&self, failures: u32, chance: f64) -> Duration {
        let doubled = 2u32.checked_pow(failures).and_then(|times| self.first.checked_mul(times));
        let wait = doubled.map_or(self.most, |wait| wait.min(self.most));
        // WHY a second `min`: `mul_f64` rounds long durations.
        if chance > 0.0 { wait.mul_f64(chance.min(1.0)).min(self.most) } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn delay_is_bounded_and_grows_with_failures_and_chance(
            first in 0..u64::MAX,
            most in 0..u64::MAX,
            failures in 0..u32::MAX,
            chance in -1.0..2.0f64,
        ) {
            let backoff = Backoff { first: Duration::from_nanos(first), most: Duration::from_nanos(most) };
            let wait = backoff.wait(failures, chance);
            prop_assert!(wait <= backoff.wait(failures, 1.0));
            prop_assert!(backoff.wait(failures, 1.0) <= backoff.most);
            prop_assert!(wait <= backoff.wait(failures + 1, chance));
            prop_assert_eq!(backoff.wait(failures, 0.0), Duration::ZERO);
        }
    }
}
