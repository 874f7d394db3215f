//! Children of supervisors: when they have started, their spawn options and their handles.

use std::convert::Infallible;

use crate::waiting::{rest, simulated};
use purlin::server::{self, Init, Mail, Next, Server, ServerRef};
use purlin::supervisor::{
    ChildProcess, ChildSpec, ChildTemplate, InitAck, Restart, StartChildError, SupervisorSpec,
};
use purlin::{
    CallError, Exit, ExitReason, Overflow, Pid, Process, RegisterError, Reply, SpawnOptions,
    whereis, yield_now,
};

async fn idle(mut me: Process<()>) {
    me.receive().await;
}

/// Registers its name before its first await.
async fn store(me: Process<()>) -> Result<(), RegisterError> {
    me.register("store")?;
    idle(me).await;
    Ok(())
}

/// Needs the store when it starts.
async fn shop(me: Process<()>) {
    whereis::<()>("store").expect("the store was started before");
    idle(me).await;
}

// G2: a worker has started when it has reached its first await
#[purlin::test]
async fn worker_finds_what_an_earlier_worker_registered_before_its_first_await(me: Process<Exit>) {
    me.trap_exit(true);
    for round in 0..500 {
        let spec = SupervisorSpec::rest_for_one()
            .intensity(0)
            .child(ChildSpec::worker("store", store))
            .child(ChildSpec::worker("shop", shop));
        let supervisor =
            spec.start_link(&me).await.unwrap_or_else(|error| panic!("{round}: {error}"));
        assert_eq!(supervisor.stop(ExitReason::Shutdown).await, ExitReason::Shutdown, "{round}");
    }
}

// G2, P2: the end of a worker before its first await is not a failed start
#[purlin::test]
async fn worker_that_ends_in_its_first_turn_has_started(me: Process<Exit>) {
    let done = ChildSpec::worker("done", async |_: Process<()>| ());
    let panics = ChildSpec::worker("panics", async |_: Process<()>| panic!("on purpose"));
    let spec = SupervisorSpec::one_for_one()
        .child(done.restart(Restart::Temporary))
        .child(panics.restart(Restart::Temporary));
    assert!(spec.start_link(&me).await.is_ok());
}

// G2, N1: the option `name` is registered before the process runs
#[purlin::test]
async fn name_option_of_a_worker_is_registered_before_the_next_child_starts(me: Process<Exit>) {
    me.trap_exit(true);
    let named = || ChildSpec::worker("store", idle).options(SpawnOptions::new().name("store"));
    let spec = SupervisorSpec::rest_for_one().child(named()).child(ChildSpec::worker("shop", shop));
    let supervisor = spec.start_link(&me).await.expect("both start");
    let twin = ChildSpec::worker("twin", store).restart(Restart::Temporary);
    let twin = supervisor.start_child(twin).await.expect("it starts");
    assert_ne!(twin.ended().await, ExitReason::Normal, "the name is taken");

    let taken = SupervisorSpec::one_for_one().child(named()).start_link(&me).await;
    let error = taken.expect_err("the name is taken").to_string();
    assert!(error.contains("failed_to_start_child store"), "{error}");
}

/// A worker whose initialisation awaits.
async fn cache(mut me: Process<()>, ack: InitAck) -> Result<(), RegisterError> {
    for _ in 0..10 {
        yield_now().await;
    }
    me.register("cache")?;
    ack.ok();
    me.receive().await;
    Ok(())
}

