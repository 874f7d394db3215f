//! Process groups: who is in them, and what their watchers are told.

use crate::common;
use crate::waiting::{rest, simulated};
use std::collections::BTreeMap;

use futures_util::FutureExt;
use proptest::prelude::*;
use purlin::pg::{Change, Event, GroupMonitor, Groups, JoinError, Scope};
use purlin::server::{self, StartError};
use purlin::{
    CallError, ExitReason, LookupError, Message, Name, Pid, Process, ProcessId, RegisterError,
    Reply, spawn,
};

#[derive(Debug, PartialEq, Message)]
enum Mail {
    #[from]
    Group(Event),
}

/// What happened, and to whom; of one monitor.
async fn next(me: &mut Process<Mail>, monitor: GroupMonitor) -> (Change, Name, Vec<ProcessId>) {
    let Mail::Group(Event { monitor: of, group, change, members, .. }) = me.receive().await;
    assert_eq!(of, monitor);
    (change, group, members)
}

/// A process that waits until it is told to end.
fn idle() -> Pid<u8> {
    spawn(async |mut me: Process<u8>| {
        me.receive().await;
    })
}

async fn groups() -> Groups {
    Groups::start("test").await.expect("the scope starts")
}

/// The ids, sorted, since members have no order.
fn sorted(mut ids: Vec<ProcessId>) -> Vec<ProcessId> {
    ids.sort_unstable();
    ids
}

// N2: join, leave, members, which groups
#[purlin::test]
async fn a_process_is_a_member_as_often_as_it_has_joined() {
    let groups = groups().await;
    let (a, b) = (idle(), idle());
    assert_eq!(groups.leave("g", &a).await, Ok(false));
    for pid in [&a, &b, &a] {
        assert_eq!(groups.join("g", pid).await, Ok(()));
    }
    assert_eq!(groups.join("h", a.id()).await, Ok(()));
    assert_eq!(sorted(groups.member_ids("g")), sorted(vec![a.id(), a.id(), b.id()]));
    assert_eq!(groups.members::<u8>("h"), std::slice::from_ref(&a));
    assert_eq!(groups.members::<u16>("h"), [], "none of them receives that");
    assert_eq!(groups.which_groups(), [Name::from("g"), Name::from("h")]);

    assert_eq!(groups.leave("g", &a).await, Ok(true));
    assert_eq!(groups.leave("h", &a).await, Ok(true));
    assert_eq!(groups.leave("h", &a).await, Ok(false));
    assert_eq!(sorted(groups.member_ids("g")), sorted(vec![a.id(), b.id()]));
    assert_eq!(groups.members::<u8>("h"), []);
    assert_eq!(groups.which_groups(), [Name::from("g")]);
}

// N2: at its end a process leaves all its groups, and is not seen in them from then on
#[purlin::test]
async fn a_process_leaves_its_groups_when_it_ends(mut me: Process<Mail>) {
    let groups = groups().await;
    let (monitor, _) = groups.monitor_scope(&me).await.expect("it answers");
    let (a, b) = (idle(), idle());
    for group in ["g", "h", "h"] {
        groups.join(group, &a).await.expect("it joins");
        assert_eq!(next(&mut me, monitor).await.0, Change::Joined);
    }
    groups.join("g", &b).await.expect("it joins");
    assert_eq!(next(&mut me, monitor).await.0, Change::Joined);
    a.exit(ExitReason::Kill);
    a.ended().await;
    assert_eq!(groups.members::<u8>("g"), std::slice::from_ref(&b));
    for group in ["h", "h", "g"] {
        let left = (Change::Left, Name::from(group), vec![a.id()]);
        assert_eq!(next(&mut me, monitor).await, left);
    }
    assert_eq!(groups.join("g", &a).await, Ok(()), "it is no error to come too late");
    for change in [Change::Joined, Change::Left] {
        assert_eq!(next(&mut me, monitor).await, (change, Name::from("g"), vec![a.id()]));
    }
    assert_eq!(groups.member_ids("g"), [b.id()]);
}

