//! How a child is stopped, and whether it ended as it should.
//!
//! Pure values. The order itself is that of the keys, backwards ([`crate::supervisor::strategy`]).

use std::time::Duration;

use super::Restart;
use crate::ExitReason;

/// How a supervisor stops a child (G2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shutdown {
    /// It is killed at once.
    BrutalKill,
    /// It is told `shutdown`, and killed if it has not ended after that time.
    Timeout(Duration),
    /// It is told `shutdown` and has all the time it wants.
    Infinity,
}

impl Shutdown {
    /// Whether a child that was stopped in this way ended as it should; otherwise it is reported.
    ///
    /// A permanent child is expected to end as it was told to; the others may have been about to
    /// end in an orderly way of their own.
    pub(crate) fn expects(self, restart: Restart, reason: &ExitReason) -> bool {
        let told = match self {
            Self::BrutalKill => *reason == ExitReason::Killed,
            Self::Timeout(_) | Self::Infinity => *reason == ExitReason::Shutdown,
        };
        told || restart != Restart::Permanent && reason.is_orderly()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Restart, Shutdown};
    use crate::ExitReason;

    // G2: each given a time, no time, or all the time it wants
    #[test]
    fn what_a_child_that_is_stopped_may_end_with() {
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
