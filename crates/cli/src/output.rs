//! Standard output and errors of the commands.

use purlin::ExitReason;
use purlin_lab::error::Problem;

pub(crate) use purlin_lab::commands::{print, print_error};

/// Returns the line with the counters that are not 0.
pub(crate) fn with_counters(mut line: String, counters: &[(u64, &str)]) -> String {
    for (number, what) in counters.iter().filter(|(number, _)| *number > 0) {
        line += &format!(", {number} {what}");
    }
    line + "\n"
}

/// Reports that the main process of a command's node was ended, by another node for example. Returns
/// the exit status.
pub(crate) fn main_process_ended(command: &str, reason: &ExitReason) -> u8 {
    let line = Problem::new(format!("purlin {command}: the main process was ended: {reason}"));
    print_error(&line.to_string());
    1
}

/// Converts an error of another crate.
pub(crate) fn problem(error: impl ToString) -> Problem {
    Problem::new(error.to_string())
}
