//! Spawn options: every combination of options and relations, and what a spawn that fails returns.

use std::convert::Infallible;
use std::future::pending;

use crate::common::{DropCounter, Notice, Token, ends, here, node, stop};
use crate::waiting::comes;
use futures_util::FutureExt;
use purlin::server::{self, Init, Mail, Server, StartError};
use purlin::{
    ExitReason, MonitorRef, Node, Overflow, Pid, Process, ProcessId, RegisterError, Relation,
    SpawnOptions, registered, whereis,
};

/// Options of a process.
#[derive(Clone, Copy, Debug)]
struct Set {
    bound: bool,
    blocking: bool,
    name: bool,
}

impl Set {
    /// Returns every combination.
    fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| {
            let [bound, blocking, name] = [1, 2, 4].map(|bit| bits & bit != 0);
            Self { bound, blocking, name }
        })
    }

    fn options(self) -> SpawnOptions {
        let mut options = SpawnOptions::new();
        if self.bound {
            options = options.bound(1, Overflow::Reject);
        }
        if self.blocking {
            options = options.blocking();
        }
        if self.name {
            options = options.name("child");
        }
        options
    }
}

/// Process function that asserts that its process was spawned with these options.
async fn child(me: Process<()>, set: Set) {
    assert_eq!(whereis::<()>("child").ok(), set.name.then(|| me.pid()), "{set:?}");
    assert_eq!(me.pid().info().bound.map(|bound| bound.limit), set.bound.then_some(1), "{set:?}");
    if set.blocking {
        // Panics on a worker.
        assert_eq!(here().block_on(async |_: Process<()>| 7), 7);
    }
}

/// Spawns a [`child`] on the current node, or on the given one.
fn spawned<L: Relation, W: Relation>(
    options: SpawnOptions<L, W>,
    on: Option<&Node>,
    set: Set,
) -> W::Spawned<Pid<()>> {
    let function = move |me| child(me, set);
    let spawned = match on {
        None => options.spawn(function),
        Some(node) => options.spawn_on(node, function),
    };
    spawned.expect("the name is free")
}

/// Asserts that the next message is the exit signal of this process, with the reason `normal`.
async fn exited(me: &mut Process<Notice>, child: ProcessId) {
    let Notice::Exit(exit) = me.receive().await else { panic!("it is only linked") };
    assert_eq!((exit.from, exit.reason), (Some(child), ExitReason::Normal));
}

/// Asserts that the next message is that of this monitor, with the reason `normal`.
async fn went_down(me: &mut Process<Notice>, monitor: MonitorRef) {
    let Notice::Down(down) = me.receive().await else { panic!("it is only monitored") };
    assert_eq!((down.monitor, down.reason), (monitor, ExitReason::Normal));
}

/// Asserts that the link and the monitor fire, in any order.
async fn exited_and_went_down(me: &mut Process<Notice>, child: ProcessId, monitor: MonitorRef) {
    let (mut exits, mut downs) = (0, 0);
    for _ in 0..2 {
        match me.receive().await {
            Notice::Exit(exit) => {
                assert_eq!((exit.from, exit.reason), (Some(child), ExitReason::Normal));
                exits += 1;
            }
            Notice::Down(down) => {
                assert_eq!((down.monitor, down.reason), (monitor, ExitReason::Normal));
                downs += 1;
            }
        }
    }
    assert_eq!((exits, downs), (1, 1));
}

// N1, B1, F2, L8: a process has its name, its bound, its link and its monitor before it runs
#[purlin::test(workers = 2)]
async fn options_and_relations_of_a_process_compose(mut me: Process<Notice>) {
    me.trap_exit(true);
    let node = here();
    for set in Set::all() {
        for on in [None, Some(&node)] {
            let alone = spawned(set.options(), on, set);
            assert_eq!(alone.ended().await, ExitReason::Normal, "{set:?}");
            assert_eq!(alone.info().parent, Some(me.id()));
            let linked = spawned(set.options().link(&me), on, set);
            exited(&mut me, linked.id()).await;
            let (_, monitor) = spawned(set.options().monitor(&me), on, set);
            went_down(&mut me, monitor).await;
            let (both, monitor) = spawned(set.options().link(&me).monitor(&me), on, set);
            exited_and_went_down(&mut me, both.id(), monitor).await;
            let (both, monitor) = spawned(set.options().monitor(&me).link(&me), on, set);
            exited_and_went_down(&mut me, both.id(), monitor).await;
        }
    }
    assert!(me.try_receive().is_none(), "each fires once");
}