// G2: proc_lib:init_ack
#[test]
fn worker_with_ack_has_started_when_it_says_so() {
    simulated(async |me: Process<Exit>| {
        me.trap_exit(true);
        let spec = SupervisorSpec::rest_for_one()
            .child(ChildSpec::worker_with_ack("cache", cache))
            .child(ChildSpec::worker("reader", async |me: Process<()>| {
                whereis::<()>("cache").expect("the cache was started before");
                idle(me).await;
            }));
        let supervisor = spec.start_link(&me).await.expect("both start");

        // An error before the report is a failed start.
        let twin = supervisor.start_child(ChildSpec::worker_with_ack("twin", cache)).await;
        let Err(StartChildError::Failed(reason)) = twin else { panic!("{twin:?}") };
        assert!(reason.to_string().contains("cache"), "{reason}");

        let needless = async |_: Process<()>, ack: InitAck| ack.ignore();
        let needless = ChildSpec::worker_with_ack("needless", needless);
        assert_eq!(supervisor.start_child(needless).await, Err(StartChildError::Ignored));
        let children = supervisor.which_children().await.expect("it lives");
        assert_eq!(children[2].process, ChildProcess::Absent);

        let forgets = async |me: Process<()>, ack: InitAck| {
            drop(ack);
            idle(me).await;
        };
        let forgets = supervisor.start_child(ChildSpec::worker_with_ack("forgets", forgets)).await;
        let error = forgets.expect_err("it never reports").to_string();
        assert!(error.contains("InitAck"), "{error}");
    });
}

// G2: a process that ends before its report has failed, also if another one has its `InitAck`
#[test]
fn worker_that_hands_on_its_ack_and_ends_has_not_started() {
    simulated(async |me: Process<Exit>| {
        let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
        let (keep, kept) = std::sync::mpsc::channel();
        let hands_on = async move |_: Process<()>, ack: InitAck| {
            keep.send(ack).expect("the test waits");
            ExitReason::error("lost")
        };
        let hands_on = ChildSpec::worker_with_ack("hands on", hands_on);
        let started = supervisor.start_child(hands_on).await;
        assert_eq!(started, Err(StartChildError::Failed(ExitReason::error("lost"))));
        kept.recv().expect("the worker has sent it").ok();

        // A report counts although the process has ended by the time the supervisor sees it.
        let ends = async |_: Process<()>, ack: InitAck| ack.ok();
        let ends = ChildSpec::worker_with_ack("ends", ends).restart(Restart::Temporary);
        assert!(supervisor.start_child(ends).await.is_ok());
    });
}

// G2: init_ack(ignore): the supervisor continues, also if the process does not end
#[test]
fn worker_that_reports_ignore_and_does_not_end_is_killed() {
    simulated(async |me: Process<Exit>| {
        let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
        let lingers = async |mut me: Process<()>, ack: InitAck| {
            me.register("lingers").expect("the name is free");
            ack.ignore();
            me.receive().await;
        };
        let lingers = ChildSpec::worker_with_ack("lingers", lingers);
        assert_eq!(supervisor.start_child(lingers).await, Err(StartChildError::Ignored));
        rest().await;
        assert!(whereis::<()>("lingers").is_err());
    });
}

// L7: a worker that computes before its first await delays its supervisor for a bounded time
#[purlin::test]
async fn blocking_worker_has_started_when_spawned(me: Process<Exit>) {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Arc::new(std::sync::Mutex::new(held));
    let blocks = move |_: Process<()>| async move {
        let _ = held.lock().expect("the lock is not poisoned").recv();
    };
    let child = ChildSpec::worker("blocks", blocks).options(SpawnOptions::new().blocking());
    let supervisor = SupervisorSpec::one_for_one().child(child).start_link(&me).await;
    assert!(supervisor.is_ok(), "it starts while the worker blocks");
    drop(release);
}

/// Receives nothing.
async fn busy(me: Process<u32>) {
    let _me = me;
    std::future::pending::<()>().await;
}

fn at_most_two() -> SpawnOptions {
    SpawnOptions::new().bound(2, Overflow::Reject)
}

/// Returns how many messages a mailbox takes.
fn capacity(pid: &Pid<u32>) -> usize {
    (0..10).take_while(|n| pid.try_send(*n).is_ok()).count()
}

// G2, B1: mailbox bounds of supervised workers and dynamic children
#[purlin::test]
async fn supervised_worker_has_its_options_after_a_restart_too(me: Process<()>) {
    let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
    let spec = ChildSpec::worker("busy", busy).options(at_most_two().name("busy"));
    let first = supervisor.start_child(spec).await.expect("it starts");
    assert_eq!(whereis("busy"), Ok(first.clone()));
    assert_eq!(capacity(&first), 2);
    first.exit(ExitReason::Kill);
    first.ended().await;
    let second = loop {
        match whereis("busy") {
            Ok(pid) => break pid,
            Err(_) => yield_now().await,
        }
    };
    assert_ne!(first, second);
    assert_eq!(capacity(&second), 2);

    let template = ChildTemplate::worker("busy", |me, ()| busy(me)).options(at_most_two());
    let pool = SupervisorSpec::simple_one_for_one(template).start_link(&me).await;
    let worker = pool.expect("it starts").start_child(()).await.expect("it starts");
    assert_eq!(capacity(&worker), 2);
}

