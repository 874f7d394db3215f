//! An idle node wakes no thread, regardless of the number of waiting processes.

#![cfg(target_os = "linux")]

#[path = "it/common/mod.rs"]
mod common;

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{stop, until};
use purlin::{ExitReason, Node, Process, receive, spawn};

/// Prefix of the thread names of the idle node.
const NAME: &str = "at-rest";
const WAITING: usize = 5_000;
/// Number of waiting processes that also have a long timer.
const WITH_TIMER: usize = 1_000;
/// Round trips made by the other node while no thread of the idle node may wake. They take at least 0.1 s; a `sysmon`
/// thread that is not at rest samples about 200 times in that time.
const ROUND_TRIPS: usize = 20_000;

/// The node's threads as the kernel reports them: thread id, state and number of context switches.
fn threads() -> Vec<(String, String, u64)> {
    let tasks = fs::read_dir("/proc/self/task").expect("the kernel lists the threads");
    // A thread that has just exited no longer has a status file.
    let statuses = tasks.flatten().flat_map(|task| fs::read_to_string(task.path().join("status")));
    let of_node = statuses.filter(|status| status.starts_with(&format!("Name:\t{NAME}")));
    let mut threads: Vec<_> = of_node
        .map(|status| {
            let fields = status.lines().filter_map(|line| line.split_once(":\t"));
            let fields: HashMap<_, _> = fields.collect();
            let count = |name| fields[name].parse::<u64>().expect("a count");
            let switches = count("voluntary_ctxt_switches") + count("nonvoluntary_ctxt_switches");
            (fields["Pid"].to_owned(), fields["State"].to_owned(), switches)
        })
        .collect();
    threads.sort();
    threads
}

#[test]
fn a_node_whose_processes_all_wait_wakes_no_thread() {
    let node = Node::builder().name(NAME).workers(2).io_threads(2).build().expect("a node starts");
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
    // WHY another node: its work is the event to wait for, and the idle node takes no part in it.
    let other = Node::builder().name("other").workers(1).build().expect("a node starts");
    // The node becomes idle after a few milliseconds, later on a busy machine.
    until("no thread wakes up while the other node works", || {
        let before = threads();
        other.block_on(round_trips);
        // Two workers, the `sysmon` thread, two I/O threads and the thread that watches them.
        let asleep = before.iter().filter(|(_, state, _)| state.starts_with('S')).count();
        (before.len(), asleep) == (6, 6) && threads() == before
    });
    stop(&other);
    stop(&node);
}

/// Two processes exchange [`ROUND_TRIPS`] messages in turn.
async fn round_trips(mut me: Process<()>) {
    let parent = me.pid();
    let echo = spawn(async move |mut me: Process<()>| {
        loop {
            me.receive().await;
            parent.send(());
        }
    });
    for _ in 0..ROUND_TRIPS {
        echo.send(());
        me.receive().await;
    }
    echo.exit(ExitReason::Killed);
}
