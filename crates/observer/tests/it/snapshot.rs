//! Tests of the sampler on a running node.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use purlin::{Node, Pid, Process, ProcessState, Reply};
use purlin_observer::snapshot::{Age, Filter, Query, Sampler, Snapshot};

use crate::support::{HANG, PERIOD};

/// Waits for the first snapshot that satisfies the predicate.
fn until(sampler: &Sampler, what: &str, is_so: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let mut snapshots = sampler.subscribe();
    let found = async move {
        snapshots
            .wait_for(|snapshot| snapshot.number > 0 && is_so(snapshot))
            .await
            .map(|it| Arc::clone(&it))
    };
    let found = tokio
        .expect("a runtime starts")
        .block_on(async { tokio::time::timeout(HANG, found).await });
    found.unwrap_or_else(|_| panic!("never seen: {what}")).expect("the sampler lives")
}

fn node() -> Node {
    Node::builder().workers(2).build().expect("the node starts")
}

async fn idle(mut me: Process<u64>) {
    while me.receive().await != 0 {}
}

// A spawned process appears with its name, mailbox, rate and age
#[test]
fn a_spawned_process_appears_and_an_ended_one_disappears() {
    let node = node();
    let old = node.spawn(idle);
    let sampler = Sampler::every(&node, PERIOD).expect("a thread starts");
    assert_eq!(sampler.latest().number, 0, "there has been no watcher");
    let watching = sampler.watch();
    let first = until(&sampler, "the old one, which waits", |snapshot| {
        let row = snapshot.processes.find(old.id()).and_then(|row| snapshot.processes.row(row));
        row.is_some_and(|row| row.state == ProcessState::Receiving)
    });
    let row = first.processes.find(old.id()).and_then(|row| first.processes.row(row));
    let row = row.expect("it is there");
    assert_eq!((row.name, row.parent), (None, None));
    assert!(row.function.contains("idle") && row.message_type == "u64");
    assert!(matches!(row.age, Age::MoreThan(_)), "it was there before");

    let new = node.spawn(idle);
    node.register("sue", &new).expect("the name is free");
    (1..=1000).for_each(|n| new.send(n));
    let snapshot = until(&sampler, "the new one with its name", |snapshot| {
        let row = snapshot.processes.find(new.id()).and_then(|row| snapshot.processes.row(row));
        row.is_some_and(|row| row.name.is_some() && row.messages_in == 1000)
    });
    let query = Query {
        filter: Filter { text: "SUE".into(), ..Filter::default() },
        limit: 10,
        ..Query::default()
    };
    let page = query.ask(&snapshot.processes);
    let row = snapshot.processes.row(page.rows[0]).expect("it is there");
    assert_eq!((page.matching, row.id), (1, new.id()));
    assert!(matches!(row.age, Age::About(age) if age < node.uptime()), "{:?}", row.age);

    new.send(0);
    until(&sampler, "without it", |snapshot| snapshot.processes.find(new.id()).is_none());
    drop(watching);
    node.stop_blocking();
}

#[test]
fn the_overview_reflects_the_nodes_activity() {
    let node = node();
    let sampler = Sampler::every(&node, PERIOD).expect("a thread starts");
    let _watching = sampler.watch();
    until(&sampler, "the first", |_| true);
    let (a, b): (Pid<u64>, Pid<u64>) = (node.spawn(idle), node.spawn(idle));
    let busy = node.spawn(move |_: Process<()>| async move {
        loop {
            a.send(1);
            b.send(2);
            purlin::consume_budget().await;
        }
    });
    let snapshot = until(&sampler, "what is sent, by whom", |snapshot| {
        let overview = &snapshot.overview;
        overview.messages_per_second > 0.0 && overview.memory.processes > 0
    });
    let overview = &snapshot.overview;
    assert!(overview.reductions_per_second > overview.messages_per_second);
    assert_eq!((overview.workers.len(), overview.max_processes), (2, node.max_processes()));
    assert!(
        overview.workers.iter().any(|worker| worker.busy > 0.0 && worker.turns_per_second > 0.0)
    );
    assert!(overview.span > Duration::ZERO);
    let snapshot = until(&sampler, "its rate", |snapshot| {
        let row = snapshot.processes.find(busy.id()).and_then(|row| snapshot.processes.row(row));
        row.is_some_and(|row| row.reductions_per_second > 0.0)
    });
    assert!(snapshot.cost.share.is_finite() && snapshot.cost.left_out == 0, "{:?}", snapshot.cost);
    let measured: Vec<_> = sampler.history().iter().map(|seen| seen.measured).collect();
    assert!(measured.len() >= 2 && !measured[0] && measured[1..].iter().all(|it| *it));
    busy.exit(purlin::ExitReason::Kill);
    // WHY a share of time: the test waits for it, and it is reached at any speed once nothing runs.
    until(&sampler, "rest", |snapshot| {
        snapshot.overview.workers.iter().all(|worker| worker.busy < 0.5)
    });
    node.stop_blocking();
}

