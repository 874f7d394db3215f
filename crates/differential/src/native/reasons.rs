//! Conversion between the reasons of programs and those of purlin.

use purlin::ExitReason;

use crate::language::Reason;

/// Returns the exit reason to end with or to send.
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

/// Returns the program's reason for an observed exit reason.
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

/// Decodes an error from its text. An error from the BEAM is printed as its term; a binary in it is
/// the text of a purlin error that was sent to the BEAM and back.
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
    fn every_reason_of_a_program_survives_the_conversion() {
        for given in [
            Reason::Normal,
            Reason::Shutdown,
            Reason::ShutdownWith,
            Reason::Kill,
            Reason::Killed,
            Reason::NoProcess,
            Reason::Boom,
            Reason::Bang,
            Reason::NoConnection,
            Reason::Other,
        ] {
            assert_eq!(reason(&reason_of(given)), given);
        }
    }
}
