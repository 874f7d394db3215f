//! A node with nothing to do uses no processor time to speak of, however many processes wait.
//!
//! A program of its own with one test, since it reads the time of the whole program.

#![cfg(target_os = "linux")]

#[path = "it/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{node, outside, stop, until};
use purlin::{ExitReason, Process, receive};

/// How long it is watched.
const REST: Duration = Duration::from_secs(10);
/// The most it may use of one core.
const SHARE: f64 = 0.005;
const WAITING: usize = 5_000;
/// How many of the waiting have a timer, a long one.
const WITH_TIMER: usize = 1_000;

/// Processor time that this program has used.
fn used() -> Duration {
    let line = std::fs::read_to_string("/proc/self/stat").expect("the kernel tells");
    // The fields are counted from the bracket that ends the name; time is in hundredths of seconds.
    let fields = line.rsplit_once(')').expect("a name in brackets").1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>());
    let ticks: u64 = ticks.map(|field| field.expect("a number")).sum();
    Duration::from_millis(10 * ticks)
}

#[test]
fn a_node_whose_processes_all_wait_rests() {
    let node = node(2);
    let waiting = Arc::new(AtomicUsize::new(0));
    for n in 0..WAITING {
        let waiting = Arc::clone(&waiting);
        node.spawn(async move |mut me: Process<()>| {
            waiting.fetch_add(1, Ordering::Relaxed);
            if n < WITH_TIMER {
                receive!(me, { () => {}, after Duration::from_secs(3600) => {} });
            } else {
                me.receive().await;
            }
        });
    }
    until("all wait", || waiting.load(Ordering::Relaxed) == WAITING);
    let (began, before) = (Instant::now(), used());
    let alarm = node.spawn(async |mut me: Process<()>| {
        me.pid().send_after(REST, ());
        me.receive().await;
    });
    assert_eq!(outside(alarm.ended()), ExitReason::Normal);
    let (time, used) = (began.elapsed(), used() - before);
    let share = used.as_secs_f64() / time.as_secs_f64();
    assert!(share < SHARE, "it used {used:?} in {time:?}, {:.2} % of a core", 100.0 * share);
    stop(&node);
}
