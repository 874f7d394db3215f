//! What a million processes leave resident when they have ended, as the operating system sees it.
//!
//! A program of its own with one test, since it reads the memory of the whole program.

// WHY only there: elsewhere it is the C library's business what it gives back, and when.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{node, outside, stop, until};
use purlin::{ExitReason, Node, Pid, Process, consume_budget, spawn};

const PROCESSES: usize = 1_000_000;
/// WHY fewer in a build that is not optimised: each takes four seconds there.
const ROUNDS: usize = if cfg!(debug_assertions) { 3 } else { 10 };
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Bytes of this program that are in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    let kilobytes = line.split_whitespace().next().expect("a number and its unit");
    1024 * kilobytes.parse::<usize>().expect("a number")
}

/// A million processes that live at the same time and then end; says what was resident while all
/// lived.
fn round(node: &Node) -> usize {
    ENDED.store(0, Ordering::Relaxed);
    let (tell, told) = std::sync::mpsc::channel();
    let parent = node.spawn(async move |_: Process<()>| {
        let mut pids: Vec<Pid<()>> = Vec::with_capacity(PROCESSES);
        for _ in 0..PROCESSES {
            pids.push(spawn(async |mut me: Process<()>| {
                me.receive().await;
                ENDED.fetch_add(1, Ordering::Relaxed);
            }));
            consume_budget().await;
        }
        tell.send(resident()).expect("the test waits");
        for pid in pids {
            pid.send(());
            consume_budget().await;
        }
    });
    assert_eq!(outside(parent.ended()), ExitReason::Normal);
    until("all have ended", || ENDED.load(Ordering::Relaxed) == PROCESSES);
    told.recv().expect("it was told")
}

// WHY half, where about a tenth is in use: the C library keeps the ends of its heaps, and a page for
// the sake of one block.
#[test]
fn of_a_million_processes_less_than_half_stays_resident_however_often_they_come_and_go() {
    let node = node(2);
    let mut most = usize::MAX;
    for number in 1..=ROUNDS {
        most = most.min(round(&node));
        let what = format!("round {number} leaves less than half of {most} bytes");
        until(&what, || resident() < most / 2);
    }
    stop(&node);
}
