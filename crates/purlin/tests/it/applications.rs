//! Applications: supervision trees that start and stop as a unit, and stop with their node.

use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use crate::common::{HANG, ends, node, outside, stop};
use crate::waiting::{MS, rest, simulated, uptime};
use purlin::application::{ApplicationError, ApplicationRef, ApplicationSpec, ApplicationType};
use purlin::supervisor::{ChildSpec, Restart, SupervisorRef, SupervisorSpec};
use purlin::{Exit, ExitReason, Node, Pid, Process, SpawnOptions};
use purlin_testkit::{Simulation, for_each_seed};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

struct ExitMessage(Exit);

impl From<Exit> for ExitMessage {
    fn from(exit: Exit) -> Self {
        Self(exit)
    }
}

type Log = UnboundedSender<String>;

/// A child that reports its start and its exit signal.
fn talkative(id: &'static str, log: &Log) -> ChildSpec<Pid<ExitMessage>> {
    let log = log.clone();
    ChildSpec::worker(id, move |mut me: Process<ExitMessage>| async move {
        me.trap_exit(true);
        let _ = log.send(format!("{id} up"));
        let ExitMessage(exit) = me.receive().await;
        let _ = log.send(format!("{id} {}", exit.reason));
        exit.reason
    })
}

fn log_line(
    log: &Log,
    what: &str,
) -> impl FnOnce() -> std::future::Ready<()> + Clone + Send + Sync + 'static {
    let (log, what) = (log.clone(), what.to_owned());
    move || {
        let _ = log.send(what.clone());
        std::future::ready(())
    }
}

async fn next<const N: usize>(said: &mut UnboundedReceiver<String>) -> [String; N] {
    let mut all = std::array::from_fn(|_| String::new());
    for one in &mut all {
        *one = said.recv().await.expect("a process sends");
    }
    all
}

fn all(said: &mut UnboundedReceiver<String>) -> Vec<String> {
    std::iter::from_fn(|| said.try_recv().ok()).collect()
}

/// Starts two applications that report their stops.
async fn start_store_and_shop(node: &Node, log: &Log, said: &mut UnboundedReceiver<String>) {
    for name in ["store", "shop"] {
        let tree = SupervisorSpec::one_for_one().child(talkative(name, log));
        let spec = ApplicationSpec::new(name, tree)
            .prep_stop(log_line(log, &format!("{name} prepares")))
            .stop(log_line(log, &format!("{name} stopped")));
        node.start_application(spec).await.expect("it starts");
        assert_eq!(next(said).await, [format!("{name} up")]);
    }
}

/// Reports of a stop of these applications, before the other processes.
const IN_ORDER: [&str; 7] = [
    "shop prepares",
    "shop shutdown",
    "shop stopped",
    "store prepares",
    "store shutdown",
    "store stopped",
    "the rest",
];

// E1, G4: applications stop in reverse order of start; each runs its `prep_stop` and `stop` hooks
#[test]
fn a_node_stops_its_applications_first_and_in_reverse_order() {
    let node = node(2);
    let (log, mut said) = unbounded_channel();
    let starter = node.clone();
    let logs = log.clone();
    let mut said = node.block_on(move |_: Process<()>| async move {
        start_store_and_shop(&starter, &logs, &mut said).await;
        let names = starter.applications();
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["store", "shop"]);
        let shop = starter.application("shop").expect("it runs");
        assert!(starter.process_info(shop.id()).is_some_and(|master| master.parent.is_some()));
        assert!(starter.application("closed").is_none());
        said
    });
    let (ready, is_ready) = std::sync::mpsc::channel();
    let late = node.spawn(async move |mut me: Process<ExitMessage>| {
        me.trap_exit(true);
        let _ = ready.send(());
        me.receive().await;
        let _ = log.send("the rest".to_string());
    });
    is_ready.recv().expect("it traps exits");
    stop(&node);
    assert!(!late.is_alive());
    assert_eq!(all(&mut said), IN_ORDER);
}

