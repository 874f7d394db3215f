//! Fairness: every runnable process runs, however busy the others are.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;

use crate::common::{ends, node, stop};
use purlin::{ExitReason, Pid, Process, consume_budget, spawn, yield_now};
use purlin_testkit::Simulation;

/// A process that yields 100 times before it ends.
async fn patient(_me: Process<()>) {
    for _ in 0..100 {
        yield_now().await;
    }
}

/// Runs `busy` on a node with one worker and asserts that another process makes progress.
fn others_run_beside<M, F, Fut>(busy: F)
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let node = node(1);
    let busy = node.spawn(busy);
    let pid = node.spawn(patient);
    assert_eq!(ends(&pid), ExitReason::Normal);
    assert!(busy.is_alive());
    stop(&node);
    assert_eq!(busy.exit_reason(), Some(ExitReason::Shutdown));
}

// F1: a process that always has another message
#[test]
fn a_process_with_an_endless_stream_of_messages_lets_others_run() {
    others_run_beside(async |mut me: Process<u64>| {
        let own = me.pid();
        own.send(0);
        loop {
            let n = me.receive().await;
            own.send(n + 1);
        }
    });
}

// F1: the same, with a receive that skips every message
#[test]
fn a_selective_receive_that_never_matches_lets_others_run() {
    others_run_beside(async |mut me: Process<u64>| {
        let own = me.pid();
        (0..2000).for_each(|n| own.send(n));
        loop {
            purlin::receive!(me, { u64::MAX => {}, after std::time::Duration::ZERO => {} });
        }
    });
}

// F1: loops that call `yield_now` or `consume_budget`
#[test]
fn loops_that_yield_or_spend_budget_let_others_run() {
    others_run_beside(async |_: Process<()>| {
        loop {
            yield_now().await;
        }
    });
    others_run_beside(async |_: Process<()>| {
        loop {
            consume_budget().await;
        }
    });
}

// F1: a yield under another future's waker
#[test]
fn a_yield_inside_a_combinator_lets_others_run() {
    others_run_beside(async |mut me: Process<()>| {
        loop {
            let spent = async {
                for _ in 0..1000 {
                    consume_budget().await;
                }
            };
            let both = futures_util::future::join_all([
                Box::pin(yield_now()) as std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
                Box::pin(spent),
            ]);
            tokio::select! {
                _ = both => {}
                () = me.receive() => {}
            }
        }
    });
}

// F1: two processes on one worker that wake each other forever
#[test]
fn two_processes_that_wake_each_other_do_not_starve_a_third() {
    others_run_beside(async |mut me: Process<()>| {
        let own = me.pid();
        let other = spawn(async move |mut me: Process<()>| {
            loop {
                me.receive().await;
                own.send(());
            }
        });
        loop {
            other.send(());
            me.receive().await;
        }
    });
}

// F1: messages from outside are delivered while the worker is busy
#[test]
fn a_message_from_outside_arrives_while_many_processes_are_busy() {
    let node = node(1);
    for _ in 0..100 {
        node.spawn(async |_: Process<()>| {
            loop {
                yield_now().await;
            }
        });
    }
    let pid = node.spawn(async |mut me: Process<u8>| {
        while me.receive().await != 0 {
            yield_now().await;
        }
    });
    for n in (0..50).rev() {
        pid.send(n);
    }
    assert_eq!(ends(&pid), ExitReason::Normal);
    stop(&node);
}

/// Runs a process that adds 1 to the given counter at each of its steps; returns the number of steps per turn.
///
/// WHY simulated: everything runs on one thread, and no `sysmon` moves a process whose thread is descheduled.
fn steps_of_each_turn<Fut>(
    process: impl FnOnce(Process<u32>, Arc<AtomicU32>) -> Fut + Send + 'static,
) -> Vec<u32>
where
    Fut: Future<Output = ()> + Send + 'static,
{
    Simulation::new(0).run(move |me: Process<u32>| async move {
        let done = Arc::<AtomicU32>::default();
        let (mut before, mut turns) = (0, Vec::new());
        let mut process = pin!(process(me, Arc::clone(&done)));
        poll_fn(|cx| {
            let poll = process.as_mut().poll(cx);
            let after = done.load(Ordering::Relaxed);
            turns.push(after - std::mem::replace(&mut before, after));
            poll
        })
        .await;
        turns
    })
}

