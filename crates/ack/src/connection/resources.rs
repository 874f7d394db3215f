//! Detection of exhausted system resources: descriptors and memory.

use std::io;
use std::time::Duration;

/// Delay before a retry.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// Whether the error is a lack of descriptors or memory.
pub(crate) fn is_resource_exhausted(error: &io::Error) -> bool {
    let wants = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    error.raw_os_error().is_some_and(|error| wants.contains(&error))
}