// N2: who watches a group knows its members, and is told of every change of that group
#[purlin::test]
async fn a_watcher_is_told_of_the_changes_of_its_group(mut me: Process<Mail>) {
    let groups = groups().await;
    let (a, b) = (idle(), idle());
    groups.join("g", &a).await.expect("it joins");
    groups.join("h", &a).await.expect("it joins");
    let (monitor, members) = groups.monitor(&me, "g").await.expect("it answers");
    assert_eq!(members, [a.id()]);
    groups.join("h", &b).await.expect("it joins");
    groups.join("g", &b).await.expect("it joins");
    groups.leave("g", &a).await.expect("it leaves");
    groups.leave("h", &a).await.expect("it leaves");
    b.exit(ExitReason::Shutdown);
    let g = Name::from("g");
    assert_eq!(next(&mut me, monitor).await, (Change::Joined, g.clone(), vec![b.id()]));
    assert_eq!(next(&mut me, monitor).await, (Change::Left, g.clone(), vec![a.id()]));
    assert_eq!(next(&mut me, monitor).await, (Change::Left, g, vec![b.id()]));
    assert_eq!(me.flush(), []);
}

// N2: the members and the events of a watcher of all groups
#[purlin::test]
async fn a_whole_scope_can_be_watched(me: Process<Mail>) {
    let groups = groups().await;
    let (a, b) = (idle(), idle());
    for (group, pid) in [("g", &a), ("h", &b), ("h", &b)] {
        groups.join(group, pid).await.expect("it joins");
    }
    let (_, known) = groups.monitor_scope(&me).await.expect("it answers");
    let expected = [("g", vec![a.id()]), ("h", vec![b.id(), b.id()])];
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(name, ids)| (Name::from(name), ids)).collect();
    assert_eq!(known, expected);
}

// N2: after it was taken back no event is seen, not even one that has come
#[purlin::test]
async fn a_monitor_that_was_taken_back_is_silent(mut me: Process<Mail>) {
    let groups = groups().await;
    let a = idle();
    let (one, _) = groups.monitor(&me, "g").await.expect("it answers");
    let (two, _) = groups.monitor(&me, "g").await.expect("it answers");
    groups.join("g", &a).await.expect("it joins");
    groups.leave("g", &a).await.expect("it leaves");
    assert_eq!(me.mailbox_len(), 4);
    assert!(groups.demonitor(&me, one));
    assert!(!groups.demonitor(&me, one));
    groups.join("g", &a).await.expect("it joins");
    for change in [Change::Joined, Change::Left, Change::Joined] {
        assert_eq!(next(&mut me, two).await.0, change);
    }
    assert_eq!(me.flush(), []);
}

// N2: a scope forgets those who have left and those who no longer watch, however they went
#[test]
fn a_scope_forgets_whoever_has_gone() {
    simulated(async |me: Process<Mail>| {
        let groups = groups().await;
        let server = groups.server().clone();
        let empty = server.state().await.expect("it shows its state");
        let watching = groups.clone();
        let watcher = spawn(async move |mut me: Process<Mail>| {
            watching.monitor(&me, "g").await.expect("it answers");
            watching.monitor_scope(&me).await.expect("it answers");
            watching.join("g", me.id()).await.expect("it joins");
            me.receive().await;
        });
        watcher.ended().await;
        let (monitor, _) = groups.monitor(&me, "g").await.expect("it answers");
        assert!(groups.demonitor(&me, monitor));
        let member = idle();
        groups.join("g", &member).await.expect("it joins");
        assert_ne!(server.state().await, Ok(empty.clone()), "it knows its member");
        groups.leave("g", &member).await.expect("it leaves");
        let given_up = groups.monitor(&me, "g").now_or_never();
        assert!(given_up.is_none(), "it has asked and waits");
        rest().await;
        assert_eq!(server.state().await, Ok(empty));
    });
}

// N2, N1: a scope is found by its name while it lives
#[purlin::test]
async fn a_scope_is_found_by_its_name(me: Process<Mail>) {
    let groups = groups().await;
    let a = idle();
    groups.join("g", &a).await.expect("it joins");
    let found = Groups::find("test").await.expect("it is there");
    assert_eq!(found.member_ids("g"), [a.id()]);
    let Err(StartError::Failed(reason)) = Groups::start("test").await.map(drop) else {
        panic!("the name is taken")
    };
    let ExitReason::Error(cause) = reason else { panic!("{reason:?}") };
    let by = groups.server().id();
    let taken = RegisterError::Taken { name: Name::from("test"), by };
    assert_eq!(cause.downcast_ref(), Some(&taken));

    assert_eq!(groups.server().stop().await, Ok(()));
    let gone = LookupError::NoName(Name::from("test"));
    assert_eq!(Groups::find("test").await.map(drop), Err(gone));
    let gone = CallError::NoProcess;
    assert_eq!(groups.join("g", &a).await, Err(JoinError::Scope(gone.clone())));
    assert_eq!(groups.monitor(&me, "g").await, Err(gone));
    let linked = server::start_link::<Scope>(&me, Name::from("test")).await;
    assert!(linked.is_ok(), "as a supervisor would");
}

