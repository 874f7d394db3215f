//! Exit reason that is a result and not a failure.

use std::error::Error;
use std::fmt;

use crate::Cause;

/// Exit reason that carries the answer to a remote caller, as in Erlang's `erpc`. It is not a failure, so it is not
/// logged.
#[derive(Debug)]
pub struct Answer(pub Cause);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Answer {}
