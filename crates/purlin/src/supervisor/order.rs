//! Shutdown type of a child, and the exit reasons it expects.
//!
//! Pure values. Children are stopped in reverse key order ([`crate::supervisor::strategy`]).

use std::time::Duration;

use super::Restart;
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
    /// A permanent child must end with the reason it was sent. Other children may already have been
    /// ending with any orderly reason.
    pub(crate) fn expects(self, restart: Restart, reason: &ExitReason) -> bool {
        let stopped = match self {
            Self::BrutalKill => *reason == ExitReason::Killed,
            Self::Timeout(_) | Self::Infinity => *reason == ExitReason::Shutdown,
        };
        stopped || restart != Restart::Permanent && reason.is_orderly()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Restart, Shutdown};
    use crate::ExitReason;

    // G2: each given a time, no time, or all the time it wants
    #[test]
    fn expected_exit_reasons_depend_on_shutdown_and_restart_type() {
        use ExitReason::{Killed, Normal, Shutdown as Orderly};
        use Restart::{Permanent, Temporary, Transient};
        use Shutdown::{BrutalKill, Infinity, Timeout};
        let timeout = Timeout(Duration::from_secs(5));
        let table = [
            (BrutalKill, Permanent, Killed, true),
            (BrutalKill, Permanent, Orderly, false),
            (BrutalKill, Permanent, Normal, false),
            (BrutalKill, Transient, Orderly, true),
            (BrutalKill, Temporary, Normal, true),
            (timeout, Permanent, Orderly, true),
            (timeout, Permanent, Normal, false),
            (timeout, Permanent, Killed, false),
            (timeout, Temporary, Killed, false),
            (timeout, Transient, Normal, true),
            (Infinity, Permanent, Orderly, true),
            (Infinity, Permanent, Normal, false),
            (Infinity, Temporary, Normal, true),
        ];
        for (shutdown, restart, reason, expected) in table {
            let expects = shutdown.expects(restart, &reason);
            assert_eq!(expects, expected, "{shutdown:?} {restart:?} {reason}");
        }
    }
}
