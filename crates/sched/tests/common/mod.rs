//! Guard and polling shared by the integration tests of the scheduler.

use std::time::{Duration, Instant};

/// WHY real time: a guard against hanging, more than a thousand times what any wait here takes.
pub(crate) const HANG: Duration = Duration::from_secs(120);

/// Polls until `holds` returns `true`, at most for [`HANG`].
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < HANG, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