// E1, E2: the stop of the applications needs no free process slot
#[test]
fn a_full_node_stops_its_applications_first_and_in_reverse_order() {
    for_each_seed(5, |seed| {
        let mut simulation = Simulation::with(seed, Node::builder().max_processes(16));
        let (log, mut said) = unbounded_channel();
        let starter = simulation.node().clone();
        let (filled, mut is_filled) = unbounded_channel();
        let late = simulation.node().spawn(async move |mut me: Process<ExitMessage>| {
            start_store_and_shop(&starter, &log, &mut said).await;
            me.trap_exit(true);
            let idle = async |mut me: Process<()>| me.receive().await;
            while SpawnOptions::new().spawn(idle).is_ok() {}
            let _ = filled.send(said);
            me.receive().await;
            let _ = log.send("the rest".to_string());
        });
        simulation.advance(MS);
        let mut said = is_filled.try_recv().expect("the node is full");
        simulation.stop();
        assert!(!late.is_alive());
        assert_eq!(all(&mut said), IN_ORDER);
    });
}

// E1, G4: the stop of a node gives an application its shutdown time, then stops the one before it
#[test]
fn a_node_kills_an_application_that_does_not_stop_in_its_time() {
    for_each_seed(5, |seed| {
        let mut simulation = Simulation::new(seed);
        let (log, mut said) = unbounded_channel();
        let node = simulation.node().clone();
        let logs = log.clone();
        let began = simulation.run(async move |_: Process<()>| {
            let tree = SupervisorSpec::one_for_one().child(talkative("store", &logs));
            let store = ApplicationSpec::new("store", tree).prep_stop(async move || {
                let _ = logs.send(format!("store {}", uptime().as_millis()));
            });
            node.start_application(store).await.expect("it starts");
            let shop = ApplicationSpec::new("shop", SupervisorSpec::one_for_one())
                .shutdown(300 * MS)
                .prep_stop(pending);
            node.start_application(shop).await.expect("it starts");
            rest().await;
            uptime()
        });
        simulation.stop();
        let [up, prepares, stops] = &all(&mut said)[..] else { panic!("three lines") };
        assert_eq!((&**up, &**stops), ("store up", "store shutdown"));
        let prepares = prepares.strip_prefix("store ").and_then(|ms| ms.parse().ok());
        let waited = Duration::from_millis(prepares.expect("it has a time")) - began;
        // The stop checks every 5 ms whether the application has ended.
        assert!((295 * MS..=310 * MS).contains(&waited), "{waited:?}");
    });
}

// E1: the list of applications that a stop ends is complete
#[test]
fn an_application_is_not_started_while_its_node_stops_the_others() {
    for_each_seed(5, |seed| {
        let mut simulation = Simulation::new(seed);
        let node = simulation.node().clone();
        let (stopping, mut stops) = unbounded_channel();
        let (start, mut started) = unbounded_channel();
        simulation.node().spawn(async move |_: Process<()>| {
            let first = ApplicationSpec::new("first", SupervisorSpec::one_for_one());
            let first = first.prep_stop(async move || {
                let _ = stopping.send(());
                tokio::time::sleep(1000 * MS).await; // CLOCK: virtual
            });
            node.start_application(first).await.expect("it starts");
            stops.recv().await.expect("the node stops it");
            let late = ApplicationSpec::new("late", SupervisorSpec::one_for_one());
            let _ = start.send(node.start_application(late).await.map(drop));
        });
        simulation.advance(MS);
        simulation.stop();
        let late = started.try_recv().expect("the start returns before the stop ends");
        assert_eq!(late, Err(ApplicationError::Failed("late".into(), ExitReason::SystemLimit)));
    });
}

// G4: an application needs a running tree, and its name is unique
#[purlin::test]
async fn an_application_whose_tree_cannot_start_is_not_listed() {
    let (log, _said) = unbounded_channel();
    let node = Node::current().expect("a process lives on a node");
    let bad = || SupervisorSpec::one_for_one().child(talkative("a", &log).significant());
    let spec = || ApplicationSpec::new("shop", bad());
    let error = node.start_application(spec()).await.expect_err("its tree is none");
    assert!(matches!(&error, ApplicationError::Failed(name, _) if &**name == "shop"), "{error}");
    assert!(node.applications().is_empty());

    let good = || ApplicationSpec::new("shop", SupervisorSpec::one_for_one());
    let shop = node.start_application(good()).await.expect("the name is free");
    let error = node.start_application(good()).await.expect_err("the name is taken");
    assert_eq!(error, ApplicationError::AlreadyStarted("shop".into()));
    assert_eq!(shop.stop().await, ExitReason::Normal);
    node.start_application(good()).await.expect("the name is free again");
}