// A deadlock of two mutual calls can be named
#[test]
fn mutual_calls_are_both_in_the_snapshot() {
    let node = node();
    let (give, given) = tokio::sync::oneshot::channel::<Pid<Reply<()>>>();
    let first = node.spawn(async move |_: Process<Reply<()>>| {
        let other = given.await.expect("it is given");
        let _ = other.call_timeout(|reply| reply, Duration::MAX).await;
    });
    let other = first.clone();
    let second = node.spawn(async move |_: Process<Reply<()>>| {
        let _ = other.call_timeout(|reply| reply, Duration::MAX).await;
    });
    let (first, second_id) = (first.id(), second.id());
    give.send(second).expect("it waits");
    let sampler = Sampler::every(&node, PERIOD).expect("a thread starts");
    let _watching = sampler.watch();
    until(&sampler, "the two calls", |snapshot| {
        let calls = |from, to| snapshot.calls.iter().any(|it| (it.caller, it.callee) == (from, to));
        calls(first, second_id) && calls(second_id, first)
    });
    node.stop_blocking();
}

#[test]
fn a_crash_is_part_of_the_snapshot() {
    let node = node();
    let sampler = Sampler::every(&node, PERIOD).expect("a thread starts");
    let _watching = sampler.watch();
    let first = until(&sampler, "the first", |_| true);
    let next = until(&sampler, "the second", |snapshot| snapshot.number > first.number);
    assert!(Arc::ptr_eq(&first.crashes, &next.crashes), "nothing has happened");
    let weak = || node.spawn(async |_: Process<()>| Err::<(), _>("no paper"));
    // A crash that occurs while the sampler reads the records is only counted.
    let ids = RefCell::new(vec![weak().id()]);
    let snapshot = until(&sampler, "a crash", |Snapshot { crashes, .. }| {
        let mut ids = ids.borrow_mut();
        if crashes.crashes.is_empty() && crashes.all_crashes == ids.len() as u64 {
            ids.push(weak().id());
        }
        !crashes.crashes.is_empty()
    });
    assert!(ids.borrow().contains(&snapshot.crashes.crashes[0].id));
    node.stop_blocking();
}

// a node stops with its last handle, even while it is watched
#[test]
fn a_watcher_does_not_keep_the_node_alive() {
    let node = node();
    let weak = node.downgrade();
    let sampler = Sampler::every(&node, PERIOD).expect("a thread starts");
    let _watching = sampler.watch();
    until(&sampler, "the first", |_| true);
    drop(node);
    while weak.upgrade().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn without_a_watcher_the_sampler_makes_no_snapshot() {
    let node = node();
    let sampler = Sampler::every(&node, PERIOD).expect("a thread starts");
    let watching = sampler.watch();
    until(&sampler, "the first", |_| true);
    drop(watching);
    let seen = sampler.latest().number;
    let other = Sampler::every(&node, PERIOD).expect("a thread starts");
    let _watching = other.watch();
    until(&other, "three more", |snapshot| snapshot.number > 3);
    assert!(sampler.latest().number <= seen + 1, "one may have been under way");
    node.stop_blocking();
}
