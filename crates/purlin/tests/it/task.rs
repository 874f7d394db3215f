//! Tasks: a future as a process of its own, its result as a value.

use crate::common;
use std::future::pending;
use std::time::Duration;

use crate::common::{Census, HANG, Notice};
use crate::waiting::{MS, simulated, uptime};
use purlin::{ExitReason, Node, Process, spawn, task, yield_now};
use tokio::sync::oneshot;

// G3: the result arrives as a value
#[purlin::test]
async fn a_task_gives_the_output_of_its_future() {
    assert_eq!(task::spawn(async { 6 * 7 }).await, Ok(42));
    let refused: Result<u8, _> = "three hundred".parse();
    assert_eq!(task::spawn(async { "three hundred".parse::<u8>() }).await, Ok(refused));
    let tasks: Vec<_> = (0..100).map(|n| task::spawn(async move { n })).collect();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await, Ok(n));
    }
}

// G3: the exit arrives as a value, and harms nobody
#[purlin::test]
async fn a_task_that_panics_gives_the_panic() {
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

// G3, R7: a task can be waited for again
#[test]
fn a_task_that_was_waited_for_in_vain_still_gives_its_result() {
    simulated(async |_: Process<()>| {
        let (finish, finished) = oneshot::channel();
        let mut task = task::spawn(async move { finished.await.expect("it is told") });
        assert_eq!((task.timeout(20 * MS).await, uptime()), (None, 20 * MS));
        assert_eq!((task.timeout(Duration::ZERO).await, uptime()), (None, 20 * MS));
        tokio::select! {
            biased;
            ended = &mut task => panic!("it was not told to end: {ended:?}"),
            () = yield_now() => {}
        }
        finish.send(7).expect("it listens");
        assert_eq!(task.timeout(HANG).await, Some(Ok(7)));
        let mut failed = task::spawn(async { panic!("on purpose") });
        let ended: Option<Result<(), _>> = failed.timeout(HANG).await;
        assert!(matches!(ended, Some(Err(ExitReason::Panic(_)))));
    });
}

// G3, L7: what it holds is dropped by the time it is said to have ended
#[purlin::test]
async fn a_task_that_is_shut_down_has_cleared_up() {
    let census = Census::default();
    let token = census.token();
    let task = task::spawn(async move {
        let _token = token;
        pending::<()>().await
    });
    assert_eq!(task.shutdown(HANG).await, Err(ExitReason::Shutdown));
    assert_eq!((census.born(), census.dropped()), (1, 1));
}

// G3, L7: one that does not let go is killed, waited for no longer, and left
#[purlin::test]
async fn a_task_that_does_not_await_is_left_in_the_end(mut me: Process<Notice>) {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = oneshot::channel::<()>();
    let task = task::spawn(async move {
        drop(begin);
        let _ = released.recv();
        pending::<()>().await
    });
    assert!(begun.await.is_err(), "it has begun");
    me.monitor(task.id());
    // WHY real time: the task blocks its thread, and a simulation has one. It does so until the wait
    // for its end is over, however long that takes.
    assert_eq!(task.shutdown(MS).await, Err(ExitReason::Killed));
    drop(release);
    let Notice::Down(down) = me.receive().await else { panic!("no down") };
    // L4: it was told `shutdown` first, and ends with that.
    assert_eq!(down.reason, ExitReason::Shutdown);
}

// G3: a result that came first counts
#[purlin::test]
async fn a_task_that_was_ready_before_it_was_shut_down_gives_its_result() {
    let (done, is_done) = oneshot::channel::<()>();
    let task = task::spawn(async move {
        drop(done);
        7
    });
    let _ = is_done.await;
    // It may have been told before its result was given, but then it does not await any more.
    assert_eq!(task.shutdown(HANG).await, Ok(7));
}

// G3: a task that nobody waits for runs on, and what it gives is dropped, once
#[purlin::test]
async fn a_task_whose_handle_is_dropped_runs_on() {
    let census = Census::default();
    let (finish, finished) = oneshot::channel();
    let (done, is_done) = oneshot::channel::<()>();
    let token = census.token();
    drop(task::spawn(async move {
        let done: oneshot::Sender<()> = done;
        finished.await.expect("it is told");
        (token, done)
    }));
    finish.send(()).expect("it still runs");
    assert!(is_done.await.is_err(), "the result is dropped");
    assert_eq!((census.born(), census.dropped()), (1, 1));
}

// G3, L2, L3: a linked task ends with its caller, and its caller with it
#[purlin::test]
async fn a_linked_task_and_its_caller_end_together(mut me: Process<Notice>) {
    let caller = spawn(async |me: Process<()>| {
        let task: Result<(), _> = task::spawn_link(&me, async { panic!("on purpose") }).await;
        drop(task);
        pending::<()>().await
    });
    assert!(matches!(caller.ended().await, ExitReason::Panic(_)));

    me.trap_exit(true);
    let (tell, told) = oneshot::channel();
    let caller = spawn(async move |me: Process<()>| {
        let task = task::spawn_link(&me, pending::<()>());
        let _ = tell.send(task.id());
        drop(task.await);
    });
    me.link(told.await.expect("it has a task"));
    caller.exit(ExitReason::error("lost"));
    let Notice::Exit(exit) = me.receive().await else { panic!("no exit") };
    assert_eq!(exit.reason, ExitReason::error("lost"), "the task was told");

    let mut task = task::spawn_link(&me, async { 7 });
    assert_eq!(task.timeout(HANG).await, Some(Ok(7)));
    let Notice::Exit(exit) = me.receive().await else { panic!("no exit") };
    assert_eq!((exit.from, exit.reason), (Some(task.id()), ExitReason::Normal));
}

// G3, E2: no room is a value too
#[test]
fn a_task_for_which_there_is_no_room_ends_with_system_limit() {
    let node = Node::builder().workers(1).max_processes(1).build().expect("a node starts");
    let ended = node.block_on(async |_: Process<()>| task::spawn(async { 7 }).await);
    assert_eq!(ended, Err(ExitReason::SystemLimit));
    common::stop(&node);
}
