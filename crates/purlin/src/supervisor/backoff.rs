//! Restart backoff: delays before the restarts of a child.
//!
//! Pure values; OTP has no such delay. The first restart waits for the first delay, each further
//! one twice as long, up to the longest delay. After the child has run for longer than the longest
//! delay, the delays begin again.

use std::time::Duration;

/// First and longest delay before a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Backoff {
    /// Returns the delay after this many restarts.
    pub(crate) fn delay(self, restarts: u32) -> Duration {
        let factor = 1_u32.checked_shl(restarts).filter(|factor| *factor > 0).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn delay_doubles_up_to_the_longest() {
        let backoff =
            Backoff { first: Duration::from_millis(100), longest: Duration::from_secs(1) };
        let delays = [0, 1, 2, 3, 4, 31, 32, u32::MAX].map(|n| backoff.delay(n).as_millis());
        assert_eq!(delays, [100, 200, 400, 800, 1000, 1000, 1000, 1000]);
    }
}
