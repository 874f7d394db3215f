//! Standard output and errors of the commands.

use std::io::{self, Write};

use purlin_lab::error::Problem;

/// Prints to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Converts an error of another crate.
pub(crate) fn problem(error: impl ToString) -> Problem {
    Problem::new(error.to_string())
}
