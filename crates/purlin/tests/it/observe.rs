//! Observation of a node: surveys, load and crash records.

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use crate::common::{node, outside, stop, until};
use crate::waiting::{MS, comes};
use purlin::observe::ProcessSnapshot;
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{
    CallError, Down, ExitReason, Node, Pid, Process, ProcessId, ProcessState, Reply, spawn,
};
use purlin_testkit::Simulation;

/// Restart period that does not expire during a test.
const HOUR: Duration = Duration::from_secs(3600);

/// Returns everything a survey reports, read in slices of the given size.
fn survey(node: &Node, slice: u32) -> Vec<ProcessSnapshot> {
    let (mut all, mut next) = (Vec::new(), Some(0));
    while let Some(from) = next {
        next = node.snapshots(from, slice, |seen| all.push(seen));
    }
    all
}

fn one(node: &Node, id: ProcessId) -> Option<ProcessSnapshot> {
    survey(node, 100).into_iter().find(|seen| seen.id == id)
}

async fn idle(mut me: Process<u64>) {
    while me.receive().await != 0 {}
}

// P5: with any slice size, a survey lists every process that is alive throughout, once, in order
#[test]
fn a_survey_lists_every_process_once_with_any_slice_size() {
    let node = node(2);
    let pids: Vec<_> = (0..3000).map(|_| node.spawn(idle)).collect();
    pids.iter().step_by(3).for_each(|pid| pid.send(0));
    pids.iter().step_by(3).for_each(|pid| drop(outside(pid.ended())));
    for slice in [1, 7, 1000, u32::MAX] {
        let seen = survey(&node, slice);
        assert!(seen.iter().map(|seen| seen.id.id()).is_sorted());
        let seen: HashMap<_, _> = seen.into_iter().map(|seen| (seen.id, seen)).collect();
        for (at, pid) in pids.iter().enumerate() {
            assert_eq!(seen.contains_key(&pid.id()), at % 3 != 0, "process {at}");
        }
    }
    let about = node.processes_about();
    assert!((2000..2000 + 2 * 513 + 10).contains(&about), "{about}");
    stop(&node);
}

// P5: a survey reports the same values as a query for a single process
#[test]
fn a_survey_agrees_with_process_info() {
    let node = node(1);
    let pid = node.spawn(idle);
    (1..=5).for_each(|n| pid.send(n));
    until("it has received", || {
        pid.info().messages_in == 5 && pid.info().state == ProcessState::Receiving
    });
    let (seen, info) = (one(&node, pid.id()).expect("it lives"), pid.info());
    let counts = (info.messages_in, info.messages_out, info.reductions);
    assert_eq!((seen.messages_in, seen.messages_out, seen.reductions), counts);
    assert_eq!((seen.state, seen.parent), (info.state, info.parent));
    assert_eq!(
        (seen.process_type.function(), seen.process_type.message_type()),
        (info.function, info.message_type)
    );
    assert_eq!(seen.process_type.bytes(), info.memory);
    assert!(!seen.has_extended_state && !seen.supervises() && seen.waits_for.is_none());
    node.register("sam", &pid).expect("the name is free");
    until("it knows its name", || one(&node, pid.id()).is_some_and(|seen| seen.has_extended_state));
    let mut names = Vec::new();
    let other = ProcessId::from_parts(7, 0, 1).expect("it is small");
    node.names_of(&[other, pid.id()], |at, name| names.push((at, name.to_string())));
    assert_eq!(names, [(1, "sam".to_owned())]);
    stop(&node);
}

struct Ask(Reply<u64>);

// C1: the process that a caller waits for is visible during the call
#[test]
fn the_callee_of_a_call_is_visible_during_the_call() {
    let node = node(2);
    let (keep, kept) = std::sync::mpsc::channel();
    let server: Pid<Ask> = node.spawn(move |mut me: Process<Ask>| async move {
        loop {
            let Ask(reply) = me.receive().await;
            keep.send(reply).expect("the test waits");
        }
    });
    let asked = server.clone();
    let caller = node.spawn(move |mut me: Process<()>| async move {
        assert_eq!(asked.call_timeout(Ask, Duration::MAX).await, Ok(7));
        me.receive().await;
    });
    let reply = kept.recv().expect("it is asked");
    let waits = |for_whom| {
        until("it is seen", || {
            one(&node, caller.id()).is_some_and(|seen| seen.waits_for == for_whom)
        });
    };
    waits(Some(server.id().id()));
    reply.send(7);
    until("it goes on", || caller.info().state == ProcessState::Receiving);
    waits(None);
    caller.send(());
    assert_eq!(outside(caller.ended()), purlin::ExitReason::Normal);
    stop(&node);
}

