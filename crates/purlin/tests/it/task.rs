//! Tasks: a future that runs as a separate process and returns its result.

use crate::common;
use std::cell::Cell;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{DropCounter, HANG, Notice};
use crate::waiting::{MS, comes, simulated, uptime};
use futures_util::{FutureExt, StreamExt};
use purlin::{ExitReason, Node, Process, Request, spawn, task, yield_now};
use tokio::sync::oneshot;

// G3: the result is returned as a value
#[purlin::test]
async fn a_task_returns_the_output_of_its_future() {
    assert_eq!(task::spawn(async { 6 * 7 }).await, Ok(42));
    let refused: Result<u8, _> = "three hundred".parse();
    assert_eq!(task::spawn(async { "three hundred".parse::<u8>() }).await, Ok(refused));
    let tasks: Vec<_> = (0..100).map(|n| task::spawn(async move { n })).collect();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await, Ok(n));
    }
}

// a process may hold references to its state across an await
#[test]
fn a_task_and_a_request_can_be_in_shared_state() {
    fn is_sync<T: Sync>() {}
    is_sync::<task::Task<Cell<u8>>>();
    is_sync::<Request<Cell<u8>>>();
}

// G3: the exit reason is returned as a value and ends no other process
#[purlin::test]
async fn a_task_that_panics_returns_the_panic() {
    let task = task::spawn(async { assert_eq!(1, 2, "on purpose") });
    let Err(ExitReason::Panic(panic)) = task.await else { panic!("it panicked") };
    assert!(panic.message.contains("on purpose"));
    assert!(panic.place.contains("task.rs"), "{}", panic.place);
    let task = task::spawn(async { purlin::exit(ExitReason::error("enough")) });
    let _: Result<(), _> = task.await.map_err(|reason| assert_eq!(reason.to_string(), "enough"));
}

// G3, P5: a task is a process like any other
#[purlin::test]
async fn a_task_is_a_process_of_its_node(me: Process<()>) {
    let task = task::spawn(pending::<()>());
    let node = Node::current().expect("a test runs in a process");
    let info = node.process_info(task.id()).expect("it lives");
    assert_eq!(info.parent, Some(me.id()));
    assert!(info.function.contains("task"), "{}", info.function);
    assert_eq!(task.shutdown(HANG).await, Err(ExitReason::Shutdown));
}

// G3, R7: a task can be awaited again
#[test]
fn a_task_returns_its_result_after_a_wait_that_timed_out() {
    simulated(async |_: Process<()>| {
        let (finish, finished) = oneshot::channel();
        let mut task = task::spawn(async move { finished.await.expect("the sender lives") });
        assert_eq!((task.timeout(20 * MS).await, uptime()), (None, 20 * MS));
        assert_eq!((task.timeout(Duration::ZERO).await, uptime()), (None, 20 * MS));
        tokio::select! {
            biased;
            ended = &mut task => panic!("it was not stopped: {ended:?}"),
            () = yield_now() => {}
        }
        finish.send(7).expect("it listens");
        assert_eq!(task.timeout(HANG).await, Some(Ok(7)));
        let mut failed = task::spawn(async { panic!("on purpose") });
        let ended: Option<Result<(), _>> = failed.timeout(HANG).await;
        assert!(matches!(ended, Some(Err(ExitReason::Panic(_)))));
    });
}

// G3, L7: the task's values are dropped before its end is reported
#[purlin::test]
async fn a_task_that_is_shut_down_has_dropped_its_values() {
    let drop_counter = DropCounter::default();
    let token = drop_counter.token();
    let task = task::spawn(async move {
        let _token = token;
        pending::<()>().await
    });
    assert_eq!(task.shutdown(HANG).await, Err(ExitReason::Shutdown));
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (1, 1));
}

// G3, L7: a task that does not await is killed, and the wait for it is bounded
#[purlin::test]
async fn a_task_that_does_not_await_is_abandoned(mut me: Process<Notice>) {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = oneshot::channel::<()>();
    let task = task::spawn(async move {
        drop(begin);
        let _ = released.recv();
        pending::<()>().await
    });
    assert!(begun.await.is_err(), "it has begun");
    me.monitor(task.id());
    // WHY real time: the task blocks its thread, and a simulation has only one. It blocks until the
    // wait for its end is over, however long that takes.
    assert_eq!(task.shutdown(MS).await, Err(ExitReason::Killed));
    drop(release);
    let Notice::Down(down) = me.receive().await else { panic!("no down") };
    // L4: `shutdown` was sent first and is the exit reason.
    assert_eq!(down.reason, ExitReason::Shutdown);
}

// G3: a result that was ready before the shutdown is returned
#[purlin::test]
async fn a_task_that_was_ready_before_its_shutdown_returns_its_result() {
    let (done, is_done) = oneshot::channel::<()>();
    let task = task::spawn(async move {
        drop(done);
        7
    });
    let _ = is_done.await;
    // The exit signal may arrive before the result is stored, but the task does not await again.
    assert_eq!(task.shutdown(HANG).await, Ok(7));
}

