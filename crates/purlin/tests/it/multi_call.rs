//! `multi_call`: one request to many processes.

use std::time::Duration;

use crate::common::{DropCounter, HANG, Token};
use crate::waiting::{simulated, uptime};
use purlin::{CallError, ExitReason, Pid, Process, Reply, multi_call, spawn};
use purlin_testkit::Simulation;
use tokio::sync::watch;

/// Timeout of the calls, in virtual time.
const MINUTE: Duration = Duration::from_secs(60);

/// Behaviour of a called process.
#[derive(Clone, Copy)]
enum Behaviour {
    Answers(u64),
    Forgets,
    Panics,
}

async fn asked(mut me: Process<(Behaviour, Reply<u64>)>) {
    loop {
        match me.receive().await {
            (Behaviour::Answers(n), reply) => reply.send(n),
            (Behaviour::Forgets, reply) => drop(reply),
            (Behaviour::Panics, _) => panic!("on purpose"),
        }
    }
}

/// Calls one process per entry of `manners`, which decides how it behaves.
async fn ask(behaviours: &[Behaviour]) -> Vec<Result<u64, CallError>> {
    let pids: Vec<_> = behaviours.iter().map(|_| spawn(asked)).collect();
    let mut left = behaviours.iter();
    let message = |reply| (*left.next().expect("one for each"), reply);
    multi_call(&pids, message, HANG).await
}

// C1: the replies are in the order of the pids, not of their arrival
#[purlin::test]
async fn replies_are_in_the_order_of_the_pids() {
    let behaviours: Vec<_> = (0..1000).map(Behaviour::Answers).collect();
    let expected: Vec<_> = (0..1000).map(Ok).collect();
    assert_eq!(ask(&behaviours).await, expected);
    assert_eq!(ask(&[]).await, []);
}

// C1: each result is that of a separate call
#[purlin::test]
async fn each_missing_reply_has_its_own_error() {
    let behaviours =
        [Behaviour::Panics, Behaviour::Answers(1), Behaviour::Forgets, Behaviour::Answers(2)];
    let answers = ask(&behaviours).await;
    let [Err(CallError::Ended(ExitReason::Panic(panic))), rest @ ..] = &answers[..] else {
        panic!("not the panic: {answers:?}")
    };
    assert_eq!(panic.message, "on purpose");
    assert_eq!(rest, [Ok(1), Err(CallError::NoReply), Ok(2)]);
}

// C1: one timeout for all; replies received in time count, also after a missing one
#[test]
fn a_missing_reply_does_not_lose_other_replies() {
    simulated(async |_: Process<()>| {
        let answers = spawn(async |mut me: Process<Reply<u8>>| {
            loop {
                me.receive().await.send(7);
            }
        });
        let panics = spawn(async |mut me: Process<Reply<u8>>| {
            me.receive().await;
            panic!("on purpose");
        });
        let (pids, began) = ([spawn(silent), answers, panics, spawn(silent)], uptime());
        let answers = multi_call(&pids, |reply| reply, MINUTE).await;
        assert_eq!(uptime() - began, MINUTE);
        let late = Err(CallError::Timeout(MINUTE));
        assert_eq!(answers[..2], [late.clone(), Ok(7)]);
        assert!(matches!(answers[2], Err(CallError::Ended(ExitReason::Panic(_)))), "{answers:?}");
        assert_eq!(answers[3], late);
    });
}

/// Keeps the `Reply` and does not answer.
async fn silent(mut me: Process<Reply<u8>>) {
    let _kept = me.receive().await;
    me.receive().await;
}

// C1: one timeout for all, not one for each
#[test]
fn a_thousand_missing_replies_take_one_timeout() {
    Simulation::new(1).run(async |_: Process<()>| {
        let pids: Vec<_> = (0..1000).map(|_| spawn(silent)).collect();
        let began = uptime();
        let answers = multi_call(&pids, |reply| reply, MINUTE).await;
        assert_eq!(uptime() - began, MINUTE);
        assert_eq!(answers, vec![Err(CallError::Timeout(MINUTE)); 1000]);
    });
}

// C1, C3: an ended process and the caller itself give an immediate error
#[purlin::test]
async fn an_ended_process_and_the_caller_itself_fail_immediately(me: Process<Reply<u8>>) {
    let dead: Pid<Reply<u8>> = spawn(async |_: Process<Reply<u8>>| {});
    dead.ended().await;
    let lives = spawn(async |mut me: Process<Reply<u8>>| me.receive().await.send(7));
    let answers = multi_call(&[dead, me.pid(), lives], |reply| reply, Duration::MAX).await;
    assert_eq!(answers, [Err(CallError::NoProcess), Err(CallError::OwnProcess), Ok(7)]);
}

// C1, R7: a reply that arrives after the timeout is dropped once, and never becomes a message
#[test]
fn no_late_reply_is_left_over() {
    simulated(async |mut me: Process<Token>| {
        let drop_counter = DropCounter::default();
        let gave_up = watch::Sender::new(());
        let late = |_| {
            let (drop_counter, mut gave_up) = (drop_counter.clone(), gave_up.subscribe());
            spawn(async move |mut me: Process<Reply<Token>>| {
                let reply = me.receive().await;
                gave_up.changed().await.expect("the caller lives");
                assert!(!reply.is_wanted());
                reply.send(drop_counter.token());
            })
        };
        let pids: Vec<_> = (0..10).map(late).collect();
        let answers = multi_call(&pids, |reply| reply, MINUTE).await;
        gave_up.send(()).expect("all of them wait");
        let in_vain = |answer: &Result<_, _>| matches!(answer, Err(CallError::Timeout(MINUTE)));
        assert_eq!(answers.iter().filter(|answer| in_vain(answer)).count(), 10);
        for pid in pids {
            assert_eq!(pid.ended().await, ExitReason::Normal);
        }
        assert_eq!((drop_counter.born(), drop_counter.dropped()), (10, 10));
        assert!(me.try_receive().is_none());
    });
}
