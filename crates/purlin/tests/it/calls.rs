//! Calls: one request with one reply, or the reason why there is no reply.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{HANG, node, outside, stop, until};
use crate::waiting::{MS, rest, simulated, uptime};
use futures_util::FutureExt;
use purlin::{CallError, ExitReason, Node, Pid, Process, Reply, spawn, yield_now};
use purlin_testkit::Simulation;
use tokio::sync::oneshot;

/// Timeout of a call that is never answered, on the machine's clock.
///
/// WHY real time: a thread outside every node has no other clock. No reply is sent, however long
/// the caller waits.
const SHORT: Duration = Duration::from_millis(10);

enum Ask {
    /// Replies with the double.
    Double(u64, Reply<u64>),
    /// Drops the `Reply`.
    Forget(Reply<u64>),
    /// Keeps the `Reply` until `AnswerKept`.
    Keep(Reply<u64>),
    /// Answers all kept calls; replies with the number of callers that still waited.
    AnswerKept(Reply<usize>),
    /// Returns while holding the `Reply`.
    Return(Reply<u64>),
    /// Panics while holding the `Reply`.
    Panic(Reply<u64>),
    /// Fails while a `Reply` is still in the mailbox.
    Fail,
}

async fn server(mut me: Process<Ask>) -> Result<(), String> {
    let mut kept = Vec::new();
    loop {
        match me.receive().await {
            Ask::Double(n, reply) => reply.send(n * 2),
            Ask::Forget(reply) => drop(reply),
            Ask::Keep(reply) => kept.push(reply),
            Ask::AnswerKept(reply) => {
                let wanted = kept.iter().filter(|reply| reply.is_wanted()).count();
                kept.drain(..).for_each(|late| late.send(0));
                reply.send(wanted);
            }
            Ask::Return(_reply) => return Ok(()),
            Ask::Panic(_reply) => std::panic::resume_unwind(Box::new("asked to")),
            Ask::Fail => return Err("asked to fail".to_string()),
        }
    }
}

