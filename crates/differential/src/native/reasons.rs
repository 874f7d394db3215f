//! The reasons of programs as purlin's, and back.

use purlin::ExitReason;

use crate::language::Reason;

/// What a process ends with, or is sent.
pub(super) fn reason_of(reason: Reason) -> ExitReason {
    match reason {
        Reason::Normal => ExitReason::Normal,
        Reason::Shutdown => ExitReason::Shutdown,
        Reason::ShutdownWith => ExitReason::shutdown_with("x"),
        Reason::Kill => ExitReason::Kill,
        Reason::Killed => ExitReason::Killed,
        Reason::NoProcess => ExitReason::NoProcess,
        Reason::NoConnection => ExitReason::NoConnection,
        Reason::Boom | Reason::Bang | Reason::Crash | Reason::Other => {
            ExitReason::error(reason.to_string())
        }
    }
}

/// What was seen.
pub(super) fn reason(reason: &ExitReason) -> Reason {
    match reason {
        ExitReason::Normal => Reason::Normal,
        ExitReason::Shutdown => Reason::Shutdown,
        ExitReason::ShutdownWith(_) => Reason::ShutdownWith,
        ExitReason::Kill => Reason::Kill,
        ExitReason::Killed => Reason::Killed,
        ExitReason::NoProcess => Reason::NoProcess,
        ExitReason::NoConnection => Reason::NoConnection,
        ExitReason::Error(cause) => error(&cause.to_string()),
        ExitReason::Panic(panic) if panic.message == "crash" => Reason::Crash,
        _ => Reason::Other,
    }
}

/// An error by what it says, which is its term if it has come from a BEAM; a binary in it is what one of
/// ours said, and has come back.
fn error(says: &str) -> Reason {
    match says {
        "boom" | "<<\"boom\">>" => Reason::Boom,
        "bang" | "<<\"bang\">>" => Reason::Bang,
        _ if says.starts_with("{crash,") || says.starts_with("{panic,") => Reason::Crash,
        _ => Reason::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{reason, reason_of};
    use crate::language::Reason;

    #[test]
    fn a_reason_that_a_program_can_give_is_seen_as_it_was_given() {
        for given in Reason::ALL.into_iter().filter(|given| *given != Reason::Crash) {
            assert_eq!(reason(&reason_of(given)), given);
        }
    }
}
