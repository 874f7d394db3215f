//! Children of supervisors that are found by key, and limits of their number and their restarts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::here;
use crate::waiting::{MS, comes, simulated, uptime};
use purlin::supervisor::{
    AutoShutdown, BadSpec, ChildProcess, ChildSpec, ChildTemplate, InitAck, Restart,
    StartChildError, SupervisorSpec,
};
use purlin::{Exit, ExitReason, Pid, Process, ProcessId, receive, task, yield_now};
use purlin_testkit::{Simulation, for_each_seed};

const SECOND: Duration = Duration::from_secs(1);

/// Message type of a room.
enum Order {
    Crash,
    End,
}

async fn room(mut me: Process<Order>, witness: Pid<Seen>) -> ExitReason {
    witness.send(Seen::Up(me.pid(), uptime()));
    match me.receive().await {
        Order::Crash => ExitReason::error("on purpose"),
        Order::End => ExitReason::Normal,
    }
}

/// Events that a test sees.
enum Seen {
    /// A room has started, at this time.
    Up(Pid<Order>, Duration),
    Exit,
}

impl From<Exit> for Seen {
    fn from(_: Exit) -> Self {
        Self::Exit
    }
}

/// Waits until a room has started.
async fn up(me: &mut Process<Seen>) -> (Pid<Order>, Duration) {
    receive!(me, { Seen::Up(pid, at) => (pid, at) })
}

/// Returns the delays before this many restarts of a child that crashes immediately.
async fn delays(me: &mut Process<Seen>, restarts: usize) -> Vec<u128> {
    let mut delays = Vec::new();
    let (mut pid, mut before) = up(me).await;
    for _ in 0..restarts {
        pid.send(Order::Crash);
        let (next, at) = up(me).await;
        delays.push((at - before).as_millis());
        (pid, before) = (next, at);
    }
    pid.send(Order::Crash);
    delays
}

// G2: restart backoff, which OTP does not have
#[test]
fn restarts_are_delayed_twice_as_long_each_time_until_the_child_has_run_for_long() {
    simulated(async |mut me: Process<Seen>| {
        let witness = me.pid();
        let child = ChildSpec::worker("room", move |me| room(me, witness));
        let spec = SupervisorSpec::one_for_one().intensity(100);
        let spec = spec.child(child.backoff(100 * MS, SECOND));
        let supervisor = spec.start_link(&me).await.expect("it starts");
        assert_eq!(delays(&mut me, 5).await, [100, 200, 400, 800, 1000]);

        // While the restart is delayed, the supervisor answers.
        let children = supervisor.which_children().await.expect("it lives");
        assert!(matches!(children[0].process, ChildProcess::Running(_) | ChildProcess::Restarting));
        let (pid, _) = up(&mut me).await;
        receive!(me, { Seen::Exit => {}, after 2 * SECOND => {} });
        let crashed = uptime();
        pid.send(Order::Crash);
        assert_eq!((up(&mut me).await.1 - crashed).as_millis(), 100, "the delays begin again");
    });
}

// G2: a delay ends with a request that restarts or terminates the child
#[test]
fn terminated_child_is_not_restarted_when_its_delay_is_over() {
    simulated(async |mut me: Process<Seen>| {
        let witness = me.pid();
        let child = ChildSpec::worker("room", move |me| room(me, witness));
        let spec =
            SupervisorSpec::one_for_one().intensity(100).child(child.backoff(SECOND, SECOND));
        let supervisor = spec.start_link(&me).await.expect("it starts");
        let (pid, _) = up(&mut me).await;
        pid.send(Order::Crash);
        pid.ended().await;
        supervisor.terminate_child("room").await.expect("it is there");
        assert!(supervisor.restart_child("room").await.is_ok());
        up(&mut me).await;
        receive!(me, {
            Seen::Up(..) => panic!("it was started twice"),
            after 2 * SECOND => {}
        });
        assert_eq!(supervisor.count_children().await.expect("it lives").active, 1);
    });
}

// G2: nor does its delay end the next one
#[test]
fn delay_of_a_terminated_child_does_not_shorten_the_next_one() {
    simulated(async |mut me: Process<Seen>| {
        let witness = me.pid();
        let child = ChildSpec::worker("room", move |me| room(me, witness));
        let child = child.backoff(10 * SECOND, 10 * SECOND);
        let spec = SupervisorSpec::one_for_one().intensity(100).child(child);
        let supervisor = spec.start_link(&me).await.expect("it starts");
        let (pid, _) = up(&mut me).await;
        pid.send(Order::Crash);
        receive!(me, { Seen::Exit => {}, after 8 * SECOND => {} });
        supervisor.terminate_child("room").await.expect("it is there");
        assert!(supervisor.restart_child("room").await.is_ok());
        let (pid, _) = up(&mut me).await;
        let crashed = uptime();
        pid.send(Order::Crash);
        assert_eq!(up(&mut me).await.1 - crashed, 10 * SECOND);
    });
}

