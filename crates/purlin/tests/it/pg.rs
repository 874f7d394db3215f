//! Process groups: membership, and the events that group monitors receive.

use crate::common;
use crate::waiting::{rest, simulated};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

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

/// Receives the next event of a group monitor.
async fn next(me: &mut Process<Mail>, monitor: GroupMonitor) -> (Change, Name, Vec<ProcessId>) {
    let Mail::Group(Event { monitor: of, group, change, members, .. }) = me.receive().await;
    assert_eq!(of, monitor);
    (change, group, members)
}

/// Spawns a process that waits until it is stopped.
fn idle() -> Pid<u8> {
    spawn(async |mut me: Process<u8>| {
        me.receive().await;
    })
}

async fn groups() -> Groups {
    Groups::start("test").await.expect("the scope starts")
}

/// Returns the ids sorted, as members have no order.
fn sorted(mut ids: Vec<ProcessId>) -> Vec<ProcessId> {
    ids.sort_unstable();
    ids
}

// N2: join, leave, members, which groups
#[purlin::test]
async fn a_process_is_listed_once_per_join() {
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

// N2: an ended process leaves all its groups, and is no longer listed
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

// N2: a group monitor gets the current members, and every later change of its group
#[purlin::test]
async fn a_group_monitor_reports_the_changes_of_its_group(mut me: Process<Mail>) {
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

// N2: a scope monitor gets the members of all groups
#[purlin::test]
async fn a_whole_scope_can_be_monitored(me: Process<Mail>) {
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

// N2: after `demonitor` no event is seen, not even one already in the mailbox
#[purlin::test]
async fn a_removed_group_monitor_delivers_no_event(mut me: Process<Mail>) {
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

// N2: a monitor whose future is dropped delivers no event, not even one already in the mailbox
#[test]
fn a_cancelled_group_monitor_delivers_no_event() {
    simulated(async |mut me: Process<Mail>| {
        let groups = groups().await;
        let a = idle();
        {
            let mut monitor = pin!(groups.monitor(&me, "g"));
            let asked = poll_fn(|cx| Poll::Ready(monitor.as_mut().poll(cx).is_pending())).await;
            assert!(asked, "it has asked and waits");
            groups.join("g", &a).await.expect("it joins");
            assert_eq!(me.mailbox_len(), 1);
        }
        assert_eq!(me.try_receive(), None);
    });
}

// N2: a scope releases the state of former members and monitors, however they ended
#[test]
fn a_scope_keeps_no_state_of_former_members_and_monitors() {
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

// N2, N1: a scope is found by its name while it is alive
#[purlin::test]
async fn a_scope_is_found_by_its_name(me: Process<Mail>) {
    let groups = groups().await;
    let a = idle();
    groups.join("g", &a).await.expect("it joins");
    let found = Groups::find("test").await.expect("it is there");
    assert_eq!(found.member_ids("g"), [a.id()]);
    let by = groups.server().id();
    let taken = RegisterError::Taken { name: Name::from("test"), by };
    assert_eq!(Groups::start("test").await.map(drop), Err(StartError::Name(taken)));

    assert_eq!(groups.server().stop().await, Ok(()));
    let gone = LookupError::NoName(Name::from("test"));
    assert_eq!(Groups::find("test").await.map(drop), Err(gone));
    let gone = CallError::NoProcess;
    assert_eq!(groups.join("g", &a).await, Err(JoinError::Scope(gone.clone())));
    assert_eq!(groups.monitor(&me, "g").await, Err(gone));
    let linked = server::start_link::<Scope>(&me, ()).name("test").await;
    assert!(linked.is_ok(), "as a supervisor would");
}

// N2: groups that are no longer maintained are not listed
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

// N2: a scope accepts only processes of the same node
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

/// An action on one of four processes.
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

/// Runs the steps, and compares the members and the events of a monitor with a plain list of joins.
async fn members_are_as_a_plain_list_has_them(mut me: Process<Mail>, steps: Vec<Step>) {
    let groups = groups().await;
    let pids = [idle(), idle(), idle(), idle()];
    let (monitor, _) = groups.monitor_scope(&me).await.expect("it answers");
    let mut list: Vec<(&str, ProcessId)> = Vec::new();
    let mut listed: Vec<(Name, ProcessId)> = Vec::new();
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
    // The reply comes after the scope has handled every end, and so after all events.
    let (end, _) = groups.monitor_scope(&me).await.expect("it answers");
    assert_ne!(end, monitor);
    while let Some(Mail::Group(Event { group, change, members, .. })) = me.try_receive() {
        for id in members {
            let entry = (group.clone(), id);
            match change {
                Change::Joined => listed.push(entry),
                Change::Left => {
                    let place = listed.iter().position(|known| *known == entry);
                    listed.remove(place.expect("who leaves has joined"));
                }
            }
        }
    }
    assert_eq!(listed, [], "who joined has left");
    assert_eq!(groups.which_groups(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    // N2: members = joined - left, in the table and in the events of a monitor
    #[test]
    fn members_are_the_processes_that_joined_and_have_not_left(steps in prop::collection::vec(step(), 0..40)) {
        let node = common::node(1);
        node.block_on(move |me| members_are_as_a_plain_list_has_them(me, steps));
        common::stop(&node);
    }
}