// G4, E1: the shutdown time bounds the stop
#[test]
fn an_application_that_does_not_stop_in_its_time_is_killed() {
    simulated(async |_: Process<()>| {
        let node = Node::current().expect("a process lives on a node");
        let spec = ApplicationSpec::new("shop", SupervisorSpec::one_for_one())
            .shutdown(30 * MS)
            .prep_stop(std::future::pending);
        let shop = node.start_application(spec).await.expect("it starts");
        let began = uptime();
        assert_eq!(shop.stop().await, ExitReason::Killed);
        assert_eq!(uptime() - began, 30 * MS);
    });
}

// G4: a user's hook may panic; the stop continues
#[purlin::test]
async fn a_tree_is_stopped_in_order_although_a_hook_panics() {
    let (log, mut said) = unbounded_channel();
    let node = Node::current().expect("a process lives on a node");
    let tree = SupervisorSpec::one_for_one().child(talkative("child", &log));
    let spec = ApplicationSpec::new("shop", tree)
        .prep_stop(async || panic!("as is planned"))
        .stop(log_line(&log, "stopped"));
    let shop = node.start_application(spec).await.expect("it starts");
    assert_eq!(next(&mut said).await, ["child up"]);
    assert_eq!(shop.stop().await, ExitReason::Normal);
    assert_eq!(next(&mut said).await, ["child shutdown", "stopped"]);
}

// G4: the end of a permanent or transient application stops the node; that of a temporary one does
// not
#[test]
fn only_the_end_of_a_temporary_application_leaves_its_node_running() {
    for (application_type, stops) in [
        (ApplicationType::Permanent, true),
        (ApplicationType::Transient, true),
        (ApplicationType::Temporary, false),
    ] {
        for_each_seed(5, |seed| {
            let mut simulation = Simulation::new(seed);
            let starter = simulation.node().clone();
            let bystander: Pid<ExitMessage> =
                starter.spawn(async |mut me: Process<ExitMessage>| {
                    me.trap_exit(true);
                    me.receive().await;
                });
            let reason = simulation.run(async move |_: Process<()>| {
                let crash = async |_: Process<()>| ExitReason::error("no more");
                let child = ChildSpec::worker("crash", crash).restart(Restart::Permanent);
                let spec = ApplicationSpec::new("shop", SupervisorSpec::one_for_one().child(child))
                    .application_type(application_type);
                // The supervisor may give up before `start_application` returns.
                match starter.start_application(spec).await {
                    Ok(shop) => shop.ended().await,
                    Err(ApplicationError::Failed(_, reason)) => reason,
                    Err(other) => panic!("{other}"),
                }
            });
            assert_eq!(reason, ExitReason::Shutdown);
            simulation.advance(Duration::from_secs(3600));
            assert_eq!(bystander.is_alive(), !stops, "{application_type:?}");
        });
    }
}

// G4: hooks are async closures, also those that own what they use
#[purlin::test]
async fn hooks_may_be_async_closures_that_capture() {
    let (log, mut lines) = unbounded_channel();
    let (before, after) = (log.clone(), log);
    let spec = ApplicationSpec::new("hooks", SupervisorSpec::one_for_one())
        .prep_stop(async move || {
            purlin::yield_now().await;
            let _ = before.send("before");
        })
        .stop(async move || {
            let _ = after.send("after");
        });
    let node = Node::current().expect("a process is on a node");
    for _ in 0..2 {
        let application = node.start_application(spec.clone()).await.expect("it starts");
        assert_eq!(application.stop().await, ExitReason::Normal);
        assert_eq!((lines.recv().await, lines.recv().await), (Some("before"), Some("after")));
    }
}