// G2: children that are restarted together are stopped before the delay
#[test]
fn siblings_of_one_for_all_wait_for_the_delay() {
    simulated(async |mut me: Process<Seen>| {
        let witness = me.pid();
        let crashing = ChildSpec::worker("room", {
            let witness = witness.clone();
            move |me| room(me, witness)
        });
        let sibling = ChildSpec::worker("sibling", move |me| room(me, witness));
        let spec = SupervisorSpec::one_for_all().child(crashing.backoff(SECOND, SECOND));
        let supervisor = spec.child(sibling).start_link(&me).await.expect("it starts");
        let (room, _) = up(&mut me).await;
        let (sibling, began) = up(&mut me).await;
        room.send(Order::Crash);
        assert_eq!(sibling.ended().await, ExitReason::Shutdown);
        assert_eq!(supervisor.count_children().await.expect("it lives").active, 0);
        assert_eq!(up(&mut me).await.1 - began, SECOND);
        up(&mut me).await;
    });
}

// G2: an intensity per child: one child that always fails does not end the others
#[test]
fn child_that_reaches_its_own_intensity_is_given_up_alone() {
    simulated(async |mut me: Process<Seen>| {
        me.trap_exit(true);
        let template = ChildTemplate::worker("room", room).intensity(2, 5 * SECOND);
        let rooms = SupervisorSpec::simple_one_for_one(template).intensity(0);
        let rooms = rooms.start_link(&me).await.expect("it starts");
        let good = rooms.find_or_start("good", me.pid()).await.expect("it starts");
        up(&mut me).await;
        rooms.find_or_start("bad", me.pid()).await.expect("it starts");
        assert_eq!(delays(&mut me, 2).await, [0, 0]);
        while rooms.count_children().await.expect("it lives").workers > 1 {}
        assert!(good.is_alive());

        // Its key is free again.
        let again = rooms.find_or_start("bad", me.pid()).await.expect("it starts");
        assert_eq!(up(&mut me).await.0, again);
        // A named child stays without a process, and does not end its supervisor.
        let witness = me.pid();
        let child = ChildSpec::worker("bad", move |me| room(me, witness)).intensity(0, SECOND);
        let spec = SupervisorSpec::one_for_one().intensity(0).child(child);
        let supervisor = spec.start_link(&me).await.expect("it starts");
        let (pid, _) = up(&mut me).await;
        pid.send(Order::Crash);
        pid.ended().await;
        while supervisor.count_children().await.expect("it lives").active > 0 {}
        let children = supervisor.which_children().await.expect("it lives");
        assert_eq!(children[0].process, ChildProcess::Absent);
    });
}

// G2: siblings that are stopped for a restart would stay stopped if the child were given up alone
#[purlin::test]
async fn own_intensity_is_refused_where_siblings_are_restarted(me: Process<Seen>) {
    me.trap_exit(true);
    let child = || ChildSpec::worker("weak", async |_: Process<()>| ()).intensity(1, SECOND);
    let bad = BadSpec::OwnIntensity("weak".into());
    for spec in [SupervisorSpec::one_for_all(), SupervisorSpec::rest_for_one()] {
        let error = spec.clone().child(child()).start_link(&me).await.expect_err("it is refused");
        let ExitReason::Error(cause) = &error.reason else { panic!("{error}") };
        assert_eq!(cause.downcast_ref::<BadSpec>(), Some(&bad));
        let supervisor = spec.start_link(&me).await.expect("it has no children");
        let refused = supervisor.start_child(child()).await;
        assert_eq!(refused, Err(StartChildError::BadSpec(bad.clone())));
    }
}

// G2: earlier restarts do not count after `restart_child`
#[test]
fn given_up_child_that_is_restarted_on_request_begins_with_no_restarts_counted() {
    simulated(async |mut me: Process<Seen>| {
        let witness = me.pid();
        let child = ChildSpec::worker("room", move |me| room(me, witness));
        let child = child.backoff(100 * MS, 10 * SECOND).intensity(1, 60 * SECOND);
        let supervisor = SupervisorSpec::one_for_one().child(child).start_link(&me).await;
        let supervisor = supervisor.expect("it starts");
        for _ in 0..3 {
            assert_eq!(delays(&mut me, 1).await, [100]);
            while supervisor.count_children().await.expect("it lives").active > 0 {}
            let restarted = supervisor.restart_child("room").await;
            assert!(restarted.is_ok_and(|pid| pid.is_some()));
        }
    });
}

