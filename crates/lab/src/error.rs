//! The lab's error: one line that states the problem and the remedy.

use std::fmt;

/// A request that cannot be carried out; the command exits with status 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(String);

impl Problem {
    /// Creates a problem from one line. Control characters become spaces, so a file name or a
    /// contender's name cannot add a line.
    pub fn new(line: impl Into<String>) -> Self {
        Self(line.into().replace(char::is_control, " "))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}
