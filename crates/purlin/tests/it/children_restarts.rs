//! Children of supervisors that are found by key, and limits of their number and their restarts.

use std::time::Duration;

use crate::waiting::{MS, simulated, uptime};
use purlin::supervisor::{
    AutoShutdown, ChildProcess, ChildSpec, ChildTemplate, Restart, StartChildError, SupervisorSpec,
};
use purlin::{Exit, ExitReason, Pid, Process, receive, task};

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

/// Returns the delays before this many restarts of a child that crashes at once.
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
