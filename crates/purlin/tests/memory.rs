//! Memory use of processes and messages, measured exactly by a counting allocator: each allocation
//! is accounted for and freed again.
//!
//! The allocator counts for the whole test binary, so one test runs at a time. The test harness
//! itself allocates little; the leeways below allow for it.

#[path = "it/common/mod.rs"]
mod common;

use std::alloc::System;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::{ends, node, stop, until};
use purlin::{ExitReason, Node, Pid, Process, Reply, consume_budget, receive, spawn, yield_now};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes used by a process that waits in `receive` and holds nothing else.
const IDLE: usize = 128;
/// Bytes that an ended process leaves: its slot in the process table and an index in the free list.
const SLOT: usize = 16 + 4;
/// Bytes used by a queued message that is a number.
const ENVELOPE: usize = 16;
/// Blocks of one size in a thread's cache.
const KEPT: usize = 512;
/// Upper bound for the caches of a node's threads.
const KEEPING: usize = 512 * 1024;
/// Upper bound for temporary memory: cached envelopes, and a worker thread started because the
/// machine is busy.
const LEEWAY: usize = 64 * 1024;
/// Number of processes in a crowd.
const MANY: usize = 50_000;

/// Runs one test at a time, on a new node, and asserts that all memory is free after the node is
/// dropped.
fn with_node(workers: usize, test: impl FnOnce(&Node)) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = in_use();
    let node = node(workers);
    test(&node);
    stop(&node);
    drop(node);
    // Worker memory is freed when the threads exit, shortly after the node counts them as gone.
    until("all is given back", || in_use() <= before + LEEWAY);
}

/// Returns the number of allocated bytes.
fn in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Returns the number of allocations and reallocations.
fn asked() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

/// Runs a function in the only process of the node, and asserts that it exits with reason `normal`.
fn in_process<F: Future + Send + 'static>(node: &Node, function: F)
where
    F::Output: purlin::Outcome,
{
    let pid = node.spawn(|_: Process<()>| function);
    assert_eq!(ends(&pid), ExitReason::Normal);
}

/// Number of crowd processes that have reached their `receive`.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Spawns `n` processes and waits until each has reached its `receive`.
///
/// WHY in batches: a run queue of more than 64 entries grows, and that allocation is not under
/// test.
async fn crowd(n: usize) -> Vec<Pid<()>> {
    WAITING.store(0, Ordering::Relaxed);
    let mut pids = Vec::with_capacity(n);
    while pids.len() < n {
        for _ in 0..32.min(n - pids.len()) {
            pids.push(spawn(async |mut me: Process<()>| {
                WAITING.fetch_add(1, Ordering::Relaxed);
                me.receive().await;
            }));
        }
        while WAITING.load(Ordering::Relaxed) < pids.len() {
            yield_now().await;
        }
    }
    pids
}

/// Ends all processes of a crowd, in batches.
async fn disperse(pids: Vec<Pid<()>>) {
    for few in pids.chunks(32) {
        for pid in few {
            pid.send(());
        }
        while few.iter().any(Pid::is_alive) {
            yield_now().await;
        }
    }
}

/// Asserts that a repeated step stops allocating after a warm-up.
macro_rules! demand_no_allocation {
    ($($step:tt)*) => {{
        // WHY repeated: on a busy machine the node starts more threads, which also allocate. A step
        // that allocates does so every time.
        let mut most = 0;
        for _ in 0..20 {
            let mut free_of_it = 0;
            for _ in 0..100 {
                let before = asked();
                for _ in 0..100 {
                    $($step)*
                }
                free_of_it += usize::from(asked() == before);
            }
            most = most.max(free_of_it);
            if most >= 90 {
                break;
            }
        }
        assert!(most >= 90, "at most {most} of 100 rounds did without the allocator");
    }};
}

#[test]
fn spawning_a_process_allocates_once_and_an_idle_one_is_no_larger_than_it_was() {
    with_node(1, |node| {
        in_process(node, async {
            disperse(crowd(MANY).await).await;
            let (asked_before, before) = (asked(), in_use());
            let pids = crowd(MANY).await;
            let (allocations, bytes) = (asked() - asked_before, in_use() - before);
            // WHY a range: the first blocks come from the cache, and a busy machine starts a worker
            // thread.
            let once = MANY - 2 * KEPT..=MANY + MANY / 100;
            assert!(once.contains(&allocations), "{allocations} allocations for {MANY} processes");
            let each = (bytes - size_of_val(&*pids)).div_ceil(MANY);
            assert!(each <= IDLE, "an idle process has {each} bytes, more than {IDLE}");
            disperse(pids).await;
        });
    });
}

#[test]
fn fifty_thousand_processes_leave_their_slots_and_nothing_else() {
    with_node(2, |node| {
        let before = in_use();
        let mut after = Vec::new();
        for _ in 0..3 {
            in_process(node, async { disperse(crowd(MANY).await).await });
            after.push(in_use() - before);
        }
        let most = MANY.next_power_of_two() * SLOT + KEEPING;
        assert!(after.iter().all(|after| *after <= most), "bytes left after each round: {after:?}");
    });
}

#[test]
fn a_node_that_is_dropped_leaves_nothing() {
    with_node(2, |node| in_process(node, async { disperse(crowd(MANY).await).await }));
}

#[test]
fn sending_receiving_calling_and_timers_do_not_allocate_after_a_warm_up() {
    with_node(1, |node| {
        in_process(node, async {
            let server = spawn(async |mut me: Process<Reply<u64>>| {
                loop {
                    me.receive().await.send(7);
                }
            });
            demand_no_allocation! { assert_eq!(server.call(|reply| reply).await, Ok(7)); };
        });
        let pid = node.spawn(async |mut me: Process<u64>| {
            let own = me.pid();
            let echo = spawn(async move |mut me: Process<u64>| {
                loop {
                    own.send(me.receive().await);
                }
            });
            demand_no_allocation! {
                echo.send(7);
                assert_eq!(me.receive().await, 7);
            };
            demand_no_allocation! {
                let timer = echo.send_after(Duration::from_secs(3600), 7);
                assert!(timer.cancel().is_some());
                yield_now().await;
            };
            demand_no_allocation! {
                echo.send(7);
                let came = receive!(me, { n => n, after Duration::from_secs(3600) => 0 });
                assert_eq!(came, 7);
            };
        });
        assert_eq!(ends(&pid), ExitReason::Normal);
    });
}

#[test]
fn a_mailbox_that_held_many_messages_gives_them_all_back() {
    const MESSAGES: usize = 250_000;
    with_node(1, |node| {
        let pid = node.spawn(async |mut me: Process<usize>| {
            let (before, own) = (in_use(), me.pid());
            for n in 0..MESSAGES {
                own.send(n);
                consume_budget().await;
            }
            let full = in_use() - before;
            for n in 0..MESSAGES {
                assert_eq!(me.receive().await, n);
            }
            let empty = in_use().saturating_sub(before);
            assert!(full >= MESSAGES * ENVELOPE - LEEWAY, "{full} bytes cannot hold them all");
            assert!(empty <= LEEWAY, "{empty} bytes are left of {full}");
        });
        assert_eq!(ends(&pid), ExitReason::Normal);
    });
}
