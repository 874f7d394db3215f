//! One call to the operating system that does not block. Anybody may use it.
//!
//! COST: the call.

use std::io::{self, ErrorKind};

/// What such a call did; `None` if it would have had to wait.
pub(crate) fn at_once(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match call() {
            Ok(count) => return Ok(Some(count)),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => return Ok(None),
                ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
}