// G3: a detached task keeps running, and its result is dropped once
#[purlin::test]
async fn a_task_whose_handle_is_dropped_keeps_running() {
    let drop_counter = DropCounter::default();
    let (finish, finished) = oneshot::channel();
    let (done, is_done) = oneshot::channel::<()>();
    let token = drop_counter.token();
    drop(task::spawn(async move {
        let done: oneshot::Sender<()> = done;
        finished.await.expect("the sender lives");
        (token, done)
    }));
    finish.send(()).expect("it still runs");
    assert!(is_done.await.is_err(), "the result is dropped");
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (1, 1));
}

// G3, L2, L3: a linked task ends with its caller, and the caller with the task
#[purlin::test]
async fn a_linked_task_and_its_caller_end_together(mut me: Process<Notice>) {
    let caller = spawn(async |me: Process<()>| {
        let task: Result<(), _> = task::spawn_link(&me, async { panic!("on purpose") }).await;
        drop(task);
        pending::<()>().await
    });
    assert!(matches!(caller.ended().await, ExitReason::Panic(_)));

    me.trap_exit(true);
    let (tx, rx) = oneshot::channel();
    let caller = spawn(async move |me: Process<()>| {
        let task = task::spawn_link(&me, pending::<()>());
        let _ = tx.send(task.id());
        drop(task.await);
    });
    me.link(rx.await.expect("it has a task"));
    caller.exit(ExitReason::error("lost"));
    let Notice::Exit(exit) = me.receive().await else { panic!("no exit") };
    assert_eq!(exit.reason, ExitReason::error("lost"), "the task got the exit signal");

    let mut task = task::spawn_link(&me, async { 7 });
    assert_eq!(task.timeout(HANG).await, Some(Ok(7)));
    let Notice::Exit(exit) = me.receive().await else { panic!("no exit") };
    assert_eq!((exit.from, exit.reason), (Some(task.id()), ExitReason::Normal));
}

// G3, E2: the process limit is also returned as a value
#[test]
fn a_task_on_a_full_node_returns_system_limit() {
    let node = Node::builder().workers(1).max_processes(1).build().expect("a node starts");
    let ended = node.block_on(async |_: Process<()>| task::spawn(async { 7 }).await);
    assert_eq!(ended, Err(ExitReason::SystemLimit));
    common::stop(&node);
}

// G3: results in the order of the items, with at most that many tasks at a time
#[test]
fn a_stream_of_tasks_is_ordered_and_bounded() {
    simulated(async |_: Process<()>| {
        let running = Arc::new(AtomicUsize::new(0));
        let mut results = task::async_stream([30, 10, 20, 10u32], 2, |ms| {
            let running = Arc::clone(&running);
            async move {
                assert!(running.fetch_add(1, Ordering::Relaxed) < 2, "two at a time");
                tokio::time::sleep(ms * MS).await; // CLOCK: virtual
                running.fetch_sub(1, Ordering::Relaxed);
                ms
            }
        });
        let mut all = Vec::new();
        while let Some(result) = results.next().await {
            all.push(result.expect("it does not panic"));
        }
        assert_eq!(all, [30, 10, 20, 10]);
        assert_eq!(results.next().await, None);
    });
}

// G3: results in the order of their arrival; a panic is a result
#[test]
fn an_unordered_stream_returns_what_is_ready() {
    simulated(async |_: Process<()>| {
        let results = task::async_stream(0..5u32, 5, |n| async move {
            assert_ne!(n, 3, "on purpose");
            tokio::time::sleep((50 - 10 * n) * MS).await; // CLOCK: virtual
            n
        });
        let all: Vec<_> = results.unordered().collect().await;
        let Some(Err(ExitReason::Panic(panic))) = all.first() else { panic!("{all:?}") };
        assert!(panic.message.contains("on purpose"));
        assert_eq!(all[1..], [Ok(4), Ok(2), Ok(1), Ok(0)]);
    });
}

// G3: dropping the stream ends its tasks and starts no more
#[purlin::test]
async fn dropping_a_stream_of_tasks_ends_them() {
    let tokens = DropCounter::default();
    let started = Arc::new(AtomicUsize::new(0));
    let mut results = task::async_stream(0..100, 3, |_| {
        let (token, started) = (tokens.token(), Arc::clone(&started));
        async move {
            started.fetch_add(1, Ordering::Relaxed);
            let _token = token;
            pending::<()>().await;
        }
    });
    assert!(results.next().now_or_never().is_none(), "no task ends");
    comes("three have started", || started.load(Ordering::Relaxed) == 3).await;
    drop(results);
    comes("all have ended", || tokens.dropped() == 3).await;
    assert_eq!(tokens.born(), 3);
}

// G3: the panic of a second wait names the task and the caller
#[purlin::test]
async fn a_task_that_was_ready_cannot_be_awaited_again() {
    let pid = spawn(async |_: Process<()>| {
        let mut task = task::spawn(async { 7 });
        assert_eq!(task.timeout(Duration::MAX).await, Some(Ok(7)));
        task.timeout(Duration::MAX).await;
    });
    let ExitReason::Panic(panic) = pid.ended().await else { panic!("it ends without one") };
    assert_eq!(panic.message, "a task was awaited again after it was ready");
    assert!(panic.place.contains(file!()), "{panic:?}");
}