// G2, B1: an invalid bound is a failed start
#[purlin::test]
async fn invalid_bound_is_a_failed_start(me: Process<()>) {
    let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
    let spec = ChildSpec::worker("busy", busy);
    let spec = spec.options(SpawnOptions::new().bound(0, Overflow::Wait));
    let error = supervisor.start_child(spec).await.expect_err("0 is no bound").to_string();
    assert!(error.contains("the bound of a mailbox is from 1 to"), "{error}");
    let desk = ChildSpec::server("desk", |me| server::start_link::<Desk>(me, ()));
    let desk = desk.options(SpawnOptions::new().bound(0, Overflow::Wait));
    let error = supervisor.start_child(desk).await.expect_err("0 is no bound").to_string();
    assert!(error.contains("the bound of a mailbox is from 1 to"), "{error}");
}

/// A server whose handler of casts does not return.
#[derive(Debug)]
struct Desk;

impl Server for Desk {
    type Args = ();
    type Call = Reply<()>;
    type Cast = ();
    type Info = Infallible;
    type Continue = Infallible;

    async fn init((): (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Desk))
    }

    async fn handle_cast(
        &mut self,
        (): (),
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        std::future::pending().await
    }
}

// G1, G2, B1: options of servers, alone, supervised and dynamic
#[purlin::test]
async fn server_with_a_bound_rejects_calls_when_it_is_full(me: Process<()>) {
    let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
    let spec = ChildSpec::server("desk", |me| server::start_link::<Desk>(me, ()));
    let spec = spec.options(at_most_two().name("desk"));
    let child = supervisor.start_child(spec).await.expect("it starts");
    assert_eq!(ServerRef::whereis("desk"), Ok(child.clone()));

    let template = ChildTemplate::server("desk", server::start_link::<Desk>);
    let desks = SupervisorSpec::simple_one_for_one(template.options(at_most_two()));
    let desks = desks.start_link(&me).await.expect("it starts");
    let dynamic = desks.start_child(()).await.expect("it starts");

    let alone = server::start_link::<Desk>(&me, ()).options(at_most_two()).await;
    for desk in [child, dynamic, alone.expect("it starts")] {
        assert_full_after(2, &desk).await;
    }
}

/// Asserts that the mailbox of the desk holds this many messages.
async fn assert_full_after(messages: usize, desk: &ServerRef<Desk>) {
    desk.cast(());
    while desk.pid().mailbox_len() > 0 {
        yield_now().await;
    }
    (0..messages).for_each(|_| desk.cast(()));
    assert_eq!(desk.pid().mailbox_len(), messages);
    assert_eq!(desk.call(|reply| reply).await, Err(CallError::Full));
}

// G2, B1: each option is taken from the child spec, and otherwise from the start function
#[purlin::test]
async fn options_of_a_child_spec_complete_those_of_its_start_function(me: Process<()>) {
    let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
    let bounded = |id: &str| {
        let options = || at_most_two().name("inner");
        ChildSpec::server(id, move |me| server::start_link::<Desk>(me, ()).options(options()))
    };
    let named = bounded("named").options(SpawnOptions::new().name("outer"));
    let named = supervisor.start_child(named).await.expect("it starts");
    assert_eq!(ServerRef::whereis("outer"), Ok(named.clone()));
    assert_full_after(2, &named).await;

    let one = SpawnOptions::new().bound(1, Overflow::Reject);
    let one = bounded("one").options(one);
    let one = supervisor.start_child(one).await.expect("it starts");
    assert_eq!(ServerRef::whereis("inner"), Ok(one.clone()));
    assert_full_after(1, &one).await;
}
