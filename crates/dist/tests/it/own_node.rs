//! A node that addresses itself by its name in the cluster.

use crate::log::Log;
use crate::processes::{down, echoes, exit, found, join, start};
use crate::support::{Epmd, HANG, in_time};
use purlin::{ExitReason, Monitored, Process};
use purlin_dist::cluster::{CallError, NotSpawned, TermReason};
use purlin_dist::connect::NoConnection;
use purlin_term::Term;
use tokio::sync::oneshot;

#[tokio::test]
async fn calls_functions_and_aliases_of_the_own_node_are_reached() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let (own, hello) = (cluster.name(), Term::atom("hello"));
    echoes(&cluster);
    assert_eq!(cluster.call("echo", own, hello.clone(), HANG).await, Ok(hello.clone()));
    let nothing = cluster.call::<Term>("nothing", own, hello.clone(), HANG).await;
    assert_eq!(nothing, Err(CallError::Ended(ExitReason::NoProcess)));

    let echo = async |given: Vec<Term>| match &given[0] {
        bad if bad.is_atom("bad") => Err(Term::atom("badarg")),
        good => Ok(good.clone()),
    };
    cluster.export("rust", "echo", 1, echo).expect("short names");
    let rpc = async |function, given| {
        cluster.rpc(own, "rust", function, vec![Term::atom(given)], HANG).await
    };
    assert_eq!(rpc("echo", "hello").await, Ok(hello.clone()));
    let error = |text: &str| Err(CallError::BadRpc(text.parse().expect("a term")));
    assert_eq!(rpc("echo", "bad").await, error("{'EXIT',{badarg,[]}}"));
    let undef = "{'EXIT',{undef,[{rust,nothing,[hello],[]}]}}";
    assert_eq!(rpc("nothing", "hello").await, error(undef));

    let (sender, alias) = oneshot::channel();
    let (pass_on, received) = oneshot::channel();
    let inside = cluster.clone();
    let owner = cluster.node().spawn(async move |mut me: Process<Term>| {
        let alias = inside.term_of_alias(&me.alias());
        sender.send(alias).expect("the test waits");
        let both = [me.receive().await, me.receive().await];
        pass_on.send(both).expect("the test waits");
    });
    let alias = found(alias).await;
    cluster.send_to_alias(&alias, hello.clone()).await.expect("no connection is needed");
    let by_pid = cluster.pid::<Term>(&cluster.term_of(owner.id())).expect("it lives");
    assert_eq!(by_pid.id(), owner.id());
    by_pid.send(hello.clone());
    let received = in_time("two messages", received).await.expect("it does not panic");
    assert_eq!(received, [hello.clone(), hello]);
}

#[tokio::test]
async fn a_connection_to_the_own_node_is_refused_with_the_reason() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let own = cluster.name();
    let refused = cluster.connect(own).await.expect_err("a node has no connection to itself");
    assert!(matches!(*refused, NoConnection::Own(_)), "{refused}");
}

#[tokio::test]
async fn a_name_of_the_own_node_is_that_of_its_process() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let named = || cluster.named::<Term>("name", cluster.name()).expect("there is room");
    {
        let log = Log::new();
        named().send(Term::NIL);
        log.is_one_line_with("no process of this node has this name and message type");
    }
    let process = cluster.node().spawn(async |mut me: Process<Term>| {
        assert_eq!(me.receive().await, Term::atom("hello"));
    });
    cluster.node().register("name", &process).expect("the name is free");
    assert_eq!(named().id(), process.id());
    named().send(Term::atom("hello"));
    assert_eq!(in_time("the end", process.ended()).await, ExitReason::Normal);
}

// L8, D1
#[tokio::test]
async fn exported_functions_are_spawned_on_the_own_node() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let fails = async |mut given: Vec<Term>| Err(given.remove(0));
    cluster.export("rust", "fails", 1, fails).expect("short names");
    let spawner = start(&cluster, "spawner", async |mut me, cluster| {
        let own = cluster.name().clone();
        let given = |why| vec![Term::atom(why)];
        let plain = cluster.spawn(&own, "rust", "fails", given("plain")).await;
        let plain = plain.expect("there is room").ended().await;
        let linked = cluster.spawn_link(&me, &own, "rust", "fails", given("linked")).await;
        let linked = linked.expect("there is room");
        let exit = exit(&mut me).await;
        assert_eq!(exit.from, Some(linked.id()));
        let watched = cluster.spawn_monitor(&me, &own, "rust", "nothing", vec![]).await;
        let (watched, monitor) = watched.expect("there is room");
        let down = down(&mut me).await;
        assert_eq!((down.monitor, down.process), (monitor, Monitored::Process(watched.id())));
        let many = cluster.spawn(&own, "rust", "fails", vec![Term::NIL; 256]).await;
        assert!(matches!(many, Err(NotSpawned::BadArgument)), "{many:?}");
        [plain, exit.reason, down.reason].map(|reason| reason.to_string())
    });
    let undef = "{undef,[{rust,nothing,[],[]}]}";
    assert_eq!(found(spawner).await, ["{plain,[]}", "{linked,[]}", undef]);
}

// L9
#[tokio::test]
async fn an_exit_signal_to_an_alias_of_the_own_node_is_delivered() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let (sender, aliases) = oneshot::channel();
    let inside = cluster.clone();
    let owner = cluster.node().spawn(async move |mut me: Process<Term>| {
        let [removed, alias] = [me.alias(), me.alias()];
        me.unalias(&removed);
        let aliases = [removed, alias].map(|alias| inside.term_of_alias(&alias));
        sender.send(aliases).expect("the test waits");
        me.receive().await;
    });
    let [removed, alias] = found(aliases).await;
    for (alias, reason) in [(removed, "other"), (alias, "because")] {
        let reason = ExitReason::error(TermReason(Term::atom(reason)));
        cluster.exit_to_alias(&alias, reason).await.expect("no connection is needed");
    }
    let because = ExitReason::error(TermReason(Term::atom("because")));
    assert_eq!(in_time("the end", owner.ended()).await, because);
}
