//! What the log says of a process that does not await. A program of its own, because the monitor
//! logs on a thread of its own and so to the subscriber of the whole program.

#[path = "it/common/mod.rs"]
mod common;

use std::sync::mpsc::channel;

use common::{ends, node, said, stop};
use purlin::{ExitReason, Process};

// F2: who, what and for how long, at the beginning and at the end
#[test]
fn the_log_names_a_hog_and_tells_its_end() {
    let log = common::log();
    let node = node(1);
    let (release, released) = channel::<()>();
    let hog = node.spawn(async move |_: Process<()>| {
        released.recv().expect("it is released");
    });
    let waits = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&waits), ExitReason::Normal);
    let pid = format!("pid={}", hog.id());
    said(&log, &["WARN", "does not await", &pid, "the_log_names_a_hog", "elapsed="]);
    release.send(()).expect("it waits");
    said(&log, &["WARN", "no longer holds up", &pid, "elapsed="]);
    assert_eq!(ends(&hog), ExitReason::Normal);
    stop(&node);
}
