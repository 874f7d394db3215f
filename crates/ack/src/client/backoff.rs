//! How long a client waits before it tries again. Pure: chance and time are values.
//!
//! The wait doubles with each failure up to a bound, and of it a share is taken
//! by chance (*full jitter*), so that a thousand clients that lost one server
//! do not come back in one moment.

use std::time::Duration;

/// The waits between attempts.
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
    /// The most that is waited after the first failure.
    pub first: Duration,
    /// The most that is ever waited.
    pub most: Duration,
}

impl Default for Backoff {
    /// From 10 ms to 5 s.
    fn default() -> Self {
        Self { first: Duration::from_millis(10), most: Duration::from_secs(5) }
    }
}

impl Backoff {
    /// How long to wait after so many failures in a row before this one. `chance` is from 0 to 1.
    #[must_use]
    pub fn wait(&self, failures: u32, chance: f64) -> Duration {
        let doubled = 2u32.checked_pow(failures).and_then(|times| self.first.checked_mul(times));
        let wait = doubled.map_or(self.most, |wait| wait.min(self.most));
        // WHY `min` again: a long wait is rounded on its way through a number of 64 bits.
        if chance > 0.0 { wait.mul_f64(chance.min(1.0)).min(self.most) } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_wait_is_never_over_the_bound_and_grows_with_failures_and_chance(
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