/// An error whose text cannot be written.
#[derive(Debug)]
struct Unshowable;

impl fmt::Display for Unshowable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("on purpose")
    }
}

impl std::error::Error for Unshowable {}

/// Starts an application whose supervisor has its name.
async fn start(
    node: &Node,
    spec: impl FnOnce(ApplicationSpec) -> ApplicationSpec,
) -> ApplicationRef {
    let tree = SupervisorSpec::one_for_one().name("tree");
    node.start_application(spec(ApplicationSpec::new("shop", tree))).await.expect("it starts")
}

/// Ends the supervisor of an application.
fn end_tree(reason: ExitReason) {
    SupervisorRef::whereis("tree").expect("it runs").request_stop(reason);
}

/// Installs a subscriber that formats the fields of events for this run of a simulation.
fn log_all() {
    // WHY forgotten: the thread of the simulation, which runs all processes, ends with the run.
    let subscriber = tracing_subscriber::fmt().with_writer(io::sink).finish();
    std::mem::forget(tracing::subscriber::set_default(subscriber));
}

// G4: a hook whose exit reason cannot be logged does not keep the tree from stopping
#[test]
fn an_application_stops_although_the_text_of_the_reason_of_a_hook_panics() {
    Simulation::new(0).run(async |_: Process<()>| {
        log_all();
        let node = Node::current().expect("a process lives on a node");
        let hook = async || purlin::exit(ExitReason::error(Unshowable));
        let shop = start(&node, |spec| spec.prep_stop(hook)).await;
        assert_eq!(shop.stop().await, ExitReason::Normal);
    });
}

// G4: a permanent application whose exit reason cannot be logged stops its node
#[test]
fn a_permanent_application_stops_its_node_although_the_text_of_its_reason_panics() {
    let mut simulation = Simulation::new(0);
    let node = simulation.node().clone();
    let bystander = node.spawn(async |mut me: Process<()>| me.receive().await);
    simulation.run(async move |_: Process<()>| {
        log_all();
        let shop = start(&node, |spec| spec.application_type(ApplicationType::Permanent)).await;
        end_tree(ExitReason::error(Unshowable));
        shop.ended().await;
    });
    simulation.advance(Duration::from_secs(3600));
    assert!(!bystander.is_alive());
}

/// Uses the table of applications when it is dropped.
#[derive(Debug)]
struct Looks(Node);

impl Drop for Looks {
    fn drop(&mut self) {
        self.0.applications();
    }
}

impl fmt::Display for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("looks")
    }
}

impl std::error::Error for Looks {}

// E2, G4: a full node drops the hooks without a lock
#[test]
fn the_hooks_of_an_application_that_a_full_node_does_not_start_may_use_the_node() {
    let node = Node::builder().workers(1).max_processes(1).build().expect("a node starts");
    let starter = node.clone();
    let pid = node.spawn(async move |_: Process<()>| {
        let looks = Arc::new(Looks(starter.clone()));
        let spec = ApplicationSpec::new("shop", SupervisorSpec::one_for_one()).stop(move || {
            let _ = &looks;
            ready(())
        });
        let error = starter.start_application(spec).await.expect_err("the node is full");
        let expected = ApplicationError::Failed("shop".into(), ExitReason::SystemLimit);
        assert_eq!(error, expected);
    });
    assert_eq!(ends(&pid), ExitReason::Normal);
    stop(&node);
}

// G4: the destructor of the reason of an application that has ended may use the node
#[test]
fn the_end_of_an_application_is_forgotten_without_a_lock() {
    let node = node(1);
    let starter = node.clone();
    let pid = node.spawn(async move |_: Process<()>| {
        let other = ApplicationSpec::new("other", SupervisorSpec::one_for_one());
        starter.start_application(other).await.expect("it starts");
        for _ in 0..2 {
            let shop = start(&starter, |spec| spec).await;
            end_tree(ExitReason::error(Looks(starter.clone())));
            shop.ended().await;
        }
    });
    assert_eq!(ends(&pid), ExitReason::Normal);
    let stopped = outside(async { tokio::time::timeout(HANG, node.stop()).await });
    stopped.expect("the node stops");
}
