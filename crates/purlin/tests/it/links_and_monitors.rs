//! Links, exit signals and monitors, clause by clause.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::common::{DropCounter, PanicsWhenDropped, boom, mortal, node, outside, stop};
use crate::waiting::{comes, rest, simulated};
use purlin::{
    Down, Exit, ExitReason, Message, Monitored, Node, Pid, Process, ProcessId, ProcessState, Reply,
    exit_process, receive, register, spawn, whereis, yield_now,
};
use purlin_testkit::{Simulation, for_each_seed};

/// Message type of these tests.
#[derive(Debug, Message)]
enum Msg {
    Number(u32),
    #[from]
    Down(Down),
    #[from]
    Exit(Exit),
}

/// Waits forever.
async fn idle(mut me: Process<()>) {
    loop {
        me.receive().await;
    }
}

async fn down(me: &mut Process<Msg>) -> Down {
    receive!(me, { Msg::Down(down) => down })
}

async fn exit(me: &mut Process<Msg>) -> Exit {
    receive!(me, { Msg::Exit(exit) => exit })
}

/// Waits until a process has begun to wait for a message or for something else.
///
/// WHY not [`has_read`]: a process handles signals before its function runs for the first time.
async fn waits<N: Send + 'static>(pid: &Pid<N>) {
    let states = [ProcessState::Receiving, ProcessState::Waiting];
    comes("it waits", || states.contains(&pid.info().state)).await;
}

/// Waits until a process has handled everything this process has sent to it.
async fn has_read<N: Send + 'static>(of: &Pid<N>) {
    assert!(of.details().await.is_some(), "{of} lives");
}

// L1: two processes have at most one link, and it works in both directions
#[purlin::test]
async fn a_link_is_bidirectional_and_unique() {
    for first_ends in [true, false] {
        let first = spawn(mortal);
        let to = first.clone();
        let second = spawn(async move |mut me: Process<ExitReason>| {
            me.link(&to);
            me.link(&to);
            me.receive().await
        });
        waits(&second).await;
        has_read(&first).await;
        assert_eq!(first.details().await.unwrap().links, [second.id()]);
        assert_eq!(second.details().await.unwrap().links, [first.id()]);
        let (ends, follows) = if first_ends { (&first, &second) } else { (&second, &first) };
        ends.send(boom());
        assert_eq!(follows.ended().await, boom());
    }
}

// L1: linking to oneself has no effect; D1: nor has monitoring oneself
#[purlin::test]
async fn linking_to_and_monitoring_oneself_does_nothing(mut me: Process<Msg>) {
    me.link(&me.pid());
    me.monitor(&me.pid());
    me.unlink(&me.pid());
    yield_now().await;
    assert!(me.try_receive().is_none());
    assert_eq!(me.pid().info().mailbox_len, 0);
}

// L2, L3: every linked process gets an exit signal with the reason; a process that traps gets a
// message
#[purlin::test]
async fn an_exit_signal_reaches_every_linked_process(mut me: Process<Msg>) {
    me.trap_exit(true);
    let hub = me.spawn_link(mortal);
    let others: Vec<_> = (0..50)
        .map(|_| {
            let hub = hub.clone();
            spawn(async move |mut me: Process<()>| {
                me.link(&hub);
                me.receive().await;
            })
        })
        .collect();
    for other in &others {
        waits(other).await;
    }
    hub.send(boom());
    assert_eq!(exit(&mut me).await, exit_of(&hub, boom()));
    for other in others {
        assert_eq!(other.ended().await, boom());
    }
}

fn exit_of<N: Send + 'static>(of: &Pid<N>, reason: ExitReason) -> Exit {
    Exit { from: Some(of.id()), reason }
}

// L3: reason `normal` ends no linked process
#[purlin::test]
async fn a_normal_exit_does_not_end_a_linked_process(mut me: Process<Msg>) {
    let child = me.spawn_link(mortal);
    child.send(ExitReason::Normal);
    child.ended().await;
    yield_now().await;
    assert!(me.try_receive().is_none());
}