// G2: a significant child that is given up counts for the automatic shutdown
#[test]
fn significant_child_that_is_given_up_ends_its_supervisor() {
    simulated(async |mut me: Process<Seen>| {
        me.trap_exit(true);
        let witness = me.pid();
        let child = ChildSpec::worker("room", move |me| room(me, witness))
            .restart(Restart::Transient)
            .significant()
            .intensity(0, SECOND);
        let spec = SupervisorSpec::one_for_one().auto_shutdown(AutoShutdown::AnySignificant);
        let supervisor = spec.child(child).start_link(&me).await.expect("it starts");
        up(&mut me).await.0.send(Order::Crash);
        assert_eq!(supervisor.pid().ended().await, ExitReason::Shutdown);
    });
}

// G2: children found by key
#[test]
fn concurrent_callers_with_one_key_get_the_same_child() {
    simulated(async |me: Process<Seen>| {
        let template = ChildTemplate::worker("room", room).restart(Restart::Transient);
        let rooms = SupervisorSpec::simple_one_for_one(template).intensity(10);
        let rooms = rooms.start_link(&me).await.expect("it starts");
        let callers = (0..10).map(|_| {
            let (rooms, witness) = (rooms.clone(), me.pid());
            task::spawn(async move { rooms.find_or_start("lobby", witness).await })
        });
        let mut found = Vec::new();
        for caller in callers.collect::<Vec<_>>() {
            found.push(caller.await.expect("it ends").expect("it starts"));
        }
        assert!(found.iter().all(|room| *room == found[0]));
        let other = rooms.find_or_start("garden", me.pid()).await.expect("it starts");
        assert_ne!(other, found[0]);
        let children = rooms.which_children().await.expect("it lives");
        let ids: Vec<&str> = children.iter().map(|child| &*child.id).collect();
        assert_eq!(ids, ["lobby", "garden"]);
    });
}

// G2: a child that has ended is never returned by its key
#[test]
fn key_of_a_child_that_has_ended_gives_its_successor() {
    simulated(async |mut me: Process<Seen>| {
        let template = ChildTemplate::worker("room", room).restart(Restart::Transient);
        let rooms = SupervisorSpec::simple_one_for_one(template).intensity(100);
        let rooms = rooms.start_link(&me).await.expect("it starts");
        let mut before = rooms.find_or_start("lobby", me.pid()).await.expect("it starts");
        for round in 0..20 {
            before.send(if round % 2 == 0 { Order::End } else { Order::Crash });
            before.ended().await;
            let next = rooms.find_or_start("lobby", me.pid()).await.expect("it starts");
            assert_ne!(next, before);
            assert_eq!(rooms.count_children().await.expect("it lives").workers, 1);
            before = next;
        }
        me.flush();
    });
}

/// Message type of a child whose exit signal is late.
enum Late {
    End,
    /// Blocks in its destructor, and so delays the exit signals of the process whose mailbox holds
    /// it, until the sender of the channel is dropped.
    Blocks(mpsc::Receiver<()>),
}

impl Drop for Late {
    fn drop(&mut self) {
        if let Self::Blocks(released) = self {
            let _ = released.recv();
        }
    }
}

async fn ends_late(mut me: Process<Late>, (number, witness): (u32, Pid<u32>)) {
    witness.send(number);
    receive!(me, { Late::End => {} });
}

// G2: transient: a child is not restarted before its exit reason is known
#[purlin::test]
async fn key_of_a_child_whose_exit_signal_is_late_is_not_free_and_not_restarted(
    mut me: Process<u32>,
) {
    let template = ChildTemplate::worker("late", ends_late).restart(Restart::Transient);
    let template = template.backoff(SECOND, SECOND);
    let children = SupervisorSpec::simple_one_for_one(template).intensity(0);
    let children = children.start_link(&me).await.expect("it starts");
    let first = children.find_or_start("key", (1, me.pid())).await.expect("it starts");
    assert_eq!(me.receive().await, 1);
    let (release, released) = mpsc::channel();
    first.send(Late::Blocks(released));
    first.send(Late::End);
    comes("the child has ended", || !first.is_alive()).await;
    let second = children.find_or_start("key", (2, me.pid())).await;
    assert_eq!(second, Err(StartChildError::Restarting));
    drop(release);
    // It ended with `normal`, so its key becomes free.
    let second = loop {
        match children.find_or_start("key", (2, me.pid())).await {
            Err(StartChildError::Restarting) => yield_now().await,
            found => break found.expect("the supervisor lives"),
        }
    };
    assert_eq!(me.receive().await, 2);
    assert!(second.is_alive());
    assert_eq!(children.count_children().await.expect("it lives").workers, 1);
}

