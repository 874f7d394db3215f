//! Log messages about a tokio task that does not await. A separate test binary: the thread that watches the I/O threads
//! writes them, so they reach only the global subscriber.

#[path = "it/common/mod.rs"]
mod common;

use std::sync::mpsc::channel;

use common::{ends, said, stop};
use purlin::{ExitReason, Node, Process};

// F2: the log has the node and the time, at the beginning and at the end
#[test]
fn the_log_reports_a_task_that_holds_an_io_thread_and_its_end() {
    let log = common::log();
    let node = Node::builder().name("io-log").io_threads(1).build().expect("a node starts");
    let (release, released) = channel::<()>();
    let task = node.spawn(async |_: Process<()>| {
        let task = tokio::spawn(async move { released.recv().expect("it is released") });
        task.await.expect("no panic");
    });
    let parts = ["WARN", "purlin::stalled", "holds an I/O thread", "node=\"io-log\"", "elapsed="];
    said(&log, &parts);
    release.send(()).expect("it waits");
    said(&log, &["WARN", "is free again", "elapsed="]);
    assert_eq!(ends(&task), ExitReason::Normal);
    stop(&node);
}
