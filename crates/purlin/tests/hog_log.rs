//! Log messages about a process that does not await. A separate test binary: the `sysmon` thread
//! writes them, so they reach only the global subscriber.

#[path = "it/common/mod.rs"]
mod common;

use std::sync::mpsc::channel;

use common::{ends, node, said, stop};
use purlin::{ExitReason, Process};

// F2: the log has the pid, the function and the time, at the beginning and at the end
#[test]
fn the_log_names_a_hog_and_reports_its_end() {
    let log = common::log();
    let node = node(1);
    let (release, released) = channel::<()>();
    let hog = node.spawn(async move |_: Process<()>| {
        released.recv().expect("it is released");
    });
    let waits = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&waits), ExitReason::Normal);
    let pid = format!("pid={}", hog.id());
    said(
        &log,
        &[
            "WARN",
            "has not yielded",
            "awaits only what is ready",
            &pid,
            "the_log_names_a_hog",
            "elapsed=",
        ],
    );
    release.send(()).expect("it waits");
    said(&log, &["WARN", "no longer holds up", &pid, "elapsed="]);
    assert_eq!(ends(&hog), ExitReason::Normal);
    stop(&node);
}
