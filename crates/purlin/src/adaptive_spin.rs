//! Adaptive spin: whether a reader polls before it parks. Pure code: the time is an argument.
//!
//! Belongs to the reader of one connection, which reports the outcome of each wait.
//!
//! A peer in lock-step writes a few microseconds after it was answered, which is less than the
//! kernel takes to wake a thread. So a reader whose last wait was short polls again before it
//! parks. But a peer that shares a processor with the reader cannot write while the reader polls.
//! Polling then finds nothing, and the peer writes as soon as it ends, so that the wait is short
//! again. Therefore a wait that polled in vain is followed by one wait without polling, then by
//! two, by four, up to [`MOST`], until polling finds something.

use std::time::Duration;

/// A wait shorter than this enables polling.
const SOON: Duration = Duration::from_micros(200);
/// Maximum number of waits without polling after one that polled in vain.
const MOST: u32 = 1024;

/// Adaptive spin of the reader of a connection: whether the reader, when there is nothing to read,
/// polls for up to [`AdaptiveSpin::LONGEST`], letting other processes run in between, or parks.
/// Waking a parked reader takes longer than the peer may take to answer.
///
/// ```
/// use std::time::Duration;
/// use purlin::AdaptiveSpin;
///
/// let mut spin = AdaptiveSpin::default();
/// assert!(!spin.should_poll(), "nothing is known of the other side");
/// spin.woken_after(Duration::from_micros(30));
/// assert!(spin.should_poll(), "it has answered soon");
/// spin.poll_succeeded();
/// ```
///
/// COST: a comparison or two per wait.
#[derive(Debug, Default)]
pub struct AdaptiveSpin {
    /// The last wait was short.
    soon: bool,
    /// The current wait polls.
    asks: bool,
    /// Number of waits without polling that are left.
    left: u32,
    /// Number of waits without polling after the last wait that polled in vain.
    rest: u32,
}

impl AdaptiveSpin {
    /// Longest time to poll before parking: 100 µs.
    pub const LONGEST: Duration = Duration::from_micros(100);

    /// Starts a wait. Returns whether it polls first.
    pub fn should_poll(&mut self) -> bool {
        self.asks = self.soon && self.left == 0;
        self.left = self.left.saturating_sub(u32::from(self.soon));
        self.asks
    }

    /// Records that polling found something.
    pub fn poll_succeeded(&mut self) {
        self.rest = 0;
    }

    /// Records that the reader was woken, `after` this time from the start of the wait.
    pub fn woken_after(&mut self, after: Duration) {
        self.soon = after < SOON;
        if self.asks {
            self.rest = (2 * self.rest).clamp(1, MOST);
            self.left = self.rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates `count` waits for a peer that writes `after` this time from its last answer, or,
    /// without `own_core`, only while the reader does not poll. Returns the number of waits that
    /// polled, and the number of those that polled in vain.
    fn waits(count: u32, after: Duration, own_core: bool) -> (u32, u32) {
        let mut spin = AdaptiveSpin::default();
        let (mut asked, mut in_vain) = (0, 0);
        for _ in 0..count {
            if !spin.should_poll() {
                spin.woken_after(after);
                continue;
            }
            asked += 1;
            if own_core && after < AdaptiveSpin::LONGEST {
                spin.poll_succeeded();
            } else {
                in_vain += 1;
                spin.woken_after(if own_core { after } else { AdaptiveSpin::LONGEST + after });
            }
        }
        (asked, in_vain)
    }

    #[test]
    fn every_wait_but_the_first_polls_for_a_peer_in_lock_step() {
        assert_eq!(waits(1000, Duration::from_micros(10), true), (999, 0));
    }

    #[test]
    fn slow_peer_is_never_polled_for() {
        assert_eq!(waits(1000, SOON, true), (0, 0));
    }

    #[test]
    fn polling_backs_off_for_a_peer_that_cannot_write_meanwhile() {
        let (asked, in_vain) = waits(100_000, Duration::from_micros(10), false);
        assert_eq!(asked, in_vain);
        // At the 2nd, 4th, 7th, 12th wait, and so on, then at every 1025th.
        assert!((100..120).contains(&asked), "{asked}");
    }

    #[test]
    fn polling_resumes_one_wait_after_it_failed_once() {
        let mut spin = AdaptiveSpin::default();
        spin.woken_after(Duration::ZERO);
        for _ in 0..3 {
            assert!(spin.should_poll());
            spin.poll_succeeded();
            assert!(spin.should_poll());
            spin.woken_after(AdaptiveSpin::LONGEST);
            assert!(!spin.should_poll());
            spin.woken_after(Duration::ZERO);
        }
        assert!(spin.should_poll());
    }
}
