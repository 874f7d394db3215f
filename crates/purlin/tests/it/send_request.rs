//! Requests that are sent immediately and whose replies are awaited later.

use crate::waiting::{MS, comes, simulated, uptime};
use std::time::Duration;

use purlin::{CallError, ExitReason, Pid, Process, Reply, receive, spawn, yield_now};

/// Spawns a process that replies to each request after as many milliseconds as it asks for.
fn delays() -> Pid<(u32, Reply<u32>)> {
    spawn(async |mut me: Process<(u32, Reply<u32>)>| {
        loop {
            let (n, reply) = me.receive().await;
            tokio::time::sleep(n * MS).await; // CLOCK: virtual
            reply.send(n);
        }
    })
}

// C1: requests are outstanding at the same time, and their replies are awaited in any order
#[test]
fn requests_are_outstanding_concurrently() {
    simulated(async |_: Process<()>| {
        let requests = [10, 30, 20].map(|n| delays().send_request(move |reply| (n, reply)));
        let [ten, thirty, twenty] = requests;
        assert_eq!(thirty.await, Ok(30));
        assert_eq!((twenty.await, ten.await), (Ok(20), Ok(10)));
        assert!(uptime() < 40 * MS, "{:?}", uptime());
    });
}

// C1: the request is sent before it is polled
#[purlin::test]
async fn a_request_is_sent_before_it_is_awaited() {
    let keeps = spawn(async |mut me: Process<Reply<u32>>| {
        let reply = me.receive().await;
        me.receive().await.send(2);
        reply.send(1);
        me.receive().await;
    });
    let first = keeps.send_request(|reply| reply);
    let dropped = keeps.send_request(|reply| reply);
    comes("both are received", || keeps.mailbox_len() == 0).await;
    assert_eq!(first.id(), keeps.id());
    drop(dropped);
    assert_eq!(first.await, Ok(1));
    keeps.exit(ExitReason::Kill);
    keeps.ended().await;
}

// C1: the errors of a call
#[test]
fn a_request_without_a_reply_reports_why() {
    simulated(async |me: Process<Reply<()>>| {
        let drops = spawn(async |mut me: Process<Reply<()>>| {
            drop(me.receive().await);
            let _reply = me.receive().await;
            purlin::exit(ExitReason::error("enough"));
        });
        assert_eq!(drops.send_request(|reply| reply).await, Err(CallError::NoReply));
        let ended = CallError::Ended(ExitReason::error("enough"));
        assert_eq!(drops.send_request(|reply| reply).await, Err(ended));
        assert_eq!(drops.send_request(|reply| reply).await, Err(CallError::NoProcess));
        assert_eq!(me.pid().send_request(|reply| reply).await, Err(CallError::OwnProcess));

        let slow = delays();
        let mut request = slow.send_request(|reply| (50, reply)).timeout(10 * MS);
        assert_eq!((&mut request).await, Err(CallError::Timeout(10 * MS)));
        let patient = slow.send_request(|reply| (50, reply)).timeout(Duration::MAX);
        assert_eq!(patient.await, Ok(50));
    });
}

// C1: a request in a `select!` can be awaited again
#[test]
fn a_request_can_be_awaited_again() {
    simulated(async |_: Process<()>| {
        let mut slow = delays().send_request(|reply| (20, reply));
        let mut fast = delays().send_request(|reply| (10, reply));
        let first = tokio::select! {
            reply = &mut slow => reply,
            reply = &mut fast => reply,
        };
        assert_eq!((first, slow.await), (Ok(10), Ok(20)));
    });
}

// C1: replies arrive as messages, by one receive
#[test]
fn forwarded_replies_are_received_among_messages() {
    simulated(async |mut me: Process<Result<u32, CallError>>| {
        let myself = (&me.pid()).into();
        for n in [20, 10] {
            delays().send_request(move |reply| (n, reply)).forward_to(&myself);
        }
        let gone = spawn(async |_: Process<Reply<u32>>| {});
        gone.ended().await;
        gone.send_request(|reply| reply).forward_to(&myself);
        let mut results = Vec::new();
        for _ in 0..3 {
            results.push(receive!(me, { result => result }));
        }
        assert_eq!(results, [Err(CallError::NoProcess), Ok(10), Ok(20)]);
    });
}

// R5: a reply costs the same however many messages wait
#[purlin::test]
async fn a_reply_does_not_examine_the_mailbox(me: Process<u32>) {
    let answers = delays();
    let pid = me.pid();
    let mut costs = Vec::new();
    for waiting in [0, 30_000] {
        for n in 0..waiting {
            pid.send(n);
        }
        yield_now().await;
        let before = pid.info().reductions;
        for _ in 0..10 {
            let requests = [(); 3].map(|()| answers.send_request(|reply| (0, reply)));
            for request in requests {
                assert_eq!(request.await, Ok(0));
            }
        }
        yield_now().await;
        costs.push(pid.info().reductions - before);
    }
    assert_eq!(me.mailbox_len(), 30_000);
    assert!(costs.iter().all(|cost| *cost < 1000), "{costs:?}");
}