// L4: exit(pid, normal) is ignored unless the process sends it to itself
#[purlin::test]
async fn exit_with_normal_is_ignored_unless_sent_to_oneself(mut me: Process<Msg>) {
    let other = spawn(idle);
    other.exit(ExitReason::Normal);
    has_read(&other).await;
    let itself = spawn(async |mut me: Process<()>| {
        me.pid().exit(ExitReason::Normal);
        me.receive().await;
        unreachable!("it was sent an exit signal");
    });
    assert_eq!(itself.ended().await, ExitReason::Normal);
    me.trap_exit(true);
    me.pid().exit(ExitReason::Normal);
    assert_eq!(exit(&mut me).await, exit_of(&me.pid(), ExitReason::Normal));
}

// L4: a sent `kill` cannot be trapped and is seen as `killed`
#[purlin::test]
async fn kill_cannot_be_trapped_and_is_seen_as_killed(mut me: Process<Msg>) {
    me.trap_exit(true);
    let stubborn = me.spawn_link(async |mut me: Process<Msg>| {
        me.trap_exit(true);
        loop {
            me.receive().await;
        }
    });
    waits(&stubborn).await;
    stubborn.exit(ExitReason::Shutdown);
    has_read(&stubborn).await;
    stubborn.exit(ExitReason::Kill);
    assert_eq!(exit(&mut me).await, exit_of(&stubborn, ExitReason::Killed));
}

// L4, M2: the first exit signal decides the reason, and a kill after it changes nothing
#[purlin::test]
async fn a_kill_after_another_exit_signal_does_not_change_the_reason(mut me: Process<Msg>) {
    for _ in 0..100 {
        let victim = spawn(idle);
        let monitor = me.monitor(&victim);
        victim.exit(boom());
        victim.exit(ExitReason::Kill);
        let down = down(&mut me).await;
        assert_eq!((down.monitor, down.reason), (monitor, boom()));
    }
}

// L4, M2: the same for signals from outside a process; only a node that stops overrides the reason
// (E1)
#[test]
fn a_kill_from_outside_after_another_exit_signal_does_not_change_the_reason() {
    let node = node(1);
    for _ in 0..100 {
        let (go, wait) = mpsc::channel::<()>();
        let pid = node.spawn(async move |mut me: Process<()>| {
            let _ = wait.recv();
            me.receive().await;
        });
        pid.exit(boom());
        pid.exit(ExitReason::Kill);
        drop(go);
        assert_eq!(outside(pid.ended()), boom());
    }
    stop(&node);
}

// L4: a process that ends with reason `kill` is seen with `kill`, like any other reason
#[purlin::test]
async fn a_process_that_returns_kill_is_seen_with_kill(mut me: Process<Msg>) {
    me.trap_exit(true);
    let child = me.spawn_link(mortal);
    child.send(ExitReason::Kill);
    assert_eq!(exit(&mut me).await, exit_of(&child, ExitReason::Kill));
}

// L5: no exit signal of the link arrives after unlink, even if the other process ends at that
// moment
#[purlin::test]
async fn no_exit_of_a_link_is_received_after_unlink(mut me: Process<Msg>) {
    me.trap_exit(true);
    for _ in 0..300 {
        let child = me.spawn_link(mortal);
        child.send(boom());
        me.unlink(&child);
        // An exit message that arrived before the unlink stays; a later one is discarded.
        while me.try_receive().is_some() {}
        child.ended().await;
        yield_now().await;
        assert!(me.try_receive().is_none());
        assert_eq!(me.pid().info().mailbox_len, 0);
    }
}

// L5: after any sequence of link and unlink on both sides, the two processes agree
#[purlin::test]
async fn both_ends_agree_whether_they_are_linked() {
    for round in 0..300_u32 {
        let first = spawn(idle);
        let other = first.id();
        let second = spawn(async move |mut me: Process<Reply<()>>| {
            for step in 0..10 {
                if (round >> (step % 8)) & 1 == 0 {
                    me.link(other)
                } else {
                    me.unlink(other)
                }
                if step % 3 == 0 {
                    yield_now().await;
                }
            }
            me.receive().await.send(());
            me.receive().await;
        });
        // The second process has finished; everything it sent has been handled, and so have the
        // acknowledgements.
        second.call(|reply| reply).await.expect("it lives");
        has_read(&first).await;
        has_read(&second).await;
        let (a, b) = (first.details().await.unwrap(), second.details().await.unwrap());
        assert_eq!(a.links.contains(&second.id()), b.links.contains(&first.id()));
        first.exit(ExitReason::Kill);
        second.exit(ExitReason::Kill);
    }
}

