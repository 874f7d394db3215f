//! What the operating system has not for now, and may have later.

use std::io;
use std::time::Duration;

/// How long to wait before it is asked again.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Whether it has no descriptor, or no memory.
pub(super) fn is_for_want(error: &io::Error) -> bool {
    let wants = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    error.raw_os_error().is_some_and(|error| wants.contains(&error))
}