// G2: a child that unlinked itself sends no exit signal
#[test]
fn key_of_a_child_that_has_unlinked_itself_and_ended_becomes_free() {
    simulated(async |mut me: Process<u32>| {
        let child = async |mut me: Process<()>, (number, supervisor, witness)| {
            let (witness, supervisor): (Pid<u32>, ProcessId) = (witness, supervisor);
            me.unlink(supervisor);
            witness.send(number);
            me.receive().await;
        };
        let template = ChildTemplate::worker("free", child).restart(Restart::Temporary);
        let children = SupervisorSpec::simple_one_for_one(template).start_link(&me).await;
        let children = children.expect("it starts");
        for number in 1..4 {
            let arguments = (number, children.id(), me.pid());
            let child = children.find_or_start("key", arguments).await.expect("the key is free");
            assert_eq!(me.receive().await, number);
            child.send(());
            child.ended().await;
        }
    });
}

// G2: one request handles the end of a child at most once
#[test]
fn supervisor_stops_while_a_child_that_is_asked_for_ends_at_once() {
    simulated(async |me: Process<Seen>| {
        let is_first = Arc::new(AtomicBool::new(true));
        let child = async move |mut me: Process<()>, ack: InitAck, (): ()| {
            ack.ok();
            if is_first.swap(false, Ordering::Relaxed) {
                me.receive().await;
            }
        };
        let template = ChildTemplate::worker_with_ack("child", child);
        let children = SupervisorSpec::simple_one_for_one(template).intensity(1000);
        let children = children.start(&here()).await.expect("it starts");
        let first = children.find_or_start("key", ()).await.expect("it starts");
        first.send(());
        first.ended().await;
        let found = children.find_or_start("key", ()).await;
        assert_eq!(found, Err(StartChildError::Restarting));
        assert_eq!(children.stop(ExitReason::Normal).await, ExitReason::Normal);
        drop(me);
    });
}

// E1: a stopping node spawns nothing, so its supervisors restart nothing
#[test]
fn delayed_restart_that_is_due_when_the_node_stops_is_not_tried() {
    for_each_seed(20, |seed| {
        let mut simulation = Simulation::new(seed);
        let node = simulation.node().clone();
        simulation.run(async move |mut me: Process<Seen>| {
            let witness = me.pid();
            let child = ChildSpec::worker("room", move |me| room(me, witness));
            let spec = SupervisorSpec::one_for_one().child(child.backoff(SECOND, SECOND));
            let supervisor = spec.start(&here()).await.expect("it starts");
            let (pid, _) = up(&mut me).await;
            pid.send(Order::Crash);
            pid.ended().await;
            // The supervisor waits for this child from before the delay is over until the node
            // stops.
            let _waits = task::spawn(async move {
                let waits = async |mut me: Process<()>, ack: InitAck| {
                    me.receive().await;
                    ack.ok();
                };
                supervisor.start_child(ChildSpec::worker_with_ack("waits", waits)).await
            });
            receive!(me, { Seen::Exit => {}, after 2 * SECOND => {} });
        });
        simulation.stop();
        let contexts: Vec<_> = node.crashes().reports.iter().map(|report| report.context).collect();
        assert_eq!(contexts, ["child_terminated"]);
    });
}

// G2: max_children
#[purlin::test]
async fn dynamic_supervisor_starts_at_most_max_children(me: Process<Seen>) {
    let template = ChildTemplate::worker("room", room).restart(Restart::Temporary);
    let rooms = SupervisorSpec::simple_one_for_one(template).max_children(2);
    let rooms = rooms.start_link(&me).await.expect("it starts");
    let first = rooms.start_child(me.pid()).await.expect("it starts");
    rooms.find_or_start("second", me.pid()).await.expect("it starts");
    assert_eq!(rooms.start_child(me.pid()).await, Err(StartChildError::MaxChildren));
    let third = rooms.find_or_start("third", me.pid()).await;
    assert_eq!(third, Err(StartChildError::MaxChildren));
    assert!(rooms.find_or_start("second", me.pid()).await.is_ok(), "it exists");
    rooms.terminate_child(&first).await.expect("it is a child");
    assert!(rooms.start_child(me.pid()).await.is_ok());
}

// G2: a child that is found may be used from any thread or task
#[purlin::test]
async fn typed_handle_of_a_child_is_used_outside_of_processes(me: Process<Seen>) {
    let template = ChildTemplate::worker("room", room).restart(Restart::Temporary);
    let rooms = SupervisorSpec::simple_one_for_one(template).start_link(&me).await;
    let (rooms, witness) = (rooms.expect("it starts"), me.pid());
    let outside = tokio::spawn(async move {
        let room = rooms.find_or_start("lobby", witness).await.expect("it starts");
        room.send(Order::End);
        room.ended().await
    });
    assert_eq!(outside.await.expect("it ends"), ExitReason::Normal);
}
