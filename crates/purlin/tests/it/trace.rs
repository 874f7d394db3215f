//! Traces: events of followed processes, and limits that stop a trace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{HANG, node, outside, stop, until};
use purlin::trace::{Event, EventKind, FollowError, Options, State, Trace};
use purlin::{Down, ExitReason, Node, Pid, Process, ProcessId, ProcessState, Reply, spawn};
use purlin_testkit::Simulation;

fn kinds(events: &[Event]) -> Vec<EventKind> {
    events.iter().map(|event| event.kind).collect()
}

/// Returns the events after a process has received `received` messages and waits for more.
fn events<M: Send + 'static>(trace: &Trace, pid: &Pid<M>, received: u64) -> Vec<Event> {
    until("it has received them", || {
        pid.info().messages_in == received && pid.info().state == ProcessState::Receiving
    });
    trace.events(0)
}

/// Commands for [`obedient`].
enum Order {
    Send(Pid<u64>),
    Spawn(Reply<ProcessId>),
    Link(Pid<u64>),
    Unlink(Pid<u64>),
    Monitor(Pid<u64>),
    Exit(Pid<u64>),
    End,
    Down(#[expect(dead_code, reason = "it is only received")] Down),
}

impl From<Down> for Order {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
}

async fn obedient(mut me: Process<Order>) {
    loop {
        match me.receive().await {
            Order::Send(to) => to.send(7),
            Order::Spawn(reply) => reply.send(spawn(idle).id()),
            Order::Link(to) => me.link(&to),
            Order::Unlink(from) => me.unlink(&from),
            Order::Monitor(whom) => drop(me.monitor(&whom)),
            Order::Exit(whom) => whom.exit(ExitReason::error("enough")),
            Order::End => return,
            Order::Down(_) => {}
        }
    }
}

async fn idle(mut me: Process<u64>) {
    while me.receive().await != 0 {}
}

// Send, receive, spawn, exit, link
#[test]
fn all_actions_of_a_process_are_traced_in_order() {
    let node = node(2);
    let (worker, other) = (node.spawn(obedient), node.spawn(idle));
    let trace = Trace::start(&node, Options::default());
    trace.follow(worker.id()).expect("it lives");
    worker.send(Order::Send(other.clone()));
    let ask = worker.call_blocking(Order::Spawn, HANG);
    let child = ask.expect("it answers");
    worker.send(Order::Link(other.clone()));
    worker.send(Order::Unlink(other.clone()));
    worker.send(Order::Monitor(other.clone()));
    worker.send(Order::Exit(other.clone()));
    let _ = outside(other.ended());
    // The down signal, and the message that it becomes.
    let seen = events(&trace, &worker, 7);
    worker.send(Order::End);
    let _ = outside(worker.ended());
    use EventKind::*;
    let before = [
        Receive,
        Send,
        Receive,
        Spawn,
        Receive,
        Link,
        Receive,
        Unlink,
        Receive,
        Monitor,
        Receive,
        SendExit,
        ReceiveDown,
        Receive,
    ];
    assert_eq!(kinds(&seen), before);
    let all = trace.events(0);
    assert_eq!(kinds(&all[14..]), [Receive, End]);
    assert!(all.iter().all(|event| event.process == worker.id()));
    assert!(all.iter().map(|event| event.number).eq(1..=16));
    assert!(all.iter().map(|event| event.at).is_sorted());
    for (at, about) in [
        (1, other.id()),
        (3, child),
        (5, other.id()),
        (7, other.id()),
        (9, other.id()),
        (11, other.id()),
    ] {
        assert_eq!(all[at].other, Some(about), "{:?}", all[at]);
    }
    assert_eq!((&*all[1].what, &*all[0].what), ("u64", std::any::type_name::<Order>()));
    assert!(all[3].what.contains("idle"), "{}", all[3].what);
    assert_eq!((&*all[11].what, &*all[12].what, &*all[15].what), ("enough", "enough", "normal"));
    let status = trace.status();
    assert_eq!((status.state, status.seen, status.gone), (State::Running, 16, 0));
    stop(&node);
}

// Limits make tracing safe in production
#[test]
fn a_trace_that_exceeds_its_limit_stops_and_reports_it() {
    // Options, state of the trace, number of events at 15 per second.
    for (options, why, seen) in [
        (Options::default().events(40), State::Enough, 40),
        (Options::default().events_per_second(15), State::Running, 45),
        (Options::default().events_per_second(14), State::TooFast, 14),
    ] {
        let mut simulation = Simulation::new(1);
        let node = simulation.node().clone();
        let trace = Trace::start(&node, options);
        let pid = node.spawn(idle);
        trace.follow(pid.id()).expect("it lives");
        for _ in 0..3 {
            (0..15).for_each(|_| pid.send(1));
            simulation.advance(Duration::from_secs(1));
        }
        let status = trace.status();
        assert_eq!((status.state, status.seen), (why, seen));
        if why != State::Running {
            assert_eq!(trace.follow(pid.id()), Err(FollowError::Stopped(why)));
            (0..1000).for_each(|_| pid.send(1));
            pid.send(0);
            simulation.advance(Duration::from_secs(1));
            assert_eq!(pid.exit_reason(), Some(ExitReason::Normal));
            assert_eq!(trace.status().seen, seen, "nothing more is seen");
        }
    }
}

#[test]
fn the_latest_events_are_kept_and_the_others_are_counted() {
    let node = node(1);
    let trace = Trace::start(&node, Options::default().kept(5));
    let pid = node.spawn(idle);
    trace.follow(pid.id()).expect("it lives");
    (1..=20).for_each(|n| pid.send(n));
    pid.send(0);
    let _ = outside(pid.ended());
    let status = trace.status();
    assert_eq!((status.seen, status.gone), (22, 17), "20 and a zero are received, and it ends");
    let events = trace.events(0);
    assert_eq!(events.len(), 5);
    assert_eq!(events.last().map(|event| event.kind), Some(EventKind::End));
    let last = events.last().map_or(0, |event| event.number);
    assert_eq!((trace.events(last - 1).len(), trace.events(last).len()), (1, 0));
    stop(&node);
}

#[test]
fn readers_do_not_cause_lost_events() {
    let node = node(2);
    let trace = Trace::start(&node, Options::default());
    let pids = [node.spawn(idle), node.spawn(idle)];
    pids.iter().for_each(|pid| trace.follow(pid.id()).expect("it lives"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let events = trace.events(0);
                    let numbers = events.iter().map(|event| event.number);
                    assert!(numbers.eq(1..=events.len() as u64));
                }
            })
        });
        for n in (0..400).rev() {
            pids.iter().for_each(|pid| pid.send(n));
        }
        pids.iter().for_each(|pid| drop(outside(pid.ended())));
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().expect("it only reads");
        }
    });
    // Fewer events than the buffer holds, in case a reader is descheduled while it reads.
    let status = trace.status();
    assert_eq!((status.seen, status.lost), (802, 0));
    for pid in pids {
        let mut own = trace.events(0);
        own.retain(|event| event.process == pid.id());
        assert_eq!((own.len(), own[400].kind), (401, EventKind::End), "in the order it did it");
    }
    stop(&node);
}

