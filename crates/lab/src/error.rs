//! What the lab refuses: one line that says what is wrong and what to do.

use std::fmt;

/// A request that cannot be carried out; the command ends with status 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(String);

impl Problem {
    /// From one line. The name of a file or a contender in it cannot make it two.
    #[must_use]
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
