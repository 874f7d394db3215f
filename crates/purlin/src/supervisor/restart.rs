//! Restart types and automatic shutdown: whether a child that has ended is restarted, and whether
//! its supervisor ends with it.
//!
//! Pure functions; [`Restart`] and [`AutoShutdown`] are public.

use crate::ExitReason;

/// Restart type of a child: when the child is restarted after it has ended (G2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Restart {
    /// Always restarted.
    #[default]
    Permanent,
    /// Restarted if its exit was not orderly, that is not with `normal`, `shutdown` or `{shutdown,
    /// _}`.
    Transient,
    /// Never restarted. The supervisor drops its child spec when it ends, also if it was stopped
    /// because of a sibling.
    Temporary,
}

/// Whether a supervisor ends, with `shutdown`, after significant children have ended without being
/// restarted (G2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AutoShutdown {
    /// Never; the supervisor has no significant children.
    #[default]
    Never,
    /// When any significant child has ended.
    AnySignificant,
    /// When the last running significant child has ended.
    AllSignificant,
}

/// What a supervisor does after a child has ended without being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterEnd {
    /// Restarts the child, if the restart intensity allows it, and reports the exit.
    Restart,
    /// Does not restart the child; reports the exit if it was not orderly.
    Stay {
        /// Whether the exit is reported.
        report: bool,
    },
}

impl Restart {
    /// Returns what follows the end of a child of this restart type with this reason.
    pub(crate) fn after(self, reason: &ExitReason) -> AfterEnd {
        match self {
            Self::Permanent => AfterEnd::Restart,
            Self::Transient if !reason.is_orderly() => AfterEnd::Restart,
            Self::Transient | Self::Temporary => AfterEnd::Stay { report: !reason.is_orderly() },
        }
    }

    /// Returns whether the child spec stays when the child is stopped or not restarted.
    pub(crate) fn is_kept(self) -> bool {
        self != Self::Temporary
    }
}

impl AutoShutdown {
    /// Returns whether the supervisor ends after a child has ended without a restart. `others`
    /// returns whether another significant child runs or is about to.
    pub(crate) fn ends(self, significant: bool, others: impl FnOnce() -> bool) -> bool {
        match self {
            Self::Never => false,
            Self::AnySignificant => significant,
            Self::AllSignificant => significant && !others(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AfterEnd, AutoShutdown, Restart};
    use crate::ExitReason;

    // G2: permanent, transient, temporary
    #[test]
    fn restart_type_and_exit_reason_decide_whether_a_child_is_restarted() {
        use Restart::{Permanent, Temporary, Transient};
        let (orderly, not) = (AfterEnd::Stay { report: false }, AfterEnd::Stay { report: true });
        let table = [
            (Permanent, ExitReason::Normal, AfterEnd::Restart),
            (Permanent, ExitReason::Shutdown, AfterEnd::Restart),
            (Permanent, ExitReason::Killed, AfterEnd::Restart),
            (Transient, ExitReason::Normal, orderly),
            (Transient, ExitReason::Shutdown, orderly),
            (Transient, ExitReason::Killed, AfterEnd::Restart),
            (Temporary, ExitReason::Normal, orderly),
            (Temporary, ExitReason::Shutdown, orderly),
            (Temporary, ExitReason::Killed, not),
        ];
        for (restart, reason, expected) in table {
            assert_eq!(restart.after(&reason), expected, "{restart:?} {reason}");
        }
    }

    // G2: never, any significant, all significant
    #[test]
    fn auto_shutdown_decides_whether_the_supervisor_ends() {
        use AutoShutdown::{AllSignificant, AnySignificant, Never};
        // Policy, whether the child is significant, whether others are left; whether the supervisor
        // ends.
        let table = [
            (Never, true, false, false),
            (Never, false, false, false),
            (AnySignificant, true, true, true),
            (AnySignificant, true, false, true),
            (AnySignificant, false, false, false),
            (AllSignificant, true, true, false),
            (AllSignificant, true, false, true),
            (AllSignificant, false, false, false),
        ];
        for (policy, significant, others, ends) in table {
            assert_eq!(policy.ends(significant, || others), ends, "{policy:?} {significant}");
        }
    }
}
