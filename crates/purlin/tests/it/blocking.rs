//! Processes that may block their thread.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{HANG, ends, node, stop};
use purlin::{CallError, ExitReason, Node, Process, Reply, SpawnOptions, spawn, yield_now};

// F2, P1: a blocking process does not delay other processes, even on a node with one worker
#[test]
fn a_blocking_process_delays_no_worker() {
    let node = node(1);
    let (release, released) = mpsc::channel::<()>();
    let (began, begins) = mpsc::channel();
    let blocks = async move |_: Process<()>| {
        began.send(()).expect("the test waits");
        released.recv().expect("it is released");
    };
    let blocked = SpawnOptions::new().blocking().spawn_on(&node, blocks).expect("there is room");
    begins.recv().expect("it begins");
    let other = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&other), ExitReason::Normal);
    assert!(node.hogs().is_empty(), "it was known beforehand");
    assert!(blocked.is_alive());
    release.send(()).expect("it waits");
    assert_eq!(ends(&blocked), ExitReason::Normal);
    stop(&node);
}

// C1: the budget of a turn does not limit the calls with which a blocking process blocks its thread
#[test]
fn a_blocking_process_learns_of_ended_processes_without_budget() {
    let node = node(2);
    let blocks = async |_: Process<()>| {
        for _ in 0..600 {
            let ends = spawn(async |mut me: Process<Reply<()>>| drop(me.receive().await));
            let error = ends.call_blocking(|reply| reply, HANG).unwrap_err();
            assert_eq!(error, CallError::Ended(ExitReason::Normal));
        }
    };
    let blocks = SpawnOptions::new().blocking().spawn_on(&node, blocks).expect("there is room");
    assert_eq!(ends(&blocks), ExitReason::Normal);
    stop(&node);
}

// P1, M2, R1: a blocking process supports everything an ordinary process does
#[test]
fn a_blocking_process_receives_spawns_calls_and_yields() {
    let node = node(2);
    let sum = async |mut me: Process<(u64, Reply<u64>)>| {
        assert_eq!(Node::current().expect("it is on a node").workers(), 2);
        let doubler = spawn(async |mut me: Process<(u64, Reply<u64>)>| {
            loop {
                let (n, reply) = me.receive().await;
                reply.send(2 * n);
            }
        });
        let mut sum = 0;
        for _ in 0..100 {
            let (n, reply) = me.receive().await;
            yield_now().await;
            sum += doubler.call(|reply| (n, reply)).await.expect("it answers");
            sum += doubler.call_blocking(|reply| (n, reply), HANG).expect("it answers");
            // A blocking process may await tokio's timers, like any other.
            // WHY real time: the future is never ready, so any timeout expires.
            let never =
                tokio::time::timeout(Duration::from_micros(1), std::future::pending::<()>());
            assert!(never.await.is_err());
            reply.send(sum);
        }
        let nested = Node::current().expect("it is on a node");
        assert_eq!(nested.block_on(async |_: Process<()>| 5), 5);
    };
    let sum = SpawnOptions::new().blocking().spawn_on(&node, sum).expect("there is room");
    let mut expected = 0;
    for n in 0..100 {
        expected += 4 * n;
        assert_eq!(sum.call_blocking(|reply| (n, reply), HANG), Ok(expected));
    }
    assert_eq!(ends(&sum), ExitReason::Normal);
    stop(&node);
}

// P2: a panic is the exit reason, and the thread continues
#[purlin::test]
async fn a_panic_ends_only_the_blocking_process() {
    for _ in 0..3 {
        let panics = async |_: Process<()>| panic!("out of paper");
        let pid = SpawnOptions::new().blocking().spawn(panics).expect("there is room");
        let ExitReason::Panic(panic) = pid.ended().await else { panic!("another reason") };
        assert_eq!(panic.message, "out of paper");
    }
    let receives = async |mut me: Process<()>| me.receive().await;
    let child = SpawnOptions::new().blocking().spawn(receives).expect("there is room");
    child.send(());
    assert_eq!(child.ended().await, ExitReason::Normal);
}

// F2: a thread of the blocking pool belongs to a node only while it runs a process
#[test]
fn other_work_on_the_blocking_pool_has_no_current_process() {
    let node = node(1);
    node.block_on(async |_: Process<()>| {
        for _ in 0..20 {
            let turn = SpawnOptions::new().blocking().spawn(async |_: Process<()>| {});
            turn.expect("there is room").ended().await;
            let inside = tokio::task::spawn_blocking(|| Node::current().is_some()).await;
            assert!(!inside.expect("it only asks"));
        }
    });
    stop(&node);
}
