//! Pools: load, partitions, restarts, bounds.

use crate::waiting::{MS, comes, rest, simulated, uptime};
use std::collections::{HashMap, HashSet};

use purlin::server::{self, ServerRef};
use purlin::supervisor::{
    ChildSpec, ChildTemplate, DynamicSupervisorRef, Pool, Restart, SupervisorSpec,
};
use purlin::{
    CallError, ExitReason, Overflow, Pid, Process, ProcessId, Reply, SendError, SpawnOptions, task,
};

/// Replies with its id after that many milliseconds. Crashes if they are 0.
type Job = (u32, Reply<ProcessId>);

async fn work(mut me: Process<Job>) -> Result<(), &'static str> {
    loop {
        let (ms, reply) = me.receive().await;
        if ms == 0 {
            return Err("no time");
        }
        tokio::time::sleep(ms * MS).await; // CLOCK: virtual
        reply.send(me.id());
    }
}

/// Receives nothing, and waits until it is stopped.
async fn stuck(_me: Process<u32>) {
    std::future::pending().await
}

/// Starts the supervisor of a pool.
async fn started<C: purlin::supervisor::ChildHandle>(pool: &Pool<C>, me: &Process<()>) {
    pool.spec().intensity(100).start_link(me).await.expect("the children start");
}

// G5: a call goes to an idle worker while there is one
#[test]
fn calls_go_to_the_least_loaded_worker() {
    simulated(async |me: Process<()>| {
        let pool = Pool::new(4, ChildSpec::worker("work", work));
        assert_eq!(pool.call(|reply| (1, reply)).await, Err(CallError::NoProcess));
        started(&pool, &me).await;
        assert_eq!((pool.size(), pool.children().len()), (4, 4));

        // One worker is busy for long; the others share the rest, three calls at a time.
        let long = task::spawn({
            let pool = pool.clone();
            async move { pool.call(|reply| (1000, reply)).await }
        });
        rest().await;
        let mut by = HashSet::new();
        for _ in 0..10 {
            let call = || pool.call(|reply| (10, reply));
            let (a, b, c) = tokio::join!(call(), call(), call());
            by.extend([a, b, c].map(|id| id.expect("it is answered")));
        }
        assert!(uptime() < 200 * MS, "no call waited for the busy worker: {:?}", uptime());
        let busy = long.await.expect("it does not panic").expect("it is answered");
        assert!(by.len() == 3 && !by.contains(&busy), "{by:?} {busy}");
    });
}

// G5: equal workers take turns while another one is loaded
#[test]
fn workers_behind_and_before_a_busy_one_get_equal_shares() {
    simulated(async |me: Process<()>| {
        let pool = Pool::new(3, ChildSpec::worker("work", work));
        started(&pool, &me).await;
        let long = task::spawn({
            let pool = pool.clone();
            async move { pool.call(|reply| (1000, reply)).await }
        });
        rest().await;
        let mut calls = HashMap::new();
        for _ in 0..20 {
            let id = pool.call(|reply| (1, reply)).await.expect("it is answered");
            *calls.entry(id).or_insert(0) += 1;
        }
        assert_eq!(calls.into_values().collect::<Vec<_>>(), [10, 10]);
        long.await.expect("it does not panic").expect("it is answered");
    });
}

// G5: messages without a reply are counted while they wait, and equal workers take turns
#[purlin::test]
async fn messages_go_to_the_least_loaded_worker(me: Process<()>) {
    let pool = Pool::new(3, ChildSpec::worker("stuck", stuck));
    started(&pool, &me).await;
    for n in 0..9 {
        pool.try_send(n).expect("it runs");
    }
    pool.send_async(9).await.expect("it runs");
    let mut waiting: Vec<_> = pool.children().iter().map(Pid::mailbox_len).collect();
    waiting.sort_unstable();
    assert_eq!(waiting, [3, 3, 4]);
}

// G5, B1: the mailboxes are the queue
#[purlin::test]
async fn a_full_pool_refuses_or_waits(me: Process<()>) {
    let bound = |overflow| SpawnOptions::new().bound(2, overflow);
    let pool = Pool::new(2, ChildSpec::worker("stuck", stuck).options(bound(Overflow::Reject)));
    started(&pool, &me).await;
    let sent: Vec<_> = (0..5).map(|n| pool.try_send(n)).collect();
    assert_eq!(sent, [Ok(()), Ok(()), Ok(()), Ok(()), Err(SendError::Full(4))]);
}

// G5: a crash fails its caller alone, and the worker is restarted
#[test]
fn a_worker_that_crashes_is_replaced() {
    simulated(async |me: Process<()>| {
        let pool = Pool::new(2, ChildSpec::worker("work", work));
        started(&pool, &me).await;
        let before = pool.children();
        for _ in 0..20 {
            let crashed = pool.call(|reply| (0, reply)).await;
            assert_eq!(crashed, Err(CallError::Ended(ExitReason::error("no time"))));
            comes("the worker is restarted", || pool.children().len() == 2).await;
        }
        assert!(pool.call(|reply| (1, reply)).await.is_ok());
        assert!(before.iter().all(|worker| !worker.is_alive()));
    });
}

// G5: a key belongs to one child, and keys are spread
#[purlin::test]
async fn a_key_selects_one_child(me: Process<()>) {
    let pool = Pool::new(8, ChildSpec::worker("work", work).restart(Restart::Temporary));
    assert_eq!(pool.partition("a"), None, "it has not started");
    started(&pool, &me).await;
    let of = |key: u64| pool.partition(&key).expect("it runs").id();
    let mut counts = std::collections::HashMap::new();
    for key in 0..8000 {
        assert_eq!(of(key), of(key));
        *counts.entry(of(key)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 8);
    assert!(counts.values().all(|count| (500..2000).contains(count)), "{counts:?}");

    let child = pool.partition("a").expect("it runs");
    child.exit(ExitReason::Kill);
    child.ended().await;
    assert_eq!(pool.partition("a"), None);
    assert_eq!(pool.children().len(), 7);
}

#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[call]
    fn add(&mut self, number: i64) -> i64 {
        self.0 += number;
        self.0
    }
}

// G5: pools of servers and of supervisors
#[purlin::test]
async fn servers_and_supervisors_can_be_pooled(me: Process<()>) {
    let counter = ChildSpec::server("counter", |me| server::start_link(me, Counter(0)));
    let pool: Pool<ServerRef<Counter>> = Pool::new(1, counter);
    started(&pool, &me).await;
    assert_eq!(pool.least_loaded().expect("it runs").add(2).await, Ok(2));
    assert_eq!(pool.partition(&7).expect("it runs").add(2).await, Ok(4));
    let call = |reply| CounterCall::Add(3, reply);
    assert_eq!(pool.call(call).await, Ok(7));

    let template = ChildTemplate::worker("work", async |me: Process<Job>, _: u8| work(me).await);
    let spec = SupervisorSpec::simple_one_for_one(template);
    let pool = Pool::new(2, ChildSpec::supervisor("workers", spec));
    started(&pool, &me).await;
    let partition = pool.partition("a").expect("it runs");
    let partition: DynamicSupervisorRef<u8, Pid<Job>> = DynamicSupervisorRef::new(partition);
    let worker = partition.find_or_start("a", 1).await.expect("it starts");
    assert!(worker.call(|reply| (1, reply)).await.is_ok());
}