// G3, N1, L8: the same for tasks
#[purlin::test(workers = 2)]
async fn options_and_relations_of_a_task_compose(mut me: Process<Notice>) {
    me.trap_exit(true);
    for set in Set::all() {
        let work = || async move {
            assert_eq!(registered().contains(&"child".into()), set.name, "{set:?}");
            6 * 7
        };
        let task = set.options().spawn_task(work()).expect("the name is free");
        assert_eq!(task.await, Ok(42), "{set:?}");
        // The result arrives before the process has ended.
        comes("the name is free", || !registered().contains(&"child".into())).await;
        let linked = set.options().link(&me).spawn_task(work());
        let task = linked.expect("the name is free");
        exited(&mut me, task.id()).await;
        assert_eq!(task.await, Ok(42));
        let watched = set.options().monitor(&me).spawn_task(work());
        let (task, monitor) = watched.expect("the name is free");
        went_down(&mut me, monitor).await;
        assert_eq!(task.await, Ok(42));
        let both = set.options().link(&me).monitor(&me).spawn_task(work());
        let (task, monitor) = both.expect("the name is free");
        exited_and_went_down(&mut me, task.id(), monitor).await;
        assert_eq!(task.await, Ok(42));
    }
    assert!(me.try_receive().is_none(), "each fires once");
}

// L2, L3, L8: a process that is spawned with a link and a monitor ends with its parent
#[test]
fn a_linked_process_ends_with_its_parent_on_the_same_and_on_another_node() {
    let nodes = [node(1), node(1)];
    for child_node in &nodes {
        let on = child_node.clone();
        let (report, child) = std::sync::mpsc::channel();
        let parent = nodes[0].spawn(async move |me: Process<Notice>| {
            let options = SpawnOptions::new().link(&me).monitor(&me);
            let spawned = options.spawn_on(&on, async |_: Process<()>| pending::<()>().await);
            report.send(spawned.expect("there is room").0).expect("the test waits");
            ExitReason::error("out of paper")
        });
        let child = child.recv().expect("it is spawned");
        assert_eq!(ends(&child), ExitReason::error("out of paper"));
        assert_eq!(child.info().parent, Some(parent.id()));
    }
    nodes.iter().for_each(stop);
}

/// Asserts that a spawn with these options fails, and that each error returns what was to be
/// spawned, which then can still be used.
fn assert_refused<L, W>(options: SpawnOptions<L, W>, node: &Node, error: &str)
where
    L: Relation + Clone,
    W: Relation + Clone,
{
    let drop_counter = DropCounter::default();
    let function = |token: Token| async move |_: Process<()>| drop(token);
    let token = drop_counter.token();
    let here = options.clone().spawn(function(token)).err().expect("it is refused");
    let token = drop_counter.token();
    let there = options.clone().spawn_on(node, function(token)).err().expect("it is refused");
    let token = drop_counter.token();
    let task = options.spawn_task(async move { drop(token) }).err().expect("it is refused");
    for text in [format!("{here:?}"), format!("{there:?}"), format!("{task:?}")] {
        assert!(text.starts_with(error), "{text}");
    }
    assert_eq!(drop_counter.dropped(), 0);
    drop((here.into_inner(), there));
    assert_eq!(drop_counter.dropped(), 2);
    assert_eq!(task.into_inner().now_or_never(), Some(()));
    assert_eq!(drop_counter.dropped(), 3);
}

/// [`assert_refused`] with each combination of relations.
fn assert_all_refused(me: &Process<Notice>, options: &SpawnOptions, error: &str) {
    let (node, options) = (here(), || options.clone());
    assert_refused(options(), &node, error);
    assert_refused(options().link(me), &node, error);
    assert_refused(options().monitor(me), &node, error);
    assert_refused(options().link(me).monitor(me), &node, error);
}

// E2, L8: with an invalid bound, or an invalid or taken name, the error returns the function or the
// future; nothing is linked or monitored, and no signal is sent
#[purlin::test]
async fn invalid_options_return_the_function_and_leave_no_relation(mut me: Process<Notice>) {
    me.trap_exit(true);
    let idle = async |_: Process<()>| pending::<()>().await;
    let named = SpawnOptions::new().name("taken");
    let holder = named.clone().spawn(idle).expect("the name is free");
    let bound = |limit| SpawnOptions::new().bound(limit, Overflow::Wait);
    for limit in [0, 1 << 32] {
        assert_all_refused(&me, &bound(limit), "BadBound(");
    }
    let error = bound(0).spawn(idle).expect_err("0 is no bound").to_string();
    assert_eq!(error, "the bound of a mailbox is from 1 to 4,294,967,295 messages");
    assert_all_refused(&me, &SpawnOptions::new().name("undefined"), "Name(BadName(");
    assert_all_refused(&me, &named, "Name(Taken ");
    assert_all_refused(&me, &bound(1).name("taken").blocking(), "Name(Taken ");
    assert!(me.try_receive().is_none(), "no signal was sent");
    let details = me.pid().details().await.expect("it lives");
    assert_eq!((details.links, details.monitors), (vec![], vec![]));
    holder.exit(ExitReason::Shutdown);
    holder.ended().await;
    let again = named.link(&me).spawn(async |_: Process<()>| {}).expect("the name is free again");
    exited(&mut me, again.id()).await;
}

