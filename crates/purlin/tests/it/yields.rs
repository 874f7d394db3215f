//! Awaits of the library that finish immediately (F1, L7).

use std::future::{Future, pending};
use std::time::Duration;

use purlin::application::ApplicationSpec;
use purlin::pg::Groups;
use purlin::pubsub::PubSub;
use purlin::registry::Registry;
use purlin::server;
use purlin::supervisor::{ChildSpec, ChildTemplate, Pool, SupervisorSpec};
use purlin::{
    ExitReason, Overflow, Pid, Process, ProcessId, Reply, SpawnOptions, multi_call, spawn, task,
};

use crate::common::here;

#[derive(Debug)]
struct Counter(u32);

#[purlin::server]
impl Counter {
    #[call]
    fn total(&self) -> u32 {
        self.0
    }
}

async fn silent(_: Process<Reply<()>>) {
    pending().await
}

/// Asserts that a process that awaits nothing but these futures, more of them than its budget has
/// units, is ended by a signal that it has received.
async fn assert_yields<T, Fut>(what: &str, mut again: impl FnMut() -> Fut + Send + 'static)
where
    Fut: Future<Output = T> + Send + 'static,
{
    let pid = spawn(async move |me: Process<()>| {
        me.pid().exit(ExitReason::Kill);
        for _ in 0..600 {
            again().await;
        }
    });
    assert_eq!(pid.ended().await, ExitReason::Killed, "{what}");
}

// F1, L7: a loop of calls that fail immediately can be ended
#[purlin::test]
async fn a_call_that_fails_at_once_spends_budget() {
    let dead: Pid<Reply<()>> = spawn(async |_: Process<Reply<()>>| {});
    dead.ended().await;
    let to = dead.clone();
    assert_yields("call", move || {
        let to = to.clone();
        async move { to.call(|reply| reply).await.expect_err("it has ended") }
    })
    .await;
    let to = dead.clone();
    assert_yields("request", move || to.send_request(|reply| reply)).await;
    let to = dead.clone();
    assert_yields("multi_call", move || {
        let to = to.clone();
        async move { multi_call([&to], |reply| reply, Duration::MAX).await }
    })
    .await;
    let none: [&Pid<Reply<()>>; 0] = [];
    assert_yields("multi_call of none", move || multi_call(none, |reply| reply, Duration::MAX))
        .await;

    let full = SpawnOptions::new().bound(1, Overflow::Reject).spawn(silent).expect("it starts");
    let to = full.clone();
    assert_yields("call of a full mailbox", move || {
        let to = to.clone();
        async move { to.call(|reply| reply).await }
    })
    .await;
    let slow = spawn(silent);
    let to = slow.clone();
    assert_yields("call without time", move || {
        let to = to.clone();
        async move { to.call_timeout(|reply| reply, Duration::ZERO).await }
    })
    .await;
    full.exit(ExitReason::Kill);
    slow.exit(ExitReason::Kill);
}

// F1, L7: a loop that asks about a process that has ended can be ended
#[purlin::test]
async fn an_await_of_an_ended_process_spends_budget() {
    let dead = spawn(async |_: Process<()>| {});
    dead.ended().await;
    let of = dead.clone();
    assert_yields("ended", move || {
        let of = of.clone();
        async move { of.ended().await }
    })
    .await;
    let of = dead.clone();
    assert_yields("details", move || {
        let of = of.clone();
        async move { of.details().await }
    })
    .await;
    let id: ProcessId = dead.id();
    assert_yields("process_details", move || async move { here().process_details(id).await }).await;

    let server = server::start::<Counter>(Counter(0)).await.expect("it starts");
    server.stop().await.expect("it is up");
    assert_yields("stop of a server", move || {
        let server = server.clone();
        async move { server.stop().await }
    })
    .await;
    let supervisor = SupervisorSpec::one_for_one().start(&here()).await.expect("it starts");
    supervisor.stop(ExitReason::Normal).await;
    assert_yields("which_children", move || {
        let supervisor = supervisor.clone();
        async move { supervisor.which_children().await }
    })
    .await;
}

// F1, L7: other awaits that need not wait
#[purlin::test]
async fn an_await_that_needs_no_event_spends_budget(me: Process<()>) {
    let topics: PubSub<&str, u32> = PubSub::new();
    assert_yields("publish", move || {
        let topics = topics.clone();
        async move { topics.publish("ACME", 1).await }
    })
    .await;
    let pool = Pool::new(1, ChildSpec::worker("silent", silent));
    let to = pool.clone();
    assert_yields("call of a pool", move || {
        let to = to.clone();
        async move { to.call(|reply| reply).await }
    })
    .await;
    let server = server::start::<Counter>(Counter(0)).name("counter").await.expect("it starts");
    assert_yields("start with a name that is taken", || async {
        server::start::<Counter>(Counter(0)).name("counter").await.expect_err("it is taken")
    })
    .await;
    assert_yields("find of a scope", || Groups::find("none")).await;
    let tree = SupervisorSpec::one_for_one();
    let (node, spec) = (here(), ApplicationSpec::new("one", tree.clone()));
    let application = node.start_application(spec).await.expect("it starts");
    assert_yields("start_application", move || {
        let tree = tree.clone();
        async move { here().start_application(ApplicationSpec::new("one", tree)).await }
    })
    .await;
    application.stop().await;

    let rooms: Registry<u8, Pid<()>> = Registry::unique();
    rooms.register(7, &me.pid(), ()).expect("the key is free");
    let template = ChildTemplate::worker("room", async |_: Process<()>, _: u8| {});
    let spec = SupervisorSpec::simple_one_for_one(template);
    let supervisor = spec.start_link(&me).await.expect("it starts");
    assert_yields("find_or_start", move || {
        let (rooms, supervisor) = (rooms.clone(), supervisor.clone());
        async move { rooms.find_or_start(&7, &supervisor, 7).await }
    })
    .await;
    server.stop().await.expect("it is up");
}

// F1, L7: a wait for a task without time
#[purlin::test]
async fn a_timeout_of_zero_spends_budget() {
    let pid = spawn(async |me: Process<()>| {
        let mut slow = task::spawn(pending::<()>());
        me.pid().exit(ExitReason::Kill);
        for _ in 0..600 {
            assert!(slow.timeout(Duration::ZERO).await.is_none());
        }
    });
    assert_eq!(pid.ended().await, ExitReason::Killed);
}
