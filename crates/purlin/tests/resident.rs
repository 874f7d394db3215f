//! Resident memory after a crowd of processes has ended, as reported by the operating system.
//!
//! A separate test binary with one test, because it measures the whole program.

// WHY only glibc: other C libraries have their own rules for returning memory.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "it/common/mod.rs"]
mod common;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{ends, node, stop, until};
use purlin::{ExitReason, Node, Pid, Process, consume_budget, spawn};

const PROCESSES: usize = 300_000;
const ROUNDS: usize = 3;
/// Minimum amount of memory that the node trims, counted above 1.25 times the lowest resident size
/// (`sched/src/trim.rs`).
const LEAST: usize = 16 << 20;
/// Environment variable that limits glibc to one arena for all threads.
///
/// WHY: with several arenas, the amount kept at their ends depends on which thread allocated a
/// block and which thread freed it last.
const SETTING: (&str, &str) = ("MALLOC_ARENA_MAX", "1");

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Returns the resident size of this program in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel reports it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    let kilobytes = line.split_whitespace().next().expect("a number and its unit");
    1024 * kilobytes.parse::<usize>().expect("a number")
}

/// Runs [`PROCESSES`] processes at the same time, lets them end, and returns the resident size
/// while all were alive.
fn round(node: &Node) -> usize {
    ENDED.store(0, Ordering::Relaxed);
    let (tx, rx) = std::sync::mpsc::channel();
    let parent = node.spawn(async move |_: Process<()>| {
        let mut pids: Vec<Pid<()>> = Vec::with_capacity(PROCESSES);
        for _ in 0..PROCESSES {
            pids.push(spawn(async |mut me: Process<()>| {
                me.receive().await;
                ENDED.fetch_add(1, Ordering::Relaxed);
            }));
            consume_budget().await;
        }
        tx.send(resident()).expect("the test waits");
        for pid in pids {
            pid.send(());
            consume_budget().await;
        }
    });
    assert_eq!(ends(&parent), ExitReason::Normal);
    until("all have ended", || ENDED.load(Ordering::Relaxed) == PROCESSES);
    rx.recv().expect("it was sent")
}

/// Returns whether the trim thread is running.
fn gives_back() -> bool {
    let threads = std::fs::read_dir("/proc/self/task").expect("the kernel reports it");
    // A thread that has just exited no longer has a name.
    let names = threads.flatten().flat_map(|thread| std::fs::read(thread.path().join("comm")));
    names.into_iter().any(|name| name.ends_with(b"-trim\n"))
}

fn rounds() {
    let node = node(2);
    let most = round(&node);
    until("most of it is given back", || resident() < most / 2);
    until("no more is given back", || !gives_back());
    let least = resident();
    // WHY a tenth: a block in a thread's cache keeps its whole page resident.
    let limit = least + least / 4 + LEAST + most / 10;
    println!("{most} bytes at most, {least} left, {limit} are the limit");
    assert!(limit < most, "of {most} bytes {limit} are no limit");
    for number in 2..=ROUNDS {
        let held = round(&node);
        let what = format!("of {held} bytes round {number} leaves no more than {limit}");
        until(&what, || resident() <= limit);
    }
    stop(&node);
}

#[test]
fn resident_memory_does_not_grow_from_crowd_to_crowd() {
    if std::env::var(SETTING.0).is_ok_and(|value| value == SETTING.1) {
        return rounds();
    }
    // WHY a child process: glibc reads the setting at program start.
    let program = std::env::current_exe().expect("this program has a name");
    let ended = Command::new(program).env(SETTING.0, SETTING.1).status().expect("it begins");
    assert!(ended.success(), "the program with {SETTING:?} failed");
}