// C1: after a timeout the call is no longer visible, although its process waits for something else
#[test]
fn a_timed_out_call_is_no_longer_visible() {
    let node = node(1);
    let server: Pid<Ask> = node.spawn(async |mut me: Process<Ask>| {
        let _kept = me.receive().await;
        me.receive().await;
    });
    let asked = server.clone();
    let (tx, rx) = std::sync::mpsc::channel();
    let caller = node.spawn(move |_: Process<()>| async move {
        // WHY real time: no reply is sent, however long the caller waits.
        let answer = asked.call_timeout(Ask, MS).await;
        tx.send(answer).expect("the test waits");
        std::future::pending::<()>().await;
    });
    assert_eq!(rx.recv(), Ok(Err(CallError::Timeout(MS))));
    until("it waits for no process", || {
        one(&node, caller.id())
            .is_some_and(|seen| seen.state == ProcessState::Waiting && seen.waits_for.is_none())
    });
    stop(&node);
}

#[test]
fn worker_load_is_summed_and_sleep_is_measured_on_request() {
    let node = node(2);
    assert!(
        node.load().workers.iter().all(|worker| worker.asleep.is_zero()),
        "no request was made"
    );
    let measuring = node.measure_sleep();
    node.block_on(async |mut me: Process<u64>| {
        for n in 0..10_000 {
            me.pid().send(n);
            me.receive().await;
        }
    });
    until("it is added up", || {
        let load = node.load();
        let sends: u64 = load.workers.iter().map(|worker| worker.sends).sum();
        let work: u64 = load.workers.iter().map(|worker| worker.work).sum();
        let slept = load.workers.iter().all(|worker| !worker.asleep.is_zero());
        sends >= 10_000
            && work >= 10_000
            && slept
            && load.workers.iter().all(|worker| worker.queue == 0)
    });
    drop(measuring);
    stop(&node);
}

// P2: a crash is recorded with its process and reason
#[test]
fn a_crash_is_written_down_with_its_reason() {
    let node = node(1);
    let pid = node.spawn(async |me: Process<()>| {
        me.register("gil").expect("the name is free");
        panic!("out of ink");
    });
    let _ = outside(pid.ended());
    let orderly = node.spawn(async |_: Process<()>| {});
    let _ = outside(orderly.ended());
    let seen = node.crashes();
    assert_eq!((seen.crashes.len(), seen.all_crashes, seen.missed), (1, 1, 0));
    let crash = &seen.crashes[0];
    assert_eq!((crash.id, crash.number), (pid.id(), 1));
    assert_eq!(crash.name.as_deref(), Some("gil"));
    assert!(crash.reason.contains("out of ink"), "{}", crash.reason);
    assert!(crash.function.contains("a_crash_is_written_down"), "{}", crash.function);
    stop(&node);
}

/// Message that no notice converts into.
struct Unconvertible;

impl From<Down> for Unconvertible {
    fn from(_: Down) -> Self {
        panic!("no message for it")
    }
}

// P2: the conversion runs when the process handles the signal: within a turn or as one begins
#[test]
fn a_panic_in_a_conversion_is_recorded_once() {
    for within in [true, false] {
        let mut simulation = Simulation::new(1);
        let node = simulation.node().clone();
        let pid = node.spawn(async move |mut me: Process<Unconvertible>| {
            let idle = spawn(idle);
            if within {
                me.monitor_name("nobody");
            } else {
                me.monitor(&idle);
                idle.send(0);
            }
            me.receive().await;
        });
        simulation.advance(Duration::ZERO);
        assert!(matches!(pid.exit_reason(), Some(ExitReason::Panic(_))));
        let seen = node.crashes();
        assert_eq!((seen.all_crashes, seen.crashes.len()), (1, 1), "within a turn: {within}");
        assert!(seen.crashes[0].reason.contains("no message for it"), "{:?}", seen.crashes);
    }
}

