//! A node with nothing to do wakes no thread, however many processes wait.

#![cfg(target_os = "linux")]

#[path = "it/common/mod.rs"]
mod common;

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{stop, until};
use purlin::{Node, Process, receive};

/// The first word of the names of the node's threads.
const NAME: &str = "at-rest";
const WAITING: usize = 5_000;
/// How many of the waiting have a timer, a long one.
const WITH_TIMER: usize = 1_000;
/// How long no thread may wake up.
///
/// WHY real time: this is a lower bound. In that time a monitor that does not rest looks a thousand
/// times, on a busy machine at least a few times.
const STRETCH: Duration = Duration::from_millis(500);

/// What the kernel tells of the node's threads: the number and the state of each, and how often it was
/// given a processor.
fn threads() -> Vec<(String, String, u64)> {
    let tasks = fs::read_dir("/proc/self/task").expect("the kernel lists the threads");
    // A thread that has just ended has no status any more.
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
    let node = Node::builder().name(NAME).workers(2).build().expect("a node starts");
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
    // The node comes to rest a few milliseconds later, or more on a busy machine.
    until("no thread wakes up during a whole stretch", || {
        let before = threads();
        // WHY real time: the absence of wake-ups needs a stretch to be absent from; any length proves it.
        thread::sleep(STRETCH);
        // Two workers, the monitor and the thread for sockets.
        let asleep = before.iter().filter(|(_, state, _)| state.starts_with('S')).count();
        (before.len(), asleep) == (4, 4) && threads() == before
    });
    stop(&node);
}