#[test]
fn only_followed_processes_are_traced() {
    let node = node(1);
    let (pid, other) = (node.spawn(idle), node.spawn(idle));
    let trace = Trace::start(&node, Options::default().processes(1));
    trace.follow(pid.id()).expect("it lives");
    assert_eq!(trace.follow(pid.id()), Ok(()), "it is followed already");
    assert_eq!(trace.follow(other.id()), Err(FollowError::TooMany(1)));
    pid.send(1);
    other.send(1);
    assert_eq!(kinds(&events(&trace, &pid, 1)), [EventKind::Receive]);
    trace.unfollow(pid.id());
    pid.send(0);
    other.send(0);
    let _ = (outside(pid.ended()), outside(other.ended()));
    assert_eq!(trace.follow(pid.id()), Err(FollowError::NoProcess(pid.id())));
    assert_eq!(trace.events(0).len(), 1);
    stop(&node);
}

// The content of a message is recorded only on request, for each type.
#[test]
fn message_contents_are_recorded_only_on_request() {
    let node = node(1);
    let shown = Options::default().show(|n: &u64| match n {
        3 => panic!("not that one"),
        n => format!("the number {n}"),
    });
    let trace = Trace::start(&node, shown);
    let pid = node.spawn(idle);
    trace.follow(pid.id()).expect("it lives");
    [1, 3, 0].into_iter().for_each(|n| pid.send(n));
    let _ = outside(pid.ended());
    let seen = trace.events(0);
    let what: Vec<_> = seen.iter().map(|event| &*event.what).collect();
    assert_eq!(what, ["the number 1", "u64", "the number 0", "normal"]);
    stop(&node);
}

#[test]
fn children_are_followed_only_on_request() {
    for (options, ends) in [(Options::default(), 1), (Options::default().children(true), 2)] {
        let mut simulation = Simulation::new(1);
        let node = simulation.node().clone();
        let trace = Trace::start(&node, options);
        let worker = node.spawn(async |mut me: Process<()>| {
            me.receive().await;
            spawn(async |_: Process<()>| {}).ended().await;
        });
        trace.follow(worker.id()).expect("it lives");
        worker.send(());
        simulation.advance(Duration::ZERO);
        let ended = trace.events(0).iter().filter(|event| event.kind == EventKind::End).count();
        assert_eq!(ended, ends);
    }
}