// L3, L7: a process that ends by the exit signal of another has not crashed
#[test]
fn an_exit_signal_is_not_a_crash_of_its_receiver() {
    for within in [true, false] {
        let mut simulation = Simulation::new(1);
        let node = simulation.node().clone();
        let pid = node.spawn(async move |mut me: Process<()>| {
            if within {
                // A thread, which is not this process, sends the signal during this turn.
                let own = me.pid();
                let boss = std::thread::spawn(move || own.exit(ExitReason::error("boss")));
                boss.join().expect("it only sends");
            }
            me.receive().await;
        });
        simulation.advance(Duration::ZERO);
        if !within {
            pid.exit(ExitReason::error("boss"));
            simulation.advance(Duration::ZERO);
        }
        assert_eq!(pid.exit_reason(), Some(ExitReason::error("boss")));
        assert_eq!(node.crashes().all_crashes, 0, "within a turn: {within}");
    }
}

// P2: code that catches the unwinding of `exit` only delays the end
#[test]
fn a_caught_exit_is_recorded_at_the_next_await() {
    let mut simulation = Simulation::new(1);
    let node = simulation.node().clone();
    let pid = node.spawn(async |mut me: Process<()>| {
        let call = || purlin::exit(ExitReason::error("enough"));
        drop(std::panic::catch_unwind(call));
        me.receive().await;
    });
    simulation.advance(Duration::ZERO);
    assert_eq!(pid.exit_reason(), Some(ExitReason::error("enough")));
    let seen = node.crashes();
    assert_eq!((seen.all_crashes, seen.crashes[0].id), (1, pid.id()));
}

// G2: the number of restarts and the restart limit of a supervisor are visible
#[test]
fn restarts_are_reported_with_the_restart_limit() {
    let node = node(1);
    let (supervisor, seen) = node.block_on(async |me: Process<()>| {
        let spec = SupervisorSpec::one_for_one().intensity(5).period(HOUR);
        let child = ChildSpec::worker("weak", async |mut me: Process<u64>| {
            me.receive().await;
            panic!("too heavy");
        });
        let supervisor = spec.child(child).start_link(&me).await.expect("it starts");
        for round in 1..=3 {
            let children = supervisor.which_children().await.expect("it lives");
            let purlin::supervisor::ChildProcess::Running(child) = children[0].process else {
                panic!("it runs: {children:?}");
            };
            let pid: Pid<u64> = Node::current().expect("a node").pid(child).expect("it lives");
            pid.send(1);
            pid.ended().await;
            let node = Node::current().expect("a node");
            comes("it is reported", || node.crashes().all_reports == round).await;
            // The supervisor answers after it has restarted the child.
            supervisor.count_children().await.expect("it lives");
        }
        let seen = Node::current().expect("a node").crashes();
        (supervisor.id(), seen)
    });
    assert_eq!(seen.restarts.len(), 1);
    let restarts = &seen.restarts[0];
    assert_eq!((restarts.supervisor, restarts.total), (supervisor, 3));
    assert_eq!((restarts.counted, restarts.most), (3, 5));
    assert_eq!(restarts.period, HOUR);
    let report = seen.reports.last().expect("there are some");
    assert_eq!(
        (report.supervisor, report.context, &*report.child),
        (supervisor, "child_terminated", "weak")
    );
    assert!(report.reason.contains("too heavy"), "{}", report.reason);
    stop(&node);
}

// P5: a process that runs a supervisor is marked as one
#[test]
fn supervisors_are_marked_as_such() {
    let node = node(1);
    node.block_on(async |me: Process<()>| {
        let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
        let other = spawn(idle);
        let node = Node::current().expect("a process has a node");
        assert!(one(&node, supervisor.id()).is_some_and(|seen| seen.supervises()));
        assert!(one(&node, other.id()).is_some_and(|seen| !seen.supervises()));
    });
    stop(&node);
}

// The error of a live process does not say that it has ended
#[purlin::test]
async fn a_registration_on_another_node_says_so() {
    let other = Node::builder().workers(1).build().expect("a node starts");
    let pid = other.spawn(async |_: Process<()>| pending::<()>().await);
    let error = purlin::register("other", &pid).expect_err("it is on another node");
    assert!(error.to_string().contains("or belongs to another node"), "{error}");
    other.stop().await;
}