// L6: linking to an ended process gives `noproc`, with and without trapping
#[purlin::test]
async fn linking_to_a_dead_process_delivers_noproc(mut me: Process<Msg>) {
    let dead = spawn(mortal);
    dead.send(ExitReason::Normal);
    dead.ended().await;
    let to = dead.clone();
    let linker = spawn(async move |mut me: Process<()>| {
        me.link(&to);
        me.receive().await;
    });
    assert_eq!(linker.ended().await, ExitReason::NoProcess);
    me.trap_exit(true);
    me.link(&dead);
    assert_eq!(exit(&mut me).await, exit_of(&dead, ExitReason::NoProcess));
    me.link(dead.id());
    assert_eq!(exit(&mut me).await, exit_of(&dead, ExitReason::NoProcess));
}

// L7: the current poll completes; then destructors run
#[purlin::test]
async fn a_process_ends_at_its_next_await_after_an_exit_signal() {
    let drop_counter = DropCounter::default();
    let token = drop_counter.token();
    let pid = spawn(async move |mut me: Process<Reply<u32>>| {
        let _token = token;
        let reply = me.receive().await;
        me.pid().exit(boom());
        reply.send(7);
        me.receive().await;
        unreachable!("it was sent an exit signal");
    });
    assert_eq!(pid.call(|reply| reply).await, Ok(7));
    assert_eq!(pid.ended().await, boom());
    assert_eq!(drop_counter.dropped(), 1);
}

