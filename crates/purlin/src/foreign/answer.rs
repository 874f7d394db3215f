//! A reason that is no failure.

use std::error::Error;
use std::fmt;

use crate::Cause;

/// What a process ends with to answer somebody elsewhere, as Erlang's `erpc` has it: the reason is the answer. Nothing
/// has failed, so nothing is logged.
#[derive(Debug)]
pub struct Answer(pub Cause);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Answer {}
