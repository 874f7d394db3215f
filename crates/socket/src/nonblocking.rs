//! Non-blocking system calls.
//!
//! COST: the system call.

use std::io::{self, ErrorKind};

/// Runs a non-blocking system call, retrying on `EINTR`. Returns `None` if it would block.
///
/// # Errors
/// Those of the call.
pub fn now_or_would_block(
    mut call: impl FnMut() -> io::Result<usize>,
) -> io::Result<Option<usize>> {
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
