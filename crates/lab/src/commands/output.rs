//! Standard output, standard error and exit status of the commands.

use std::io::{self, Write};

use crate::error::Problem;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Every requested measurement produced results.
    Well,
    /// A contender failed or samples are invalid; the rest produced results.
    WithLosses,
    /// The user interrupted the run.
    Interrupted,
}

impl Ended {
    /// Returns the exit status.
    pub(super) fn status(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::WithLosses => 1,
            Self::Interrupted => 130,
        }
    }
}

/// Prints to standard output. A closed pipe is not an error.
///
/// # Errors
///
/// Returns one line if standard output cannot be written.
pub fn print(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line to standard error.
///
/// WHY errors are ignored: a lost message must not change what the command does.
/// `eprintln!` panics if standard error is closed or full.
pub fn print_error(line: &str) {
    // WHY one write: the lines of programs that share standard error are not mixed.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}