// F1: the budget is exactly 512 per turn; receiving costs one unit
#[test]
fn a_process_yields_after_exactly_512_messages() {
    let turns = steps_of_each_turn(async |mut me, done| {
        let own = me.pid();
        (0..4 * 512).for_each(|n| own.send(n));
        for n in 0..4 * 512 {
            assert_eq!(me.receive().await, n);
            done.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(turns, [512; 4]);
}

// M1: a receiver that is behind fetches when it yields, between its own receives
#[test]
fn messages_stay_in_order_across_yields_of_a_receiver_that_is_behind() {
    let node = node(1);
    let receiver = node.spawn(async |mut me: Process<u64>| {
        let own = me.pid();
        (0..1500).for_each(|n| own.send(n));
        for n in 0..10_000 {
            assert_eq!(me.receive().await, n);
            own.send(n + 1500);
        }
    });
    assert_eq!(ends(&receiver), ExitReason::Normal);
    stop(&node);
}

// L4: an exit signal that a receiver fetches when it yields ends it, however much it still has to receive
#[test]
fn an_exit_signal_ends_a_receiver_that_is_behind() {
    let node = node(1);
    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    let receiver = node.spawn(async move |mut me: Process<u64>| {
        let own = me.pid();
        (0..2000).for_each(|n| own.send(n));
        for n in 0..2000 {
            assert_eq!(me.receive().await, n);
            assert!(n < 512, "the turn has ended");
            if n == 500 {
                ask.send(()).unwrap();
                answered.recv().unwrap();
            }
        }
    });
    asked.recv().unwrap();
    receiver.exit(ExitReason::Kill);
    answer.send(()).unwrap();
    assert_eq!(ends(&receiver), ExitReason::Killed);
    stop(&node);
}

// F1: `consume_budget` costs two units, and the call that yields pays its own after the yield
#[test]
fn a_process_yields_after_exactly_256_calls_of_consume_budget() {
    let turns = steps_of_each_turn(async |_, done| {
        for _ in 0..256 + 2 * 257 {
            consume_budget().await;
            done.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(turns, [256, 257, 257]);
}

/// Floods a process with messages from 16 senders and asserts that it makes progress.
fn gets_on_under_a_flood(workers: usize) {
    /// WHY a limit: the test must fail before memory runs out. A sender that reaches the limit does not pause: it skips
    /// only the send.
    const MOST: usize = 20_000;
    /// WHY more: a receiver that runs only after its senders have stopped receives at most `MOST`.
    const ENOUGH: u64 = 4 * MOST as u64;
    let node = node(workers);
    let enough = Arc::new(AtomicBool::new(false));
    let done = enough.clone();
    let receiver: Pid<u64> = node.spawn(async move |mut me: Process<u64>| {
        let mut received = 0;
        while received < ENOUGH {
            me.receive().await;
            received += 1;
        }
        done.store(true, Ordering::Relaxed);
    });
    let senders: Vec<_> = (0..16)
        .map(|_| {
            let (receiver, enough) = (receiver.clone(), enough.clone());
            node.spawn(async move |_: Process<()>| {
                while !enough.load(Ordering::Relaxed) {
                    if receiver.mailbox_len() < MOST {
                        receiver.send(1);
                    }
                    consume_budget().await;
                }
            })
        })
        .collect();
    assert_eq!(ends(&receiver), ExitReason::Normal);
    for sender in senders {
        assert_eq!(ends(&sender), ExitReason::Normal);
    }
    stop(&node);
}

// F3: senders that never pause cannot starve their receiver
#[test]
fn a_flood_of_messages_does_not_starve_its_receiver() {
    gets_on_under_a_flood(1);
    gets_on_under_a_flood(4);
}

// F1: many processes that each need many turns all end
#[test]
fn each_of_many_processes_gets_its_turns() {
    let node = node(4);
    let pids: Vec<_> = (0..2000).map(|_| node.spawn(patient)).collect();
    for pid in pids {
        assert_eq!(ends(&pid), ExitReason::Normal);
    }
    stop(&node);
}