// N2: what nobody keeps up to date any more is not shown
#[purlin::test]
async fn the_groups_end_with_their_scope() {
    let groups = Groups::start("brief").await.expect("it starts");
    let clerk = spawn(async |mut me: Process<()>| me.receive().await);
    groups.join("clerks", &clerk).await.expect("the scope lives");
    assert_eq!(groups.member_ids("clerks"), [clerk.id()]);
    groups.server().stop().await.expect("it stops");
    assert!(groups.members::<()>("clerks").is_empty());
    assert!(groups.which_groups().is_empty());
}

// N2: a scope is of its node
#[test]
fn a_process_of_another_node_does_not_join() {
    let (here, there) = (common::node(1), common::node(1));
    let stranger = there.spawn(async |mut me: Process<Reply<()>>| drop(me.receive().await));
    let id = stranger.id();
    let joined = here.block_on(async move |_: Process<()>| groups().await.join("g", id).await);
    assert_eq!(joined, Err(JoinError::OtherNode(id)));
    common::stop(&here);
    common::stop(&there);
}

/// What is done to one of a few processes.
#[derive(Clone, Copy, Debug)]
enum Step {
    Join(&'static str, usize),
    Leave(&'static str, usize),
    End(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let group = || prop::sample::select(&["a", "b"][..]);
    prop_oneof![
        5 => (group(), 0..4usize).prop_map(|(group, who)| Step::Join(group, who)),
        3 => (group(), 0..4usize).prop_map(|(group, who)| Step::Leave(group, who)),
        1 => (0..4usize).prop_map(Step::End),
    ]
}

/// Does the steps, and compares the members, and what a watcher was told, with a plain list of who
/// has joined.
async fn members_are_as_a_plain_list_has_them(mut me: Process<Mail>, steps: Vec<Step>) {
    let groups = groups().await;
    let pids = [idle(), idle(), idle(), idle()];
    let (monitor, _) = groups.monitor_scope(&me).await.expect("it answers");
    let mut list: Vec<(&str, ProcessId)> = Vec::new();
    let mut told: Vec<(Name, ProcessId)> = Vec::new();
    for step in steps {
        match step {
            Step::Join(group, who) => {
                groups.join(group, &pids[who]).await.expect("it answers");
                if pids[who].is_alive() {
                    list.push((group, pids[who].id()));
                }
            }
            Step::Leave(group, who) => {
                let wanted = (group, pids[who].id());
                let place = list.iter().position(|entry| *entry == wanted);
                let left = groups.leave(group, &pids[who]).await;
                if pids[who].is_alive() {
                    assert_eq!(left, Ok(place.is_some()));
                }
                place.map(|place| list.remove(place));
            }
            Step::End(who) => {
                pids[who].exit(ExitReason::Shutdown);
                pids[who].ended().await;
                list.retain(|(_, id)| *id != pids[who].id());
            }
        }
        for group in ["a", "b"] {
            let expected = list.iter().filter(|(name, _)| *name == group).map(|(_, id)| *id);
            assert_eq!(sorted(groups.member_ids(group)), sorted(expected.collect()));
        }
    }
    for pid in &pids {
        pid.exit(ExitReason::Shutdown);
        pid.ended().await;
    }
    // Its answer comes after it has read of every end, and so do the events.
    let (end, _) = groups.monitor_scope(&me).await.expect("it answers");
    assert_ne!(end, monitor);
    while let Some(Mail::Group(Event { group, change, members, .. })) = me.try_receive() {
        for id in members {
            let entry = (group.clone(), id);
            match change {
                Change::Joined => told.push(entry),
                Change::Left => {
                    let place = told.iter().position(|known| *known == entry);
                    told.remove(place.expect("who leaves has joined"));
                }
            }
        }
    }
    assert_eq!(told, [], "who joined has left");
    assert_eq!(groups.which_groups(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    // N2: the law: members = joined - left, in the table and in what a watcher is told
    #[test]
    fn members_are_those_who_joined_and_have_not_left(steps in prop::collection::vec(step(), 0..40)) {
        let node = common::node(1);
        node.block_on(move |me| members_are_as_a_plain_list_has_them(me, steps));
        common::stop(&node);
    }
}
