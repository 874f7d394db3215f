//! Whether a wait begins with asking again and again. Pure: the time is a value.
//!
//! Belongs to the reader of one connection, which says what became of each wait.
//!
//! Another side in lock-step writes a few microseconds after it was answered, which is
//! less than it takes the kernel to wake a thread. So where the last wait was short
//! the next begins with asking. But where that side has no core of its own it cannot
//! write while it is asked for: then asking is in vain, and as soon as it ends the
//! side writes, so that the wait was short again. Therefore a wait that asked in
//! vain is followed by one that does not ask, then by two, by four, up to [`MOST`],
//! until asking has found something.

use std::time::Duration;

/// A wait no longer than this makes it keen.
const SOON: Duration = Duration::from_micros(200);
/// The most waits without asking after one in vain.
const MOST: u32 = 1024;

/// How keen the reader of a connection is: whether, where there is nothing to read, it asks again for up to
/// [`Keen::LONGEST`], letting other processes run in between, or waits to be woken, which takes longer than the
/// other side may take to answer.
///
/// ```
/// use std::time::Duration;
/// use purlin::Keen;
///
/// let mut keen = Keen::default();
/// assert!(!keen.asks(), "nothing is known of the other side");
/// keen.woken(Duration::from_micros(30));
/// assert!(keen.asks(), "it has answered soon");
/// keen.found();
/// ```
///
/// COST: a comparison or two for each wait.
#[derive(Debug, Default)]
pub struct Keen {
    /// The last wait was short.
    soon: bool,
    /// This one asks.
    asks: bool,
    /// Waits that do not ask, still to come.
    left: u32,
    /// How many there were to be after the last that asked in vain.
    rest: u32,
}

impl Keen {
    /// How long it asks before it lets itself be woken: 100 µs.
    pub const LONGEST: Duration = Duration::from_micros(100);

    /// A wait begins; whether it begins with asking.
    pub fn asks(&mut self) -> bool {
        self.asks = self.soon && self.left == 0;
        self.left = self.left.saturating_sub(u32::from(self.soon));
        self.asks
    }

    /// Asking has found something.
    pub fn found(&mut self) {
        self.rest = 0;
    }

    /// There was something when it was woken, so long after the wait began.
    pub fn woken(&mut self, after: Duration) {
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

    /// Waits so often for one that writes so long after it was answered, and only when nobody asks
    /// if it has no core of its own; how many waits asked, and how many of these in vain.
    fn waits(count: u32, after: Duration, own_core: bool) -> (u32, u32) {
        let mut keen = Keen::default();
        let (mut asked, mut in_vain) = (0, 0);
        for _ in 0..count {
            if !keen.asks() {
                keen.woken(after);
                continue;
            }
            asked += 1;
            if own_core && after < Keen::LONGEST {
                keen.found();
            } else {
                in_vain += 1;
                keen.woken(if own_core { after } else { Keen::LONGEST + after });
            }
        }
        (asked, in_vain)
    }

    #[test]
    fn one_in_lock_step_is_asked_for_in_each_wait_but_the_first() {
        assert_eq!(waits(1000, Duration::from_micros(10), true), (999, 0));
    }

    #[test]
    fn one_that_takes_its_time_is_never_asked_for() {
        assert_eq!(waits(1000, SOON, true), (0, 0));
    }

    #[test]
    fn one_that_cannot_write_while_it_is_asked_for_is_asked_for_ever_more_seldom() {
        let (asked, in_vain) = waits(100_000, Duration::from_micros(10), false);
        assert_eq!(asked, in_vain);
        // At the 2nd, 4th, 7th, 12th wait, and so on, and then at every 1025th.
        assert!((100..120).contains(&asked), "{asked}");
    }

    #[test]
    fn one_that_was_asked_for_in_vain_once_is_asked_for_again_after_one_wait() {
        let mut keen = Keen::default();
        keen.woken(Duration::ZERO);
        for _ in 0..3 {
            assert!(keen.asks());
            keen.found();
            assert!(keen.asks());
            keen.woken(Keen::LONGEST);
            assert!(!keen.asks());
            keen.woken(Duration::ZERO);
        }
        assert!(keen.asks());
    }
}
