//! What becomes of a child that has ended, and whether its supervisor ends with it.
//!
//! Pure functions; [`Restart`] and [`AutoShutdown`] are the user's.

use crate::ExitReason;

/// When a child is restarted after it has ended (G2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Restart {
    /// Always.
    #[default]
    Permanent,
    /// When it ended otherwise than in an orderly way: not with `normal`, `shutdown` or
    /// `{shutdown, _}`.
    Transient,
    /// Never. Its specification goes with it, also when it was stopped because of a sibling.
    Temporary,
}

/// Whether a supervisor ends by itself, with `shutdown`, when significant children have ended for
/// good (G2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AutoShutdown {
    /// It does not, and has no significant children.
    #[default]
    Never,
    /// When one of them has.
    AnySignificant,
    /// When the last of them that ran has.
    AllSignificant,
}

/// What becomes of a child that has ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterEnd {
    /// It is restarted, if the intensity allows it; its end is reported.
    Restart,
    /// It stays ended; its end is reported if it was not orderly.
    Stay {
        /// Whether the end is reported.
        report: bool,
    },
}

impl Restart {
    /// What becomes of a child of this kind that ended for that reason.
    pub(crate) fn after(self, reason: &ExitReason) -> AfterEnd {
        match self {
            Self::Permanent => AfterEnd::Restart,
            Self::Transient if !reason.is_orderly() => AfterEnd::Restart,
            Self::Transient | Self::Temporary => AfterEnd::Stay { report: !reason.is_orderly() },
        }
    }

    /// Whether the specification of a child that is stopped, or stays ended, is kept.
    pub(crate) fn is_kept(self) -> bool {
        self != Self::Temporary
    }
}

impl AutoShutdown {
    /// Whether the supervisor ends now that a child stays ended. `others` tells whether a
    /// significant child still runs, or is about to.
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
    fn a_child_is_restarted_by_its_kind_and_by_how_it_ended() {
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
    fn a_supervisor_ends_by_itself_by_its_policy() {
        use AutoShutdown::{AllSignificant, AnySignificant, Never};
        // The policy, whether the child is significant, whether others are left; whether it ends.
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