// An ended process frees its place: a server may have any number of children, one after the other. A
// simulation, because another thread may see that a process has ended before its place is free.
#[test]
fn ended_children_free_their_place_and_children_without_a_place_are_counted() {
    for (places, ends, left_out) in [(2, 6, 0), (1, 1, 5)] {
        let mut simulation = Simulation::new(1);
        let node = simulation.node().clone();
        let trace = Trace::start(&node, Options::default().children(true).processes(places));
        let worker = node.spawn(async |mut me: Process<()>| {
            me.receive().await;
            for _ in 0..5 {
                spawn(async |_: Process<()>| {}).ended().await;
            }
        });
        trace.follow(worker.id()).expect("it lives");
        worker.send(());
        simulation.advance(Duration::ZERO);
        assert!(!worker.is_alive());
        let ended = trace.events(0).iter().filter(|event| event.kind == EventKind::End).count();
        let status = trace.status();
        assert_eq!((ended, status.left_out), (ends, left_out), "{status:?}");
        assert!(status.processes.len() <= places);
    }
}

#[test]
fn a_process_that_ends_before_it_is_traced_frees_its_place() {
    let mut simulation = Simulation::new(1);
    let node = simulation.node().clone();
    let trace = Arc::new(Trace::start(&node, Options::default().processes(1)));
    let own = Arc::clone(&trace);
    // It ends in the turn in which the trace attaches to it.
    let short = node.spawn(async move |me: Process<()>| own.follow(me.id()));
    simulation.advance(Duration::ZERO);
    assert_eq!(short.exit_reason(), Some(ExitReason::Normal), "the trace follows it");
    assert_eq!(trace.follow(node.spawn(idle).id()), Ok(()));
}

// A process is traced by at most one trace
#[test]
fn a_process_that_another_trace_takes_over_frees_its_place() {
    for ends in [false, true] {
        let mut simulation = Simulation::new(1);
        let node = simulation.node().clone();
        let (pid, other) = (node.spawn(idle), node.spawn(idle));
        let [first, second] =
            [(); 2].map(|()| Trace::start(&node, Options::default().processes(1)));
        assert_eq!((first.follow(pid.id()), second.follow(pid.id())), (Ok(()), Ok(())));
        pid.send(u64::from(!ends));
        simulation.advance(Duration::ZERO);
        assert_eq!(pid.is_alive(), !ends);
        assert_eq!(first.follow(other.id()), Ok(()));
        assert_eq!((first.events(0).len(), second.events(0).len()), (0, 1 + usize::from(ends)));
    }
}

// It does so each time
#[test]
fn a_process_that_a_trace_takes_back_has_a_place_again() {
    let mut simulation = Simulation::new(1);
    let node = simulation.node().clone();
    let (pid, other) = (node.spawn(idle), node.spawn(idle));
    let [first, second] = [(); 2].map(|()| Trace::start(&node, Options::default().processes(1)));
    for trace in [&first, &second, &first] {
        assert_eq!(trace.follow(pid.id()), Ok(()));
        pid.send(1);
        simulation.advance(Duration::ZERO);
    }
    assert_eq!((first.events(0).len(), second.events(0).len()), (2, 1));
    assert_eq!(first.follow(other.id()), Err(FollowError::TooMany(1)));
    assert_eq!(second.follow(other.id()), Ok(()));
}

// A trace does not keep its node alive and, once dropped, leaves nothing in the processes it
// followed.
#[test]
fn a_dropped_trace_leaves_nothing_in_its_processes() {
    let node = node(1);
    let pid = node.spawn(idle);
    let witness = std::sync::Arc::new(());
    let kept = std::sync::Arc::clone(&witness);
    let trace = Trace::start(&node, Options::default().show(move |_: &u64| format!("{kept:?}")));
    trace.follow(pid.id()).expect("it lives");
    pid.send(1);
    assert_eq!(events(&trace, &pid, 1).len(), 1);
    drop(trace);
    until("it is forgotten", || std::sync::Arc::strong_count(&witness) == 1);
    let trace = Trace::start(&node, Options::default());
    trace.follow(pid.id()).expect("it lives");
    let weak: purlin::WeakNode = Node::downgrade(&node);
    stop(&node);
    drop(node);
    assert!(weak.upgrade().is_none());
    assert!(matches!(trace.follow(pid.id()), Err(FollowError::NoProcess(_))));
}
