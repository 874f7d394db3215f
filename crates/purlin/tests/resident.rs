//! What a crowd of processes leaves resident when they have ended, as the operating system sees it.
//!
//! A program of its own with one test, since it reads the memory of the whole program.

// WHY only there: elsewhere it is the C library's business what it gives back, and when.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "it/common/mod.rs"]
mod common;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{ends, node, stop, until};
use purlin::{ExitReason, Node, Pid, Process, consume_budget, spawn};

const PROCESSES: usize = 300_000;
const ROUNDS: usize = 3;
/// Minimum amount of memory that is returned to the system, counted above 1.25 times the lowest resident size
/// (`sched/src/ebb.rs`).
const LEAST: usize = 16 << 20;
/// How glibc is told to have one heap for all threads.
///
/// WHY: with several it depends on which thread took a block, and which one freed it last, how much
/// of the ends of its heaps it keeps.
const SETTING: (&str, &str) = ("MALLOC_ARENA_MAX", "1");

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Bytes of this program that are in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    let kilobytes = line.split_whitespace().next().expect("a number and its unit");
    1024 * kilobytes.parse::<usize>().expect("a number")
}

/// Processes that live at the same time and then end; says what was resident while all
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
    assert_eq!(ends(&parent), ExitReason::Normal);
    until("all have ended", || ENDED.load(Ordering::Relaxed) == PROCESSES);
    told.recv().expect("it was told")
}

/// Whether the thread that gives memory back is at it.
fn gives_back() -> bool {
    let threads = std::fs::read_dir("/proc/self/task").expect("the kernel tells");
    // One that has just ended has no name any more.
    let names = threads.flatten().flat_map(|thread| std::fs::read(thread.path().join("comm")));
    names.into_iter().any(|name| name.ends_with(b"-trim\n"))
}

fn rounds() {
    let node = node(2);
    let most = round(&node);
    until("most of it is given back", || resident() < most / 2);
    until("no more is given back", || !gives_back());
    let least = resident();
    // WHY a tenth: a block that a thread keeps also keeps the page that it lies on.
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
fn each_crowd_of_processes_leaves_what_the_first_left_but_for_a_tenth_of_its_own_memory() {
    if std::env::var(SETTING.0).is_ok_and(|value| value == SETTING.1) {
        return rounds();
    }
    // WHY again: glibc reads the setting when a program begins.
    let program = std::env::current_exe().expect("this program has a name");
    let ended = Command::new(program).env(SETTING.0, SETTING.1).status().expect("it begins");
    assert!(ended.success(), "the program with {SETTING:?} failed");
}