// L7: a receive that finds an exit signal ends the process, also with `after 0`
#[purlin::test]
async fn a_receive_that_finds_an_exit_signal_ends_the_process() {
    let went_on = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let further = std::sync::Arc::clone(&went_on);
    let pid = spawn(async move |mut me: Process<u32>| {
        me.pid().exit(boom());
        receive!(me, { _ => (), after Duration::ZERO => () });
        further.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    assert_eq!(pid.ended().await, boom());
    assert!(!went_on.load(std::sync::atomic::Ordering::SeqCst));
}

// L7, M2: messages sent after an exit signal are not received
#[purlin::test]
async fn no_message_after_an_exit_signal_is_received() {
    let pid = spawn(async |mut me: Process<u32>| {
        let myself = me.pid();
        myself.exit(boom());
        myself.send(2);
        assert_eq!(me.try_receive(), None);
        assert!(me.flush().is_empty());
        me.receive().await;
        unreachable!("it was sent an exit signal");
    });
    assert_eq!(pid.ended().await, boom());
}

// L7: nor are they received by destructors
#[purlin::test]
async fn no_message_after_an_exit_signal_is_received_by_a_destructor() {
    struct Receives(Process<u32>, mpsc::Sender<Vec<u32>>);
    impl Drop for Receives {
        fn drop(&mut self) {
            let one = self.0.try_receive();
            let _ = self.1.send(one.into_iter().chain(self.0.flush()).collect());
        }
    }
    for awake in [false, true] {
        let (tx, rx) = mpsc::channel();
        let pid = spawn(async move |me: Process<u32>| {
            let mut me = Receives(me, tx);
            if awake {
                me.0.pid().exit(boom());
                me.0.pid().send(1);
                assert_eq!(me.0.try_receive(), None);
            }
            pending::<()>().await;
        });
        if !awake {
            waits(&pid).await;
            pid.exit(boom());
            pid.send(2);
        }
        assert_eq!(pid.ended().await, boom());
        assert_eq!(rx.recv(), Ok(vec![]), "awake: {awake}");
    }
}

// L8: the child is never alive without its link or monitor
#[purlin::test]
async fn spawning_with_a_link_or_a_monitor_is_atomic(mut me: Process<Msg>) {
    me.trap_exit(true);
    for _ in 0..200 {
        let child = me.spawn_link(async |_: Process<()>| boom());
        assert_eq!(exit(&mut me).await, exit_of(&child, boom()));
        let (child, monitor) = me.spawn_monitor(async |_: Process<()>| boom());
        let down = down(&mut me).await;
        assert_eq!((down.monitor, down.reason), (monitor, boom()));
        assert_eq!(down.process, Monitored::Process(child.id()));
    }
}

// L8: a handle used by another process neither spawns nor links
#[purlin::test]
async fn spawn_link_with_the_handle_of_another_process_spawns_nothing(me: Process<Msg>) {
    let (me, drop_counter) = (Arc::new(me), DropCounter::default());
    for link in [true, false] {
        let (me, token) = (Arc::clone(&me), drop_counter.token());
        let other = spawn(async move |_: Process<()>| {
            let child = async move |mut child: Process<()>| {
                let _token = token;
                child.receive().await;
            };
            if link {
                me.spawn_link(child);
            } else {
                me.spawn_monitor(child);
            }
        });
        assert!(other.ended().await.to_string().contains("used outside of process"));
    }
    assert_eq!(drop_counter.dropped(), drop_counter.born());
}

// The panic of a handle in another process has the location of the call.
#[purlin::test]
async fn a_handle_in_another_process_reports_the_line_of_its_use(me: Process<Msg>) {
    let (me, third) = (Arc::new(me), spawn(async |mut me: Process<()>| me.receive().await));
    for way in 0..4 {
        let (me, third) = (Arc::clone(&me), third.clone());
        let other = spawn(async move |_: Process<()>| match way {
            0 => drop(me.monitor(&third)),
            1 => me.link(&third),
            2 => drop(me.spawn_link(async |_: Process<()>| ())),
            _ => drop(me.spawn_monitor(async |_: Process<()>| ())),
        });
        let reason = other.ended().await.to_string();
        assert!(reason.contains("links_and_monitors.rs"), "{way}: {reason}");
    }
}

// L8: a linked child ends with a parent that ends immediately after the spawn
#[purlin::test]
async fn a_linked_child_ends_with_a_parent_that_ends_immediately(mut me: Process<Pid<()>>) {
    for _ in 0..200 {
        let to = me.pid();
        spawn(async move |me: Process<()>| {
            to.send(me.spawn_link(idle));
            purlin::exit(boom());
        });
        let child = me.receive().await;
        assert_eq!(child.ended().await, boom());
    }
}

// L9: an alias that was deactivated, and one for a single message
#[purlin::test]
async fn messages_to_a_deactivated_alias_are_dropped(mut me: Process<Msg>) {
    let node = Node::current().unwrap();
    let (alias, once) = (me.alias(), me.alias_once());
    alias.send(Msg::Number(1));
    once.send(Msg::Number(2));
    once.send(Msg::Number(3));
    me.pid().send(Msg::Number(4));
    // M2: in the order sent, across pid and aliases
    for expected in [1, 2, 4] {
        assert!(matches!(me.receive().await, Msg::Number(n) if n == expected));
    }
    assert!(me.unalias(&alias));
    assert!(!me.unalias(&alias) && !me.unalias(&once));
    alias.send(Msg::Number(5));
    assert!(me.try_receive().is_none());
    assert_eq!(node.drops().alias, 2);
}

// L9: a panic in the destructor of a dropped message does not affect the process
#[purlin::test]
async fn a_message_to_a_deactivated_alias_may_panic_in_its_destructor() {
    let pid = spawn(async |mut me: Process<PanicsWhenDropped>| {
        let alias = me.alias();
        me.unalias(&alias);
        spawn(async move |_: Process<()>| alias.send(PanicsWhenDropped("a barb")));
        let node = Node::current().unwrap();
        comes("it is dropped", || node.drops().alias == 1).await;
        assert!(me.try_receive().is_none());
    });
    assert_eq!(pid.ended().await, ExitReason::Normal);
}

// D1: each of many monitors fires exactly once
#[purlin::test]
async fn every_monitor_fires_exactly_once(mut me: Process<Msg>) {
    let child = spawn(mortal);
    let mut monitors: Vec<_> = (0..100).map(|_| me.monitor(&child)).collect();
    child.send(boom());
    let mut fired = Vec::new();
    for _ in 0..100 {
        let down = down(&mut me).await;
        assert_eq!((down.process, down.reason), (Monitored::Process(child.id()), boom()));
        fired.push(down.monitor);
    }
    monitors.sort();
    fired.sort();
    assert_eq!(monitors, fired);
    yield_now().await;
    assert!(me.try_receive().is_none());
}

// D2: of an ended process, by pid and by id
#[purlin::test]
async fn monitoring_an_ended_process_fires_noproc(mut me: Process<Msg>) {
    let dead = spawn(mortal);
    dead.send(boom());
    dead.ended().await;
    for monitor in [me.monitor(&dead), me.monitor(dead.id())] {
        let down = down(&mut me).await;
        assert_eq!((down.monitor, down.reason), (monitor, ExitReason::NoProcess));
    }
}

// D3: before the monitor fires, while the signal is in flight, and when the message is in the
// mailbox
#[purlin::test]
async fn no_down_message_is_seen_after_demonitor_with_flush(mut me: Process<Msg>) {
    for round in 0..300 {
        let (child, monitor) = me.spawn_monitor(mortal);
        me.pid().send(Msg::Number(1));
        if round % 3 > 0 {
            child.send(boom());
        }
        if round % 3 > 1 {
            child.ended().await;
            // The down message is in the save queue, behind the number.
            receive!(me, { Msg::Exit(_) => unreachable!(), after Duration::ZERO => () });
            assert!(!me.demonitor_flush(monitor));
        } else {
            me.demonitor_flush(monitor);
        }
        child.exit(boom());
        child.ended().await;
        yield_now().await;
        assert!(matches!(me.flush()[..], [Msg::Number(1)]));
        assert!(!me.demonitor_flush(monitor));
    }
}

// D1: without flush, a down message in the mailbox stays
#[purlin::test]
async fn demonitor_without_flush_keeps_a_delivered_down_message(mut me: Process<Msg>) {
    let (child, monitor) = me.spawn_monitor(mortal);
    assert!(me.demonitor(monitor));
    assert!(!me.demonitor(monitor));
    let (other, second) = me.spawn_monitor(mortal);
    other.send(boom());
    other.ended().await;
    receive!(me, { Msg::Exit(_) => unreachable!(), after Duration::ZERO => () });
    assert!(!me.demonitor(second));
    assert_eq!(down(&mut me).await.monitor, second);
    assert!(child.details().await.unwrap().monitored_by.is_empty());
}

// D4, M2: messages come first, then the exit and down signals in either order
#[purlin::test]
async fn messages_arrive_before_the_down_and_exit_of_their_sender(mut me: Process<Msg>) {
    me.trap_exit(true);
    for _ in 0..100 {
        let to = me.pid();
        let child = me.spawn_link(async move |mut me: Process<ExitReason>| {
            let reason = me.receive().await;
            (0..100).for_each(|n| to.send(Msg::Number(n)));
            reason
        });
        me.monitor(&child);
        child.send(boom());
        for expected in 0..100 {
            assert!(matches!(me.receive().await, Msg::Number(n) if n == expected));
        }
        let last = [me.receive().await, me.receive().await];
        assert!(last.iter().any(|msg| matches!(msg, Msg::Down(_))), "{last:?}");
        assert!(last.iter().any(|msg| matches!(msg, Msg::Exit(_))), "{last:?}");
    }
}

// D5: the down message has the name, and the monitor follows the process
#[purlin::test]
async fn a_monitor_by_name_reports_the_name_and_follows_the_process(mut me: Process<Msg>) {
    let (first, second) = (spawn(mortal), spawn(mortal));
    register("it", &first).unwrap();
    let monitor = me.monitor_name("it");
    assert!(purlin::unregister("it"));
    register("it", &second).unwrap();
    second.send(boom());
    second.ended().await;
    first.send(ExitReason::Shutdown);
    let fired = down(&mut me).await;
    assert_eq!((fired.monitor, fired.reason), (monitor, ExitReason::Shutdown));
    assert_eq!(fired.process, Monitored::Name("it".into()));
    // A name that is not registered gives `noproc` immediately.
    let nobody = me.monitor_name("nobody");
    assert!(matches!(me.try_receive(), Some(Msg::Down(down))
        if down.monitor == nobody && down.reason == ExitReason::NoProcess));
}

// N1: a name belongs to one live process, and is free before the monitors fire
#[purlin::test]
async fn a_name_is_free_before_the_monitors_fire(mut me: Process<Msg>) {
    for _ in 0..200 {
        let (child, _) = me.spawn_monitor(mortal);
        register("unique", &child).expect("the one before has ended");
        assert_eq!(whereis::<ExitReason>("unique").unwrap(), child);
        child.send(boom());
        down(&mut me).await;
        assert!(whereis::<ExitReason>("unique").is_err());
    }
}

// N1: also if the process gets the name after its exit signal was sent
#[test]
fn a_name_registered_after_an_exit_signal_is_free_after_the_end() {
    // In a simulation the child has no turn while this process runs.
    simulated(async |mut me: Process<Msg>| {
        let (child, _) = me.spawn_monitor(idle);
        has_read(&child).await;
        child.exit(ExitReason::Kill);
        register("last", &child).expect("it lives, and will end in its next turn");
        down(&mut me).await;
        assert!(purlin::registered().is_empty());
        register("last", &me.pid()).expect("the name is free");
    });
}

// N1, E2: an invalid name, a taken name, a second name, an ended process
#[purlin::test]
async fn a_registration_that_is_not_possible_is_an_error() {
    use purlin::RegisterError as No;
    let (first, second) = (spawn(idle), spawn(idle));
    register("a", &first).unwrap();
    let taken = register("a", &second).unwrap_err();
    assert_eq!(taken, No::Taken { name: "a".into(), by: first.id() });
    assert!(taken.to_string().contains("has the name \"a\""));
    let named = register("b", &first).unwrap_err();
    assert_eq!(named, No::HasName { id: first.id(), name: "a".into() });
    for bad in ["", "undefined", &"x".repeat(256)] {
        assert!(matches!(register(bad, &second), Err(No::BadName(_))));
    }
    register(&"é".repeat(255), &second).unwrap();
    first.exit(ExitReason::Kill);
    first.ended().await;
    assert_eq!(register("c", &first), Err(No::NoProcess(first.id())));
    let wrong = whereis::<u32>(&"é".repeat(255)).unwrap_err();
    assert!(wrong.to_string().contains("receives messages of type ()"));
    assert_eq!(purlin::registered().len(), 1);
}

// P2: from any call depth; destructors run, and the reason is unchanged
#[purlin::test]
async fn a_process_ends_itself_from_any_depth() {
    let drop_counter = DropCounter::default();
    let token = drop_counter.token();
    let pid = spawn(async move |_: Process<()>| {
        let deep = move || {
            let _token = token;
            purlin::exit(ExitReason::shutdown_with("done"))
        };
        deep();
    });
    assert_eq!(pid.ended().await, ExitReason::shutdown_with("done"));
    assert_eq!(drop_counter.dropped(), 1);
    let by_error = spawn(async |_: Process<()>| -> Result<(), ExitReason> {
        Err(ExitReason::Timeout)?;
        Ok(())
    });
    assert_eq!(by_error.ended().await, ExitReason::Timeout);
}

/// Panics when it is created from a down signal.
struct Fragile;

impl From<Down> for Fragile {
    fn from(_: Down) -> Self {
        panic!("no message of that")
    }
}

// P2: a panic while creating a message ends the receiving process
#[purlin::test]
async fn a_panic_in_message_conversion_ends_the_receiver() {
    let pid = spawn(async |mut me: Process<Fragile>| {
        me.spawn_monitor(async |_: Process<()>| ());
        me.receive().await;
    });
    let reason = pid.ended().await;
    assert!(reason.to_string().contains("no message of that"), "{reason}");
}

// L7: after an exit signal no further messages are created
#[test]
fn a_down_signal_after_an_exit_signal_is_not_converted() {
    struct Counted;
    static MADE: AtomicUsize = AtomicUsize::new(0);
    impl From<Down> for Counted {
        fn from(_: Down) -> Self {
            MADE.fetch_add(1, Ordering::Relaxed);
            Self
        }
    }
    let node = node(2);
    let child = node.spawn(mortal);
    let watched = child.clone();
    let ((ready, is_ready), (go, wait)) = (mpsc::channel(), mpsc::channel::<()>());
    let pid = node.spawn(async move |mut me: Process<Counted>| {
        me.monitor(&watched);
        ready.send(()).expect("the test waits");
        let _ = wait.recv();
        me.receive().await;
    });
    is_ready.recv().expect("it monitors");
    pid.exit(boom());
    child.send(ExitReason::Normal);
    outside(child.ended());
    drop(go);
    assert_eq!(outside(pid.ended()), boom());
    assert_eq!(MADE.load(Ordering::Relaxed), 0);
    stop(&node);
}

// P5: links, monitors and other process data can be queried
#[purlin::test]
async fn process_details_list_links_and_monitors(me: Process<Msg>) {
    let (linked, monitored) = (spawn(idle), spawn(idle));
    me.register("teller").unwrap();
    me.link(&linked);
    me.monitor(&monitored);
    me.trap_exit(true);
    me.report_memory(1 << 20);
    let details = monitored.details().await.unwrap();
    assert_eq!(details.monitored_by, [me.id()]);
    assert_eq!(linked.details().await.unwrap().links, [me.id()]);
    assert_eq!(me.pid().info().name.as_deref(), Some("teller"));
    let node = Node::current().unwrap();
    let (asker, myself) = (node.clone(), me.id());
    let observer = spawn(async move |_: Process<()>| {
        let details = asker.process_details(myself).await.unwrap();
        assert!(details.traps_exits);
        assert_eq!(details.reported_memory, 1 << 20);
        assert_eq!((details.links.len(), details.monitors.len()), (1, 1));
    });
    assert_eq!(observer.ended().await, ExitReason::Normal);
    monitored.exit(ExitReason::Kill);
    monitored.ended().await;
    assert_eq!(monitored.details().await, None);
}

// E1: a process that traps exits gets one exit signal and has time to end
#[test]
fn stopping_a_node_sends_one_exit_signal_to_a_trapping_process() {
    for_each_seed(3, |seed| {
        let mut simulation = Simulation::new(seed);
        let pid = simulation.node().spawn(async |mut me: Process<Msg>| {
            me.trap_exit(true);
            let signal = exit(&mut me).await;
            assert_eq!((signal.from, signal.reason), (None, ExitReason::Shutdown));
            // Every 5 ms of virtual time the node checks whether the process has ended.
            for _ in 0..100 {
                rest().await;
                assert!(me.try_receive().is_none());
            }
            ExitReason::shutdown_with("saved")
        });
        simulation.advance(Duration::ZERO);
        simulation.stop();
        assert_eq!(pid.exit_reason(), Some(ExitReason::shutdown_with("saved")));
    });
}

// L2: a chain of 30 000 links ends without deep recursion
#[purlin::test]
async fn a_long_chain_of_links_ends_as_a_whole(mut me: Process<Msg>) {
    async fn grow(mut me: Process<()>, left: u32, to: Pid<Msg>) {
        if left == 0 {
            to.send(Msg::Number(0));
        } else {
            me.spawn_link(async move |me: Process<()>| grow_on(me, left - 1, to).await);
        }
        me.receive().await;
    }
    fn grow_on(
        me: Process<()>,
        left: u32,
        to: Pid<Msg>,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(grow(me, left, to))
    }
    let to = me.pid();
    let (first, monitor) =
        me.spawn_monitor(async move |me: Process<()>| grow_on(me, 30_000, to).await);
    assert!(matches!(me.receive().await, Msg::Number(0)));
    first.exit(boom());
    assert_eq!(down(&mut me).await.monitor, monitor);
    let node = Node::current().unwrap();
    let id: ProcessId = me.id();
    comes("only this process is left", || node.processes().iter().all(|info| info.id == id)).await;
    exit_process(id, ExitReason::Normal);
}
