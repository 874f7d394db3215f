//! Asking many processes at once.


use std::time::Duration;

use crate::common::{Census, Token, until};
use purlin::{CallError, ExitReason, Pid, Process, ProcessState, Reply, multi_call, spawn};

/// How long a test waits for what comes.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a test waits for what never comes.
const MOMENT: Duration = Duration::from_millis(30);

/// What somebody who is asked does.
#[derive(Clone, Copy)]
enum Manner {
    Answers(u64),
    Forgets,
    Panics,
}

async fn asked(mut me: Process<(Manner, Reply<u64>)>) {
    loop {
        match me.receive().await {
            (Manner::Answers(n), reply) => reply.send(n),
            (Manner::Forgets, reply) => drop(reply),
            (Manner::Panics, _) => panic!("on purpose"),
        }
    }
}

/// Asks as many processes as there are manners, each in its manner.
async fn ask(manners: &[Manner]) -> Vec<Result<u64, CallError>> {
    let pids: Vec<_> = manners.iter().map(|_| spawn(asked)).collect();
    let mut left = manners.iter();
    let message = |reply| (*left.next().expect("one for each"), reply);
    multi_call(&pids, message, PATIENCE).await
}

// C1: in the order of the pids, whoever answers first
#[purlin::test]
async fn the_answers_are_in_the_order_of_the_pids() {
    let manners: Vec<_> = (0..1000).map(Manner::Answers).collect();
    let expected: Vec<_> = (0..1000).map(Ok).collect();
    assert_eq!(ask(&manners).await, expected);
    assert_eq!(ask(&[]).await, []);
}

// C1: each ends as a call of its own would
#[purlin::test]
async fn each_process_that_does_not_answer_says_why() {
    let manners = [Manner::Panics, Manner::Answers(1), Manner::Forgets, Manner::Answers(2)];
    let answers = ask(&manners).await;
    let [Err(CallError::Ended(ExitReason::Panic(panic))), rest @ ..] = &answers[..] else {
        panic!("not the panic: {answers:?}")
    };
    assert_eq!(panic.message, "on purpose");
    assert_eq!(rest, [Ok(1), Err(CallError::NoReply), Ok(2)]);
}

// C1: one timeout for all; what was answered in time counts, also behind what was not
#[purlin::test]
async fn one_that_is_silent_costs_nobody_elses_answer() {
    let silent = || {
        spawn(async |mut me: Process<Reply<u8>>| {
            let _kept = me.receive().await;
            me.receive().await;
        })
    };
    let answers = spawn(async |mut me: Process<Reply<u8>>| {
        loop {
            me.receive().await.send(7);
        }
    });
    let panics = spawn(async |mut me: Process<Reply<u8>>| {
        me.receive().await;
        panic!("on purpose");
    });
    let pids = [silent(), answers, panics.clone(), silent()];
    let mut left = pids.len();
    let message = |reply| {
        left -= 1;
        // The time runs from when all have been asked: by then these two have done their part.
        if left == 0 {
            until("it has answered", || {
                let info = pids[1].info();
                info.messages_in == 1 && info.state == ProcessState::Receiving
            });
            until("it has panicked", || panics.exit_reason().is_some());
        }
        reply
    };
    let answers = multi_call(&pids, message, MOMENT).await;
    let late = Err(CallError::Timeout(MOMENT));
    assert_eq!(answers[..2], [late.clone(), Ok(7)]);
    assert!(matches!(answers[2], Err(CallError::Ended(ExitReason::Panic(_)))), "{answers:?}");
    assert_eq!(answers[3], late);
}

// C1: one timeout for all, not one for each
#[purlin::test]
async fn a_thousand_that_are_silent_take_no_longer_than_one() {
    let silent = async |mut me: Process<Reply<u8>>| {
        let _kept = me.receive().await;
        me.receive().await;
    };
    let pids: Vec<_> = (0..1000).map(|_| spawn(silent)).collect();
    let asking = multi_call(&pids, |reply| reply, MOMENT);
    let answers = tokio::time::timeout(PATIENCE, asking).await.expect("it is no 30 seconds");
    assert!(answers.iter().all(|answer| *answer == Err(CallError::Timeout(MOMENT))));
}

// C1, C3: those who cannot be asked answer at once
#[purlin::test]
async fn the_dead_and_oneself_answer_at_once(me: Process<Reply<u8>>) {
    let dead: Pid<Reply<u8>> = spawn(async |_: Process<Reply<u8>>| {});
    dead.ended().await;
    let lives = spawn(async |mut me: Process<Reply<u8>>| me.receive().await.send(7));
    let answers = multi_call(&[dead, me.pid(), lives], |reply| reply, Duration::MAX).await;
    assert_eq!(answers, [Err(CallError::NoProcess), Err(CallError::OwnProcess), Ok(7)]);
}

// C1, R7: what comes after the caller gave up is dropped, once, and never a message
#[purlin::test]
async fn no_answer_is_left_over(mut me: Process<Token>) {
    let census = Census::default();
    let late = |_| {
        let census = census.clone();
        spawn(async move |mut me: Process<Reply<Token>>| {
            let reply = me.receive().await;
            while reply.is_wanted() {
                purlin::yield_now().await;
            }
            reply.send(census.token());
        })
    };
    let pids: Vec<_> = (0..10).map(late).collect();
    let answers = multi_call(&pids, |reply| reply, MOMENT).await;
    let in_vain = |answer: &Result<_, _>| matches!(answer, Err(CallError::Timeout(MOMENT)));
    assert!(answers.iter().all(in_vain));
    for pid in pids {
        assert_eq!(pid.ended().await, ExitReason::Normal);
    }
    assert_eq!((census.born(), census.dropped()), (10, 10));
    assert!(me.try_receive().is_none());
}