// E2, L8: a full node returns the function of a spawn with options, and the other spawns report
// `system_limit`
#[test]
fn a_full_node_returns_the_function_or_reports_system_limit() {
    let node = Node::builder().workers(1).max_processes(1).build().expect("a node starts");
    node.block_on(async |mut me: Process<Notice>| {
        me.trap_exit(true);
        for set in Set::all() {
            assert_all_refused(&me, &set.options(), "SystemLimit(");
        }
        assert!(me.try_receive().is_none(), "no signal was sent");
        assert_eq!(whereis::<()>("child").ok(), None);
        let linked = me.spawn_link(async |_: Process<()>| {});
        let Notice::Exit(exit) = me.receive().await else { panic!("it is only linked") };
        assert_eq!((exit.from, exit.reason), (Some(linked.id()), ExitReason::SystemLimit));
        let (_, monitor) = me.spawn_monitor(async |_: Process<()>| {});
        let Notice::Down(down) = me.receive().await else { panic!("it is only monitored") };
        assert_eq!((down.monitor, down.reason), (monitor, ExitReason::SystemLimit));
    });
    stop(&node);
}

// L8: only the process itself can spawn with a relation to it
#[purlin::test]
async fn a_relation_panics_outside_the_turn_of_its_process(me: Process<Notice>) {
    let node = here();
    let at = node.clone();
    let outside = std::thread::spawn(move || {
        let idle = async |_: Process<()>| pending::<()>().await;
        [false, true].map(|monitored| {
            let panics = std::panic::AssertUnwindSafe(|| match monitored {
                false => drop(SpawnOptions::new().link(&me).spawn_on(&at, idle)),
                true => drop(SpawnOptions::new().monitor(&me).spawn_on(&at, idle)),
            });
            let panic = std::panic::catch_unwind(panics).expect_err("this is another thread");
            panic.downcast::<String>().map(|text| *text).unwrap_or_default()
        })
    });
    for text in outside.join().expect("the panics are caught") {
        assert!(text.starts_with("used outside of process "), "{text}");
    }
    assert_eq!(node.processes().len(), 1, "nothing was spawned");
}

/// A server without any messages.
#[derive(Debug)]
struct Clerk;

impl Server for Clerk {
    type Args = ();
    type Call = Infallible;
    type Cast = Infallible;
    type Info = Infallible;
    type Continue = Infallible;

    async fn init((): (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Clerk))
    }
}

// G1, N1, L8: a server whose name is taken is not spawned, so its parent receives no exit signal
#[purlin::test]
async fn a_server_whose_name_is_taken_sends_its_parent_nothing(mut me: Process<Notice>) {
    me.trap_exit(true);
    let clerk = server::start::<Clerk>(()).name("clerk").await.expect("the name is free");
    let refused = server::start_link::<Clerk>(&me, ()).name("clerk").await;
    let taken = RegisterError::Taken { name: "clerk".into(), by: clerk.id() };
    assert_eq!(refused.err(), Some(StartError::Name(taken)));
    let bad = here().start::<Clerk>(()).name("undefined").await;
    assert!(matches!(bad, Err(StartError::Name(RegisterError::BadName(_)))), "{bad:?}");
    assert!(me.try_receive().is_none());
    assert_eq!(here().processes().len(), 2);
}

// G1, N1, B1: the options of a server complete each other, in any order
#[purlin::test]
async fn options_of_a_server_complete_each_other(me: Process<()>) {
    let bound = || SpawnOptions::new().bound(3, Overflow::Reject);
    let start = || server::start_link::<Clerk>(&me, ());
    for name_first in [true, false] {
        let clerk = match name_first {
            true => start().name("clerk").options(bound()).await,
            false => start().options(bound()).name("clerk").await,
        };
        let clerk = clerk.expect("it starts");
        let info = clerk.pid().info();
        assert_eq!(info.name, Some("clerk".into()));
        assert_eq!(info.bound.map(|bound| bound.limit), Some(3));
        clerk.stop().await.expect("it lives");
    }
}
