//! Tests of stopping a node whose processes do not all end, on a manual clock: a grace period ends
//! when the test advances the clock, and never before the other processes have ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use purlin_sched::{Clock, ClockHand};

use super::{GRACE, KILL_GRACE, StopReport};
use crate::call::request::block_on;
use crate::{ExitReason, Node, Pid, Process, ProcessId, SpawnOptions, yield_now};

/// Returns a node with one worker, and the hand of its manual clock.
fn node() -> (Node, ClockHand) {
    let (clock, hand) = Clock::manual();
    let node = Node::builder().workers(1).build_with(clock).expect("a node starts");
    (node, hand)
}

/// Stops a node; advances its clock once `innocent` has ended.
fn stop(node: &Node, hand: &ClockHand, innocent: &Pid<()>) -> StopReport {
    let clock = node.inner().scheduler.timers().wheel(0).clone();
    let began = clock.now();
    thread::scope(|scope| {
        let (report, reports) = channel();
        scope.spawn(move || report.send(node.stop_blocking()).expect("the test waits"));
        assert_eq!(block_on(innocent.ended()), ExitReason::Shutdown);
        // WHY repeatedly: the stop sets its second timer after the first has expired.
        let report = loop {
            hand.advance(KILL_GRACE);
            // WHY real time: a pause between two steps of the clock; its length has no effect on
            // the result.
            if let Ok(report) = reports.recv_timeout(Duration::from_millis(1)) {
                break report;
            }
        };
        assert!(clock.now() - began >= GRACE + KILL_GRACE, "the processes had less time");
        report
    })
}

fn hogs(report: &StopReport) -> Vec<ProcessId> {
    report.hogs.iter().map(|hog| hog.id).collect()
}

/// Process function that waits for the shutdown signal.
async fn innocent(mut me: Process<()>) {
    me.receive().await;
}

// E1, F2: the stop is bounded, reports the process that does not await, and ends every other
#[test]
fn a_process_that_computes_on_is_reported_and_abandoned_after_the_grace_period() {
    let (node, hand) = node();
    let (began, begins) = channel();
    let go_on = Arc::new(AtomicBool::new(true));
    let goes_on = Arc::clone(&go_on);
    let hog = node.spawn(async move |_: Process<()>| {
        began.send(()).expect("the test waits");
        while goes_on.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
    });
    begins.recv().expect("the hog begins");
    let innocent = node.spawn(innocent);
    let report = stop(&node, &hand, &innocent);
    assert_eq!(hogs(&report), [hog.id()]);
    assert!(report.hogs[0].function.contains("computes_on"), "{}", report.hogs[0].function);
    assert!(report.stranded.is_empty(), "{:?}", report.stranded);
    assert_eq!(hog.exit_reason(), None);
    drop(node);
    hog.send(());
    go_on.store(false, Ordering::Release);
    assert_eq!(block_on(hog.ended()), ExitReason::Normal);
}

// E1, F2: a hog that its stopped node has abandoned ends with its thread
#[test]
fn a_hog_that_awaits_after_its_node_has_stopped_ends_killed() {
    let (node, hand) = node();
    let (began, begins) = channel();
    let (release, released) = channel::<()>();
    let hog = node.spawn(async move |mut me: Process<()>| {
        began.send(()).expect("the test waits");
        released.recv().expect("the test lets it go");
        yield_now().await;
        me.receive().await;
    });
    begins.recv().expect("the hog begins");
    let innocent = node.spawn(innocent);
    assert_eq!(hogs(&stop(&node, &hand, &innocent)), [hog.id()]);
    drop(node);
    release.send(()).expect("the hog waits");
    assert_eq!(block_on(hog.ended()), ExitReason::Killed);
}

// E1: a blocking process receives the shutdown signal; one that continues to block is reported, and ends
// when its call returns
#[test]
fn blocking_process_that_keeps_blocking_is_reported_and_ends_killed() {
    let (node, hand) = node();
    let (began, begins) = channel();
    let (release, released) = channel::<()>();
    let blocking = SpawnOptions::new().blocking();
    let blocked = blocking.clone().spawn_on(&node, async move |mut me: Process<()>| {
        began.send(()).expect("the test waits");
        released.recv().expect("the test lets it go");
        me.receive().await;
    });
    let blocked = blocked.expect("there is room");
    begins.recv().expect("the process begins");
    let innocent = blocking.spawn_on(&node, innocent).expect("there is room");
    assert_eq!(hogs(&stop(&node, &hand, &innocent)), [blocked.id()]);
    drop(node);
    release.send(()).expect("the process waits");
    assert_eq!(block_on(blocked.ended()), ExitReason::Killed);
}