fn ended(error: Result<u64, CallError>) -> ExitReason {
    match error {
        Err(CallError::Ended(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

// C1: a call returns the reply
#[purlin::test]
async fn a_call_returns_the_reply() {
    let pid = spawn(server);
    for n in 0..1000 {
        assert_eq!(pid.call(|reply| Ask::Double(n, reply)).await, Ok(n * 2));
    }
    assert_eq!(pid.call_timeout(|reply| Ask::Double(4, reply), Duration::MAX).await, Ok(8));
}

// C1: with many concurrent callers, each gets its own reply
#[test]
fn every_caller_gets_its_own_answer() {
    let node = node(4);
    let pid = node.spawn(server);
    let callers: Vec<_> = (0..50)
        .map(|caller| {
            let pid = pid.clone();
            node.spawn(async move |_: Process<()>| {
                for n in caller * 1000..caller * 1000 + 100 {
                    assert_eq!(pid.call(|reply| Ask::Double(n, reply)).await, Ok(n * 2));
                }
            })
        })
        .collect();
    for caller in callers {
        assert_eq!(outside(caller.ended()), ExitReason::Normal);
    }
    stop(&node);
}

// C1: a call returns the reason why the server ended, whether or not the server had received it
#[purlin::test(workers = 4)]
async fn a_call_returns_the_exit_reason_of_the_server() {
    for _ in 0..100 {
        let reason = ended(spawn(server).call(Ask::Panic).await);
        assert!(matches!(&reason, ExitReason::Panic(panic) if panic.message == "asked to"));
        assert_eq!(ended(spawn(server).call(Ask::Return).await), ExitReason::Normal);
        let pid = spawn(server);
        pid.send(Ask::Fail);
        match pid.call(|reply| Ask::Double(1, reply)).await {
            Err(CallError::Ended(reason)) => assert_eq!(reason.to_string(), "asked to fail"),
            other => assert_eq!(other, Err(CallError::NoProcess)),
        }
    }
}

// C1: the same if the server takes time to end after dropping the reply
#[test]
fn a_server_that_ends_slowly_is_not_reported_as_no_reply() {
    /// Signals that its destructor runs, and blocks there until the test releases it.
    struct Slow(mpsc::Sender<()>, mpsc::Receiver<()>);
    impl Drop for Slow {
        fn drop(&mut self) {
            let _ = self.0.send(());
            let _ = self.1.recv();
        }
    }
    let node = node(2);
    let ((tx, rx), (let_go, held)) = (mpsc::channel(), mpsc::channel());
    let pid = node.spawn(async move |mut me: Process<Reply<u64>>| {
        let _slow = Slow(tx, held);
        let _reply = me.receive().await;
        std::panic::resume_unwind(Box::new("slowly"));
    });
    let answer = outside(async {
        let mut call = pin!(pid.call_timeout(|reply| reply, HANG));
        assert_eq!(call.as_mut().now_or_never(), None);
        rx.recv().expect("the reply is dropped before the process has ended");
        assert_eq!(call.as_mut().now_or_never(), None, "the process has not ended");
        drop(let_go);
        call.await
    });
    assert!(matches!(ended(answer), ExitReason::Panic(panic) if panic.message == "slowly"));
    stop(&node);
}

// C1: a call returns `shutdown` if the server's node is stopped
#[test]
fn a_call_to_a_server_whose_node_stops_returns_shutdown() {
    let (ours, theirs) = (node(1), node(1));
    let pid = theirs.spawn(server);
    let called = pid.clone();
    let caller = ours.spawn(async move |_: Process<()>| {
        let answer = called.call_timeout(Ask::Keep, HANG).await;
        assert_eq!(ended(answer), ExitReason::Shutdown);
    });
    until("the server has received the call", || pid.info().messages_in == 1);
    stop(&theirs);
    assert_eq!(outside(caller.ended()), ExitReason::Normal);
    stop(&ours);
}

// C1: a call fails immediately if the server drops the `Reply` and stays alive
#[purlin::test]
async fn a_call_whose_reply_is_dropped_returns_no_reply() {
    let pid = spawn(server);
    for _ in 0..100 {
        assert_eq!(pid.call(Ask::Forget).await, Err(CallError::NoReply));
    }
    assert!(pid.is_alive());
    let error = pid.call(Ask::Forget).await.expect_err("there is no answer");
    assert_eq!(error.to_string(), "the process dropped the call without an answer");
}

// C1, M4: the call fails with `noproc`, and its message is not counted as dropped
#[purlin::test]
async fn a_call_to_an_ended_process_returns_noproc() {
    let node = Node::current().expect("this runs in a process");
    let pid = spawn(async |_: Process<Reply<()>>| {});
    pid.ended().await;
    let before = node.dropped_messages();
    let error = pid.call(|reply| reply).await.expect_err("no process is there");
    assert_eq!(error, CallError::NoProcess);
    assert_eq!(error.to_string(), "noproc: the process has ended");
    assert_eq!(pid.call_blocking(|reply| reply, HANG), Err(CallError::NoProcess));
    assert_eq!(node.dropped_messages(), before);
}

// C1: the call fails with `timeout`, and the late reply is discarded
#[test]
fn a_late_reply_is_dropped_and_never_becomes_a_message() {
    simulated(async |mut me: Process<u64>| {
        let (pid, began) = (spawn(server), uptime());
        let error = pid.call_timeout(Ask::Keep, 10 * MS).await.expect_err("it keeps it");
        assert_eq!((error.clone(), uptime() - began), (CallError::Timeout(10 * MS), 10 * MS));
        assert_eq!(error.to_string(), "timeout: no answer within 10ms");
        assert_eq!(pid.call(Ask::AnswerKept).await, Ok(0), "no caller waits for the late one");
        assert_eq!(pid.call(|reply| Ask::Double(1, reply)).await, Ok(2));
        rest().await;
        assert_eq!(me.try_receive(), None);
        assert_eq!(pid.info().messages_in, 3);
    });
}

// C1: cancelling a call affects neither side
#[purlin::test]
async fn a_cancelled_call_leaves_no_trace() {
    let pid = spawn(server);
    for _ in 0..10 {
        tokio::select! {
            biased;
            answer = pid.call(Ask::Keep) => panic!("{answer:?}"),
            () = yield_now() => {}
        }
    }
    assert_eq!(pid.call(Ask::AnswerKept).await, Ok(0));
}

// C1: a call from a thread outside every node
#[test]
fn a_plain_thread_can_call() {
    let node = node(2);
    let pid = node.spawn(server);
    std::thread::scope(|scope| {
        for caller in 0..4u64 {
            let pid = &pid;
            scope.spawn(move || {
                for n in caller * 1000..caller * 1000 + 250 {
                    let answer = pid.call_blocking(|reply| Ask::Double(n, reply), HANG);
                    assert_eq!(answer, Ok(n * 2));
                }
            });
        }
    });
    let never = pid.call_blocking(Ask::Keep, SHORT);
    assert_eq!(never, Err(CallError::Timeout(SHORT)));
    assert_eq!(pid.call_blocking(Ask::Forget, HANG), Err(CallError::NoReply));
    let reason = ended(pid.call_blocking(Ask::Panic, HANG));
    assert!(matches!(reason, ExitReason::Panic(_)));
    assert_eq!(pid.call_blocking(Ask::Keep, HANG), Err(CallError::NoProcess));
    stop(&node);
}

// C1: a call from a task of another runtime
#[test]
fn a_task_of_another_runtime_can_call() {
    let node = node(2);
    let pid = node.spawn(server);
    outside(async {
        let caller = pid.clone();
        let task = tokio::spawn(async move { caller.call(|reply| Ask::Double(21, reply)).await });
        assert_eq!(task.await.ok(), Some(Ok(42)));
        assert_eq!(pid.call_timeout(Ask::Keep, SHORT).await, Err(CallError::Timeout(SHORT)));
        assert_eq!(ended(pid.call(Ask::Return).await), ExitReason::Normal);
    });
    stop(&node);
}

/// Returns the output of a future and the number of polls it took.
async fn polls<F: Future>(future: F) -> (F::Output, u32) {
    let mut future = pin!(future);
    let mut polls = 0;
    let output = poll_fn(|cx| {
        polls += 1;
        future.as_mut().poll(cx)
    });
    (output.await, polls)
}

// C1, N1: a call by name, while the name is registered
#[purlin::test]
async fn a_server_is_called_by_its_name() {
    let pid = spawn(server);
    purlin::register("doubler", &pid).expect("the name is free");
    let found = purlin::whereis::<Ask>("doubler").expect("it lives");
    assert_eq!(found.call(|reply| Ask::Double(4, reply)).await, Ok(8));
    pid.exit(ExitReason::Kill);
    pid.ended().await;
    let nobody = purlin::whereis::<Ask>("doubler").expect_err("it has ended");
    assert_eq!(nobody.to_string(), "noproc: no process has the name \"doubler\"");
    assert_eq!(found.call(|reply| Ask::Double(4, reply)).await, Err(CallError::NoProcess));
}

// R5: the number of turns and reductions is the same, and no message is examined
#[test]
fn the_cost_of_a_call_does_not_depend_on_the_mailbox_length() {
    const WAITING: u64 = 100_000;
    async fn hundred_calls(own: &Pid<u64>, pid: &Pid<Ask>) -> (u32, u64) {
        let (mut turns, before) = (0, own.info().reductions);
        for n in 0..100 {
            let (answer, took) = polls(pid.call(|reply| Ask::Double(n, reply))).await;
            assert_eq!(answer, Ok(n * 2));
            turns += took;
        }
        (turns, own.info().reductions - before)
    }
    Simulation::new(1).run(async |mut me: Process<u64>| {
        let (own, pid) = (me.pid(), spawn(server));
        // A turn is counted when it ends: the turns before the calls are counted by now.
        rest().await;
        let empty = hundred_calls(&own, &pid).await;
        (0..WAITING).for_each(|n| own.send(n));
        rest().await;
        assert_eq!(hundred_calls(&own, &pid).await, empty);
        assert_eq!(empty.0, 200, "each call asks, sleeps, and is woken once");
        // The same after the messages are in the save queue and one of them was received.
        assert_eq!(me.receive().await, 0);
        rest().await;
        assert_eq!(hundred_calls(&own, &pid).await, empty);
        assert_eq!(me.mailbox_len() as u64, WAITING - 1);
        assert_eq!(me.flush(), (1..WAITING).collect::<Vec<_>>());
    });
}

// R5: messages that arrive during a call do not wake the caller
#[test]
fn messages_that_arrive_during_a_call_do_not_wake_the_caller() {
    simulated(async |mut me: Process<u64>| {
        let own = me.pid();
        let pid = spawn(async move |mut me: Process<Reply<()>>| {
            let reply = me.receive().await;
            for n in 0..100 {
                own.send(n);
                rest().await;
            }
            reply.send(());
        });
        assert_eq!(polls(pid.call(|reply| reply)).await, (Ok(()), 2));
        assert_eq!(me.flush(), (0..100).collect::<Vec<_>>());
    });
}

// C1, R7: one process makes several calls concurrently, each woken through its own waker
#[purlin::test]
async fn one_process_can_make_several_calls_concurrently(mut me: Process<u64>) {
    let pid = spawn(server);
    let mut calls: futures_util::stream::FuturesUnordered<_> =
        (0..100).map(|n| pid.call(move |reply| Ask::Double(n, reply))).collect();
    let mut answers = Vec::new();
    while let Some(answer) = futures_util::StreamExt::next(&mut calls).await {
        answers.push(answer.expect("it answers"));
    }
    answers.sort_unstable();
    assert_eq!(answers, (0..100).map(|n| n * 2).collect::<Vec<_>>());
    assert_eq!(me.try_receive(), None);
}

// C1: the reply value is dropped exactly once, delivered or not
#[purlin::test]
async fn a_reply_value_is_dropped_exactly_once_delivered_or_not() {
    let alive = std::sync::Arc::new(());
    let given = std::sync::Arc::clone(&alive);
    let pid = spawn(async move |mut me: Process<Reply<std::sync::Arc<()>>>| {
        loop {
            let reply = me.receive().await;
            // A caller with a timeout of zero has given up by now.
            yield_now().await;
            reply.send(std::sync::Arc::clone(&given));
        }
    });
    for _ in 0..100 {
        let impatient = pid.call_timeout(|reply| reply, Duration::ZERO).await;
        assert!(matches!(impatient, Err(CallError::Timeout(_)) | Ok(_)));
        drop(impatient);
        assert!(pid.call(|reply| reply).await.is_ok());
    }
    assert_eq!(std::sync::Arc::strong_count(&alive), 2);
}

// C1: the reply need not come from the called process
#[purlin::test]
async fn a_reply_can_be_sent_by_another_process() {
    let (hand_on, handed) = oneshot::channel::<Reply<&str>>();
    let front = spawn(async move |mut me: Process<Reply<&str>>| {
        drop(hand_on.send(me.receive().await));
        me.receive().await;
    });
    spawn(async move |_: Process<()>| handed.await.expect("it is handed on").send("from behind"));
    assert_eq!(front.call(|reply| reply).await, Ok("from behind"));
}

// C3: the call fails immediately, and nothing is sent
#[purlin::test]
async fn a_process_that_calls_itself_gets_an_error_immediately(mut me: Process<Reply<u8>>) {
    let own: Pid<Reply<u8>> = me.pid();
    assert_eq!(own.call(|reply| reply).await, Err(CallError::OwnProcess));
    assert_eq!(own.call_blocking(|reply| reply, HANG), Err(CallError::OwnProcess));
    assert_eq!(CallError::OwnProcess.to_string(), "calling_self: a process cannot wait for itself");
    assert!(me.try_receive().is_none());
}

// A caller that has woken the called process on its own worker waits for its turn before it sets a
// timer
#[test]
fn call_that_is_answered_in_the_next_turn_sets_no_timer() {
    let node = node(1);
    let (tx, rx) = mpsc::channel();
    let observed = node.clone();
    node.spawn(async move |_: Process<()>| {
        let called = spawn(async move |mut me: Process<Reply<usize>>| {
            loop {
                me.receive().await.send(observed.pending_timers());
            }
        });
        let mut timers = Vec::new();
        for _ in 0..1000 {
            let (called, (tx, rx)) = (called.clone(), mpsc::channel());
            // WHY a process for each call: it keeps a timer that it has set.
            let caller = spawn(async move |_: Process<()>| {
                let _ = tx.send(called.call(|reply| reply).await.expect("it replies"));
            });
            caller.ended().await;
            timers.extend(rx.try_recv());
        }
        let _ = tx.send(timers);
    });
    let timers = rx.recv_timeout(HANG).expect("all calls are answered");
    // Other turns may come between some calls and their replies.
    assert!(timers.contains(&0), "{timers:?}");
    stop(&node);
}

// A caller does not wait for the turn of a process that it has not called
#[test]
fn call_that_wakes_no_process_sets_its_timer_in_the_same_turn() {
    let node = node(1);
    let (tx, rx) = mpsc::channel();
    let observed = node.clone();
    node.spawn(async move |_: Process<()>| {
        let called = spawn(async |mut me: Process<Option<Reply<()>>>| {
            loop {
                if let Some(reply) = me.receive().await {
                    reply.send(());
                }
            }
        });
        let other = spawn(async move |mut me: Process<()>| {
            loop {
                me.receive().await;
                let _ = tx.send(observed.pending_timers());
            }
        });
        for _ in 0..1000 {
            let (called, other) = (called.clone(), other.clone());
            // WHY a process for each call: it keeps the timer that it has set.
            let caller = spawn(async move |_: Process<()>| {
                // Wakes the called process, so that the call does not.
                called.send(None);
                other.send(());
                called.call(Some).await.expect("it replies");
            });
            caller.ended().await;
        }
    });
    let timers: Vec<_> =
        (0..1000).map(|_| rx.recv_timeout(HANG).expect("it is sent 1000 messages")).collect();
    // The caller's thread may lose its core in some of the turns.
    assert!(timers.contains(&1), "{timers:?}");
    stop(&node);
}

// The panic names the function to use
#[test]
fn a_call_on_a_thread_without_timers_names_the_blocking_call() {
    let node = node(1);
    let silent = node.spawn(async |_: Process<Reply<()>>| std::future::pending::<()>().await);
    let call = AssertUnwindSafe(|| silent.call(|reply| reply).now_or_never());
    let panic = catch_unwind(call).expect_err("there is no timer");
    let message = panic.downcast_ref::<&str>().expect("a text");
    assert!(message.contains("use call_blocking"), "{message}");
    stop(&node);
}

#[test]
fn a_call_whose_message_panics_sends_nothing() {
    let node = node(1);
    let called = node.spawn(async |mut me: Process<Reply<&str>>| me.receive().await.send("first"));
    let no_message = |_: Reply<&str>| std::panic::resume_unwind(Box::new("no message"));
    let call = AssertUnwindSafe(|| called.call(no_message).now_or_never());
    assert!(catch_unwind(call).is_err());
    assert_eq!(called.call_blocking(|reply| reply, HANG), Ok("first"));
    stop(&node);
}
