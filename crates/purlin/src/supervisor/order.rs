//! Shutdown type of a child, and the exit reasons it expects.
//!
//! Pure values. Children are stopped in reverse key order ([`crate::supervisor::strategy`]).

use std::time::Duration;

use crate::ExitReason;

/// Time a killed process has to end (L7).
pub(crate) const KILL_GRACE: Duration = Duration::from_secs(2);

/// Shutdown type: how a supervisor stops a child (G2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shutdown {
    /// Kills the child without notice.
    BrutalKill,
    /// Sends `shutdown`, and kills the child if it has not ended after this time.
    Timeout(Duration),
    /// Sends `shutdown` and waits without limit.
    Infinity,
}

impl Shutdown {
    /// Returns whether `reason` is expected of a child stopped in this way; otherwise it is
    /// reported.
    ///
    /// Every orderly reason is expected, also of a permanent child: OTP reports a permanent child
    /// that was stopped and ends with `normal`.
    pub(crate) fn expects(self, reason: &ExitReason) -> bool {
        reason.is_orderly() || self == Self::BrutalKill && *reason == ExitReason::Killed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Shutdown;
    use crate::ExitReason;

    // G2: each given a time, no time, or all the time it wants
    #[test]
    fn orderly_exit_reasons_are_expected_and_killed_after_a_brutal_kill() {
        use ExitReason::{Killed, Normal, Shutdown as Orderly};
        use Shutdown::{BrutalKill, Infinity, Timeout};
        let timeout = Timeout(Duration::from_secs(5));
        let table = [
            (BrutalKill, Killed, true),
            (BrutalKill, Orderly, true),
            (BrutalKill, Normal, true),
            (timeout, Orderly, true),
            (timeout, Normal, true),
            (timeout, Killed, false),
            (timeout, ExitReason::error("oops"), false),
            (Infinity, Orderly, true),
            (Infinity, Normal, true),
            (Infinity, Killed, false),
        ];
        for (shutdown, reason, expected) in table {
            assert_eq!(shutdown.expects(&reason), expected, "{shutdown:?} {reason}");
        }
    }
}
