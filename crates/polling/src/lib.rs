//! Polling for tests: waits for a condition, and fails a test that would wait forever.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for an event before it fails.
///
/// WHY real time: a guard against hanging. Nothing that a test waits for takes a second on an idle machine, so no
/// result depends on this limit.
pub const HANG: Duration = Duration::from_secs(120);

/// Polls until `holds` returns `true`.
///
/// # Panics
///
/// Panics after [`HANG`], with `what` in the message.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || holds().then_some(()));
}

/// Polls until `find` returns a value, and returns that value.
///
/// # Panics
///
/// Panics after [`HANG`], with `what` in the message.
#[track_caller]
pub fn until_some<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    // WHY real time: see `HANG`.
    let began = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(began.elapsed() < HANG, "timed out after {HANG:?} waiting until {what}");
        // WHY a pause: the threads that make the condition true need the processor.
        thread::sleep(Duration::from_millis(1));
    }
}
