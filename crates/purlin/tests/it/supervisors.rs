//! Supervisors with real child processes: the rules of the unit tests hold for them.

use std::convert::Infallible;
use std::time::Duration;

use crate::common::{Barbed, PanicsWhenDropped, here};
use crate::waiting::{MS, rest, simulated, uptime};
use purlin::server::{self, Init, Mail, Next, Server};
use purlin::supervisor::{
    AutoShutdown, BadSpec, ChildProcess, ChildSpec, ChildTemplate, DeleteError,
    DynamicSupervisorRef, FailedToStartChild, Restart, RestartError, Shutdown, StartChildError,
    SupervisorRef, SupervisorSpec, TerminateError,
};
use purlin::{Exit, ExitReason, Node, Pid, Process, ProcessId, Reply, receive, spawn};
use purlin_testkit::{Simulation, for_each_seed};

/// Events of the children that a test sees.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Up(&'static str, Pid<Order>),
    /// The child got an exit signal.
    Exited(&'static str, ExitReason),
    Exit(Exit),
}

impl From<Exit> for Seen {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// Message type of a child.
#[derive(Debug)]
enum Order {
    End(ExitReason),
    Exit(Exit),
    Ping(Reply<()>),
}

impl From<Exit> for Order {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

async fn child(mut me: Process<Order>, id: &'static str, witness: Pid<Seen>) -> ExitReason {
    me.trap_exit(true);
    witness.send(Seen::Up(id, me.pid()));
    loop {
        match me.receive().await {
            Order::End(reason) => return reason,
            Order::Exit(exit) => {
                witness.send(Seen::Exited(id, exit.reason.clone()));
                return exit.reason;
            }
            Order::Ping(reply) => reply.send(()),
        }
    }
}

fn worker(id: &'static str, me: &Process<Seen>) -> ChildSpec<Pid<Order>> {
    let witness = me.pid();
    ChildSpec::worker(id, move |me| child(me, id, witness))
}

/// Waits until the child with this id is up.
async fn up(me: &mut Process<Seen>, id: &'static str) -> Pid<Order> {
    receive!(me, { Seen::Up(up, pid) if up == id => pid })
}

async fn seen(me: &mut Process<Seen>) -> String {
    match me.receive().await {
        Seen::Up(id, _) => format!("up {id}"),
        Seen::Exited(id, reason) => format!("{reason} {id}"),
        Seen::Exit(exit) => format!("exit {}", exit.reason),
    }
}

async fn seen_all<const N: usize>(me: &mut Process<Seen>) -> [String; N] {
    let mut all = std::array::from_fn(|_| String::new());
    for one in &mut all {
        *one = seen(me).await;
    }
    all
}

fn oops() -> ExitReason {
    ExitReason::error("oops")
}

// G2: one_for_one; children start in order and stop in reverse order
#[purlin::test]
async fn one_for_one_restarts_the_ended_child_and_stops_in_reverse_order(mut me: Process<Seen>) {
    me.trap_exit(true);
    let spec = SupervisorSpec::one_for_one()
        .child(worker("a", &me))
        .child(worker("b", &me))
        .child(worker("c", &me));
    let supervisor = spec.start_link(&me).await.expect("all start");
    let (_, b, _) = (up(&mut me, "a").await, up(&mut me, "b").await, up(&mut me, "c").await);
    b.send(Order::End(oops()));
    let again = up(&mut me, "b").await;
    assert_ne!(b, again);
    assert_eq!(supervisor.stop(ExitReason::Shutdown).await, ExitReason::Shutdown);
    assert_eq!(
        seen_all(&mut me).await,
        ["shutdown c", "shutdown b", "shutdown a", "exit shutdown"]
    );
}

// G2: one_for_all, rest_for_one; temporary children
#[purlin::test]
async fn affected_children_stop_in_reverse_order_and_start_in_order(mut me: Process<Seen>) {
    let children = |spec: SupervisorSpec, me: &Process<Seen>| {
        spec.child(worker("a", me))
            .child(worker("b", me))
            .child(worker("t", me).restart(Restart::Temporary))
            .child(worker("c", me))
    };
    let all = children(SupervisorSpec::one_for_all(), &me).start_link(&me).await;
    let mut b = None;
    for _ in 0..4 {
        if let Seen::Up("b", pid) = me.receive().await {
            b = Some(pid);
        }
    }
    b.expect("b is up").send(Order::End(oops()));
    assert_eq!(seen_all(&mut me).await, ["shutdown c", "shutdown t", "shutdown a"]);
    // M3: each child reports independently that it is up
    let mut ups: [String; 3] = seen_all(&mut me).await;
    ups.sort();
    assert_eq!(ups, ["up a", "up b", "up c"]);
    all.expect("it started").stop(ExitReason::Normal).await;
    me.flush();

    let rest = children(SupervisorSpec::rest_for_one(), &me).start_link(&me).await;
    let b = up(&mut me, "b").await;
    for id in ["a", "t", "c"] {
        up(&mut me, id).await;
    }
    b.send(Order::End(oops()));
    assert_eq!(seen_all(&mut me).await, ["shutdown c", "shutdown t"]);
    let mut ups: [String; 2] = seen_all(&mut me).await;
    ups.sort();
    assert_eq!(ups, ["up b", "up c"]);
    let left = rest.expect("it started").which_children().await.expect("it lives");
    assert_eq!(left.iter().map(|child| &*child.id).collect::<Vec<_>>(), ["a", "b", "c"]);
}

// G2: more restarts than `intensity` within a sliding window end the supervisor with the reason `shutdown`
#[purlin::test]
async fn a_supervisor_gives_up_with_shutdown_when_its_intensity_is_exceeded(mut me: Process<Seen>) {
    me.trap_exit(true);
    let spec = SupervisorSpec::one_for_one()
        .intensity(3)
        .period(Duration::from_secs(1000))
        .child(worker("steady", &me))
        .child(worker("crash", &me));
    let supervisor = spec.start_link(&me).await.expect("both start");
    up(&mut me, "steady").await;
    for _ in 0..4 {
        let crash = up(&mut me, "crash").await;
        crash.send(Order::End(oops()));
    }
    assert_eq!(seen_all(&mut me).await, ["shutdown steady", "exit shutdown"]);
    assert!(!supervisor.pid().is_alive());
}

/// Lets virtual time pass.
async fn pass(me: &mut Process<Seen>, time: Duration) {
    receive!(me, {
        Seen::Exited(_, reason) => panic!("a process was sent {reason}"),
        after time => {}
    });
}

// G2: the restart window slides
#[test]
fn the_restart_window_slides_with_the_clock_of_the_node() {
    let mut simulation = Simulation::new(4);
    simulation.run(async |mut me: Process<Seen>| {
        me.trap_exit(true);
        let spec = SupervisorSpec::one_for_one()
            .intensity(2)
            .period(Duration::from_secs(3600))
            .child(worker("crash", &me));
        let supervisor = spec.start_link(&me).await.expect("it starts");
        // Two restarts per hour, for a day.
        for _ in 0..48 {
            up(&mut me, "crash").await.send(Order::End(oops()));
            pass(&mut me, Duration::from_secs(1802)).await;
        }
        let last = up(&mut me, "crash").await;
        assert_eq!(supervisor.count_children().await.expect("it lives").active, 1);
        // One more, before those of the last hour expire.
        last.send(Order::End(oops()));
        let last = up(&mut me, "crash").await;
        last.send(Order::End(oops()));
        assert_eq!(supervisor.pid().ended().await, ExitReason::Shutdown);
    });
}

// G2: for any order of events a child runs at most once, and none outlives its supervisor
#[test]
fn child_exits_and_requests_may_come_in_any_order() {
    for_each_seed(100, |seed| {
        Simulation::new(seed).run(async |mut me: Process<Seen>| {
            me.trap_exit(true);
            let spec = SupervisorSpec::rest_for_one()
                .intensity(1000)
                .child(worker("a", &me))
                .child(worker("b", &me))
                .child(worker("c", &me));
            let supervisor = spec.start_link(&me).await.expect("all start");
            let mut pids = vec![up(&mut me, "a").await, up(&mut me, "b").await];
            pids[0].send(Order::End(oops()));
            pids[1].send(Order::End(oops()));
            let terminated = supervisor.terminate_child("b").await;
            assert_eq!(terminated, Ok(()));
            pids[0].exit(ExitReason::Kill);
            let restarted = supervisor.restart_child("b").await;
            // The end of `a` may have restarted it before.
            assert!(matches!(restarted, Ok(Some(_)) | Err(RestartError::Running)), "{restarted:?}");
            assert_eq!(supervisor.count_children().await.expect("it lives").specs, 3);
            supervisor.stop(ExitReason::Shutdown).await;
            for seen in me.flush() {
                if let Seen::Up(_, pid) = seen {
                    pids.push(pid);
                }
            }
            assert!(pids.iter().all(|pid| !pid.is_alive()), "none outlives its supervisor");
        });
    });
}

// G2: an exit signal of the parent stops the supervisor, with any reason; others are ignored
#[purlin::test]
async fn only_the_exit_signal_of_its_parent_stops_a_supervisor(mut me: Process<Seen>) {
    let (tx, rx) = tokio::sync::oneshot::channel();
    let spec = SupervisorSpec::one_for_one().child(worker("a", &me));
    let parent = spawn(async move |mut me: Process<ExitReason>| {
        let supervisor = spec.start_link(&me).await.expect("it starts");
        let _ = tx.send(supervisor.clone());
        let reason = me.receive().await;
        supervisor.pid().exit(reason);
        supervisor.pid().ended().await
    });
    let supervisor = rx.await.expect("the parent sends it");
    up(&mut me, "a").await;
    supervisor.pid().exit(ExitReason::Shutdown);
    assert_eq!(supervisor.count_children().await.expect("it lives").active, 1);
    parent.send(oops());
    assert_eq!(supervisor.pid().ended().await, oops());
    assert_eq!(seen(&mut me).await, "shutdown a");
}

// G2, L2: a tree ends with the parent of its top supervisor
#[purlin::test]
async fn a_supervisor_and_its_children_end_with_its_parent(mut me: Process<Seen>) {
    let spec = SupervisorSpec::one_for_one().child(ChildSpec::supervisor(
        "inner",
        SupervisorSpec::one_for_all().child(worker("a", &me)),
    ));
    let parent = spawn(async move |mut me: Process<ExitReason>| {
        let _supervisor = spec.start_link(&me).await.expect("it starts");
        me.receive().await
    });
    let a = up(&mut me, "a").await;
    parent.send(oops());
    assert_eq!(seen(&mut me).await, "shutdown a");
    assert_eq!(a.ended().await, ExitReason::Shutdown);
}

// G2: shutdown with a timeout and brutal kill
#[test]
fn a_child_that_does_not_end_in_time_is_killed() {
    async fn stubborn(mut me: Process<Order>, witness: Pid<Seen>) {
        me.trap_exit(true);
        witness.send(Seen::Up("stubborn", me.pid()));
        loop {
            if let Order::Exit(exit) = me.receive().await {
                witness.send(Seen::Exited("stubborn", exit.reason));
            }
        }
    }
    simulated(async |mut me: Process<Seen>| {
        let witness = me.pid();
        let spec = |shutdown| {
            let witness = witness.clone();
            let child = ChildSpec::worker("stubborn", move |me| stubborn(me, witness));
            SupervisorSpec::one_for_one().child(child.shutdown(shutdown))
        };
        let timeout = Shutdown::Timeout(20 * MS);
        let supervisor = spec(timeout).start_link(&me).await.expect("it starts");
        let (child, began) = (up(&mut me, "stubborn").await, uptime());
        supervisor.terminate_child("stubborn").await.expect("it is there");
        assert_eq!((child.exit_reason(), uptime() - began), (Some(ExitReason::Killed), 20 * MS));
        assert_eq!(seen(&mut me).await, "shutdown stubborn");

        let supervisor = spec(Shutdown::BrutalKill).start_link(&me).await.expect("it starts");
        let (child, began) = (up(&mut me, "stubborn").await, uptime());
        supervisor.terminate_child("stubborn").await.expect("it is there");
        let at_once = (Some(ExitReason::Killed), Duration::ZERO);
        assert_eq!((child.exit_reason(), uptime() - began), at_once);
        assert!(me.try_receive().is_none(), "it was not asked");
    });
}

// L7: a supervisor waits a bounded time for a child that does not end, and then continues
#[purlin::test]
async fn a_child_that_does_not_yield_is_abandoned(me: Process<Seen>) {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Arc::new(std::sync::Mutex::new(held));
    let (tx, rx) = tokio::sync::mpsc::unbounded_channel();
    let hog = move |_: Process<()>| async move {
        let _ = tx.send(());
        let held = held.lock().expect("the lock is not poisoned");
        let _ = held.recv();
    };
    let child = ChildSpec::worker("hog", hog).shutdown(Shutdown::BrutalKill);
    let spec = SupervisorSpec::one_for_one().child(child);
    let supervisor = spec.start_link(&me).await.expect("it starts");
    let mut rx = rx;
    rx.recv().await.expect("it runs");
    // WHY real time: the child blocks its thread, and a simulation has only one. The supervisor waits 2 s, and the
    // child until the supervisor has continued, however long that takes.
    supervisor.terminate_child("hog").await.expect("it is there");
    assert_eq!(supervisor.count_children().await.expect("it lives").active, 0);
    drop(release);
}

// G2: simple_one_for_one
#[purlin::test]
async fn dynamic_children_keep_their_arguments_and_stop_concurrently(mut me: Process<Seen>) {
    let witness = me.pid();
    let template =
        ChildTemplate::worker("pupil", move |me, id: &'static str| child(me, id, witness));
    let spec = SupervisorSpec::simple_one_for_one(template).name("pupils");
    let pupils = spec.start_link(&me).await.expect("it needs nothing");
    let mut pids: Vec<ProcessId> = Vec::new();
    for id in ["x", "y", "z"] {
        pids.push(pupils.start_child(id).await.expect("there is room").id());
    }
    let (_, y, _) = (up(&mut me, "x").await, up(&mut me, "y").await, up(&mut me, "z").await);
    y.send(Order::End(oops()));
    assert_eq!(seen(&mut me).await, "up y");
    assert_eq!(pupils.terminate_child(me.id()).await, Err(TerminateError::NotFound));
    assert_eq!(pupils.terminate_child(pids[0]).await, Ok(()));
    assert_eq!(pupils.terminate_child(pids[0]).await, Ok(()), "it has ended, as was wanted");
    assert_eq!(seen(&mut me).await, "shutdown x");
    let counts = pupils.count_children().await.expect("it lives");
    assert_eq!((counts.specs, counts.active, counts.workers), (1, 2, 2));
    let others = DynamicSupervisorRef::<u8>::whereis("pupils").expect("it has the name");
    assert_eq!(others.start_child(7).await, Err(StartChildError::OtherArguments));
    pupils.stop(ExitReason::Normal).await;
    let mut seen: [String; 2] = seen_all(&mut me).await;
    seen.sort();
    assert_eq!(seen, ["shutdown y", "shutdown z"]);
}

/// A server whose `init` succeeds, is ignored or fails, depending on its arguments.
#[derive(Debug)]
struct Clerk;

#[derive(Clone, Debug)]
enum Begin {
    Up(&'static str, Pid<Seen>),
    Ignore,
    Fail,
}

#[derive(Debug)]
struct Resign;

impl Server for Clerk {
    type Args = Begin;
    type Call = Infallible;
    type Cast = Resign;
    type Info = Infallible;
    type Continue = Infallible;

    async fn init(begin: Begin, me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        match begin {
            Begin::Up(id, witness) => {
                let done = Exit { from: Some(me.id()), reason: ExitReason::error(id) };
                witness.send(Seen::Exit(done));
                Ok(Init::Ready(Clerk))
            }
            Begin::Ignore => Ok(Init::Ignore),
            Begin::Fail => Err(oops().into()),
        }
    }

    async fn handle_cast(
        &mut self,
        _: Resign,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        Err(oops().into())
    }
}

// G1, G2: a server child is up when its `init` has returned, so that children start in order
#[purlin::test]
async fn server_children_start_in_order_after_init(mut me: Process<Seen>) {
    me.trap_exit(true);
    let clerk = |id, begin: Begin| {
        ChildSpec::server(id, move |me| server::start_link::<Clerk>(me, begin.clone()))
    };
    let witness = me.pid();
    let spec = SupervisorSpec::rest_for_one()
        .child(clerk("a", Begin::Up("a", witness.clone())))
        .child(clerk("none", Begin::Ignore))
        .child(clerk("b", Begin::Up("b", witness.clone())));
    let supervisor = spec.start_link(&me).await.expect("all start");
    assert_eq!(seen_all(&mut me).await, ["exit a", "exit b"]);
    let children = supervisor.which_children().await.expect("it lives");
    assert_eq!(children[1].process, ChildProcess::Absent);
    let ChildProcess::Running(a) = children[0].process else { panic!("{children:?}") };
    let node = Node::current().expect("a process lives on a node");
    let a: Pid<Mail<Clerk>> = node.pid(a).expect("it is a clerk");
    a.send(Mail::Cast(Resign));
    assert_eq!(seen_all(&mut me).await, ["exit a", "exit b"]);

    let failed = supervisor.start_child(clerk("fails", Begin::Fail)).await;
    assert_eq!(failed, Err(StartChildError::Failed(oops())));
    assert_eq!(supervisor.restart_child("none").await, Ok(None));

    let template = ChildTemplate::server("clerk", server::start_link::<Clerk>);
    let clerks = SupervisorSpec::simple_one_for_one(template).start_link(&me).await;
    let clerks = clerks.expect("it needs nothing");
    let started = clerks.start_child(Begin::Up("c", witness)).await;
    assert!(started.is_ok());
    assert_eq!(seen(&mut me).await, "exit c");
    assert_eq!(clerks.start_child(Begin::Ignore).await, Err(StartChildError::Ignored));
}

// G2: a child that is not linked to its supervisor is rejected
#[purlin::test]
async fn a_server_that_is_not_linked_to_its_supervisor_is_not_started(mut me: Process<Seen>) {
    me.trap_exit(true);
    let witness = me.pid();
    let clerk = ChildSpec::server("clerk", move |_| {
        server::start::<Clerk>(Begin::Up("clerk", witness.clone()))
    });
    let error = SupervisorSpec::one_for_one().child(clerk).start_link(&me).await.unwrap_err();
    assert!(error.to_string().contains("start_link"), "{error}");
    assert!(matches!(me.receive().await, Seen::Exit(exit) if exit.reason == error.reason));
    assert!(me.try_receive().is_none(), "its init was not called");
}

// G2: dynamic children all use one template
#[purlin::test]
async fn a_dynamic_supervisor_rejects_children_of_another_kind(me: Process<Seen>) {
    let template = ChildTemplate::worker("own", async |mut me: Process<()>, (): ()| {
        me.receive().await;
    });
    let simple = SupervisorSpec::simple_one_for_one(template).name("own");
    simple.start_link(&me).await.expect("it starts");
    let supervisor = SupervisorRef::whereis("own").expect("it has the name");
    let refused = supervisor.start_child(worker("other", &me)).await;
    assert_eq!(refused, Err(StartChildError::OtherArguments));
}

/// A value whose `clone` panics.
struct Unique;

impl Clone for Unique {
    fn clone(&self) -> Self {
        panic!("there is one")
    }
}

// G2: user code may panic, and the supervisor continues
#[purlin::test]
async fn a_panic_while_cloning_a_template_is_a_failed_start(me: Process<Seen>) {
    let unique = Unique;
    let function = move |mut me: Process<()>, (): ()| {
        let _unique = unique;
        async move { me.receive().await }
    };
    let simple = SupervisorSpec::simple_one_for_one(ChildTemplate::worker("one", function));
    let simple = simple.start_link(&me).await.expect("it starts");
    let Err(StartChildError::Failed(reason)) = simple.start_child(()).await else {
        panic!("it cannot start")
    };
    assert!(reason.to_string().ends_with("there is one"), "{reason}");
    assert_eq!(simple.count_children().await.expect("it lives").active, 0);
}

// G2: a panic in the destructor of a child's arguments does not end the supervisor
#[purlin::test]
async fn a_panic_while_dropping_child_arguments_is_contained(me: Process<Seen>) {
    let function = async |mut me: Process<()>, arguments: PanicsWhenDropped| {
        // The copy kept by the supervisor panics, not the child's.
        std::mem::forget(arguments);
        me.receive().await;
    };
    let simple = SupervisorSpec::simple_one_for_one(ChildTemplate::worker("bomb", function));
    let simple = simple.start_link(&me).await.expect("it starts");
    let child = simple.start_child(PanicsWhenDropped("arguments")).await.expect("it starts");
    assert_eq!(simple.terminate_child(&child).await, Ok(()));
    assert_eq!(simple.count_children().await.expect("it lives").active, 0);
}

// G2: a panic in the destructor of arguments that are not needed does not end the supervisor
#[purlin::test]
async fn a_panic_while_dropping_arguments_that_start_no_child_is_contained(me: Process<Seen>) {
    let function = async |mut me: Process<()>, arguments: PanicsWhenDropped| {
        std::mem::forget(arguments);
        me.receive().await;
    };
    let simple = SupervisorSpec::simple_one_for_one(ChildTemplate::worker("bomb", function));
    let simple = simple.start_link(&me).await.expect("it starts");
    let first = simple.find_or_start("key", PanicsWhenDropped("first")).await.expect("it starts");
    assert_eq!(simple.find_or_start("key", PanicsWhenDropped("second")).await, Ok(first));
}

// G2: a panic in the destructor of a template does not change the exit reason of the supervisor
#[purlin::test]
async fn a_panic_while_dropping_a_template_is_contained() {
    let bomb = PanicsWhenDropped("captured");
    let function = async move |mut me: Process<()>, (): ()| {
        let _captured = &bomb;
        me.receive().await;
    };
    let simple = SupervisorSpec::simple_one_for_one(ChildTemplate::worker("bomb", function));
    let simple = simple.start(&here()).await.expect("it starts");
    assert_eq!(simple.stop(ExitReason::Normal).await, ExitReason::Normal);
}

// G2, P2: a panic in the destructor of a child's exit reason does not end the supervisor
#[test]
fn a_panic_while_dropping_the_exit_reason_of_a_child_is_contained() {
    Simulation::new(1).run(async |_: Process<()>| {
        let barbed =
            async |_: Process<()>, barb| ExitReason::error(Barbed(PanicsWhenDropped(barb)));
        let template = ChildTemplate::worker("barbed", barbed).restart(Restart::Temporary);
        let simple = SupervisorSpec::simple_one_for_one(template).start(&here()).await;
        let simple = simple.expect("it starts");
        // WHY dropped: the supervisor then drops the last clone of the reason.
        drop(simple.start_child("a barb").await.expect("it starts"));
        rest().await;
        assert_eq!(simple.count_children().await.expect("it lives").active, 0);
    });
}

/// Returns the virtual time that the stop of a supervisor takes if all its children have unlinked themselves and ended.
fn stop_with_unlinked_children(children: usize) -> Duration {
    Simulation::new(1).run(async move |_: Process<()>| {
        let template = ChildTemplate::worker("free", async |me: Process<()>, from: ProcessId| {
            me.unlink(from);
        });
        let simple = SupervisorSpec::simple_one_for_one(template);
        let simple = simple.start(&here()).await.expect("it starts");
        let mut started = Vec::new();
        for _ in 0..children {
            started.push(simple.start_child(simple.id()).await.expect("it starts").id());
        }
        assert_eq!(started.len(), children);
        rest().await;
        assert!(started.iter().all(|child| here().process_info(*child).is_none()));
        let began = uptime();
        simple.stop(ExitReason::Normal).await;
        uptime() - began
    })
}

// G2: children that ended after unlinking do not delay the stop, whatever their number
#[test]
fn the_stop_time_does_not_depend_on_the_number_of_unlinked_ended_children() {
    let one = stop_with_unlinked_children(1);
    assert!(one < Duration::from_secs(1), "{one:?}");
    assert_eq!(stop_with_unlinked_children(100), one);
}

// G2: significant children and auto_shutdown
#[purlin::test]
async fn a_supervisor_ends_when_all_significant_children_have_ended(mut me: Process<Seen>) {
    me.trap_exit(true);
    let significant =
        |id, me: &Process<Seen>| worker(id, me).restart(Restart::Transient).significant();
    let spec = SupervisorSpec::one_for_one()
        .auto_shutdown(AutoShutdown::AllSignificant)
        .child(worker("plain", &me))
        .child(significant("s", &me))
        .child(significant("t", &me));
    let supervisor = spec.start_link(&me).await.expect("all start");
    let (s, t) = (up(&mut me, "s").await, up(&mut me, "t").await);
    up(&mut me, "plain").await;
    s.send(Order::End(ExitReason::Normal));
    t.send(Order::End(oops()));
    up(&mut me, "t").await.send(Order::End(ExitReason::shutdown_with("done")));
    assert_eq!(seen_all(&mut me).await, ["shutdown plain", "exit shutdown"]);
    assert!(!supervisor.pid().is_alive());
}

// G2: an invalid specification, or one whose children cannot start, is rejected
#[purlin::test]
async fn invalid_specifications_are_rejected_with_the_reason(me: Process<Seen>) {
    me.trap_exit(true);
    let cause = |reason: &ExitReason| match reason {
        ExitReason::Error(cause) | ExitReason::ShutdownWith(cause) => cause.clone(),
        other => panic!("no cause: {other}"),
    };
    let twice = SupervisorSpec::one_for_one().child(worker("a", &me)).child(worker("a", &me));
    let error = twice.start_link(&me).await.expect_err("two of one id");
    let bad = BadSpec::DuplicateId("a".into());
    assert_eq!(cause(&error.reason).downcast_ref::<BadSpec>(), Some(&bad));

    let template = ChildTemplate::worker("each", async |_: Process<()>, (): ()| ());
    let simple = SupervisorSpec::from(SupervisorSpec::simple_one_for_one(template));
    let error = simple.child(worker("a", &me)).start_link(&me).await.expect_err("of another kind");
    let bad = BadSpec::NotSimple("a".into());
    assert_eq!(cause(&error.reason).downcast_ref::<BadSpec>(), Some(&bad));

    let important = SupervisorSpec::one_for_one().child(worker("a", &me).significant());
    let error = important.clone().start_link(&me).await.expect_err("it never ends by itself");
    let bad = BadSpec::BadSignificance("a".into());
    assert_eq!(cause(&error.reason).downcast_ref::<BadSpec>(), Some(&bad));

    // A child that cannot be started: the children before it are stopped again.
    let spec = SupervisorSpec::one_for_one()
        .child(worker("first", &me))
        .child(ChildSpec::supervisor("second", important));
    let error = spec.start_link(&me).await.expect_err("a child cannot be started");
    let cause = cause(&error.reason);
    let failed = cause.downcast_ref::<FailedToStartChild>().expect("it says which child");
    assert_eq!(&*failed.id, "second");
    assert!(error.to_string().contains("{shutdown, failed_to_start_child second: "), "{error}");
}

// G2: start_child, terminate_child, restart_child, delete_child
#[purlin::test]
async fn children_are_added_terminated_restarted_and_deleted(mut me: Process<Seen>) {
    let supervisor = SupervisorSpec::one_for_one().name("registrar").start_link(&me).await;
    let supervisor = supervisor.expect("it needs nothing");
    assert_eq!(SupervisorRef::whereis("registrar"), Ok(supervisor.clone()));
    let started = supervisor.start_child(worker("a", &me)).await.expect("the id is free");
    let a = up(&mut me, "a").await;
    assert_eq!(started, a);
    let again = supervisor.start_child(worker("a", &me)).await;
    assert_eq!(again, Err(StartChildError::AlreadyStarted(a.id())));
    assert_eq!(supervisor.delete_child("a").await, Err(DeleteError::Running));
    assert_eq!(supervisor.terminate_child("a").await, Ok(()));
    assert_eq!(supervisor.terminate_child("b").await, Err(TerminateError::NotFound));
    let again = supervisor.start_child(worker("a", &me)).await;
    assert_eq!(again, Err(StartChildError::AlreadyPresent));
    let children = supervisor.which_children().await.expect("it lives");
    assert_eq!(children[0].process, ChildProcess::Absent);
    assert!(supervisor.restart_child("a").await.is_ok_and(|pid| pid.is_some()));
    assert_eq!(supervisor.restart_child("a").await, Err(RestartError::Running));
    supervisor.terminate_child("a").await.expect("it is there");
    assert_eq!(supervisor.delete_child("a").await, Ok(()));
    assert_eq!(supervisor.restart_child("a").await, Err(RestartError::NotFound));
}

// E1: the node or the supervisor may be the first to send a child its exit signal
#[test]
fn a_node_with_supervisors_stops_without_the_grace_period() {
    for_each_seed(20, |seed| {
        let mut simulation = Simulation::new(seed);
        let node = simulation.node().clone();
        let starter = node.clone();
        let supervisor = simulation.run(async move |_: Process<()>| {
            let spec = (0..10).fold(SupervisorSpec::one_for_one(), |spec, number| {
                let idle = async |mut me: Process<()>| me.receive().await;
                spec.child(ChildSpec::worker(number.to_string(), idle))
            });
            let spec = (0..10).fold(SupervisorSpec::one_for_one(), |tree, number| {
                tree.child(ChildSpec::supervisor(number.to_string(), spec.clone()))
            });
            spec.start(&starter).await.expect("all start")
        });
        let began = node.uptime();
        let report = simulation.stop();
        assert!(report.hogs.is_empty() && report.stranded.is_empty(), "{report:?}");
        // The node checks again 20 µs of virtual time after it has sent the exit signals.
        assert!(node.uptime() - began <= MS, "{:?}", node.uptime() - began);
        assert_eq!(supervisor.pid().exit_reason(), Some(ExitReason::Shutdown));
    });
}

// G2: 999 of 1000 children keep working while one crashes after each restart
#[purlin::test]
async fn other_children_answer_while_one_crashes_repeatedly(mut me: Process<Seen>) {
    const CHILDREN: usize = 1000;
    const CRASHES: u32 = 200;
    let witness = me.pid();
    let names: Vec<String> = (0..CHILDREN).map(|number| number.to_string()).collect();
    let steady = async |mut me: Process<Order>| loop {
        match me.receive().await {
            Order::Ping(reply) => reply.send(()),
            Order::End(reason) => return reason,
            Order::Exit(_) => {}
        }
    };
    let mut spec = SupervisorSpec::one_for_one().intensity(1_000).period(Duration::from_secs(1));
    for name in &names[1..] {
        spec = spec.child(ChildSpec::worker(name.as_str(), steady));
    }
    let crashing = ChildSpec::worker("crash", move |me| child(me, "crash", witness));
    let supervisor = spec.child(crashing).start_link(&me).await.expect("all start");
    let node = Node::current().expect("a process lives on a node");
    let children = supervisor.which_children().await.expect("it lives");
    let pids: Vec<Pid<Order>> = children
        .iter()
        .filter(|child| &*child.id != "crash")
        .map(|child| match child.process {
            ChildProcess::Running(id) => node.pid(id).expect("it receives orders"),
            other => panic!("{} is {other:?}", child.id),
        })
        .collect();
    assert_eq!(pids.len(), CHILDREN - 1);
    let mut asked = pids.iter().cycle();
    for _ in 0..CRASHES {
        up(&mut me, "crash").await.send(Order::End(oops()));
        for pid in asked.by_ref().take(20) {
            pid.call(Order::Ping).await.expect("it answers");
        }
    }
    for pid in &pids {
        pid.call(Order::Ping).await.expect("it is the process that it was at first");
    }
    up(&mut me, "crash").await;
    assert_eq!(supervisor.count_children().await.expect("it lives").active, CHILDREN);
}
