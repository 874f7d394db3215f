//! Priority messages (M6).

use std::mem::take;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{boom, mortal};
use crate::waiting::{MS, rest, simulated};
use purlin::{
    Alias, Down, Exit, ExitReason, Message, Node, Overflow, Pid, Process, Reference, SpawnOptions,
    exit_process, receive, register, spawn, yield_now,
};

/// Message type of these tests.
#[derive(Debug, Message, PartialEq)]
enum Msg {
    Number(u32),
    #[from]
    Down(Down),
    #[from]
    Exit(Exit),
}
use Msg::Number;

/// Returns the whole mailbox in short: numbers, `D` for a down message, `E` for an exit message.
fn shown(me: &mut Process<Msg>) -> Vec<String> {
    let short = |message| match message {
        Number(number) => number.to_string(),
        Msg::Down(_) => "D".to_string(),
        Msg::Exit(_) => "E".to_string(),
    };
    me.flush().into_iter().map(short).collect()
}

// M6: before messages that are in the inbox, and before those in the save queue
#[test]
fn priority_messages_precede_all_others_in_the_order_sent() {
    simulated(async |mut me: Process<Msg>| {
        let alias = me.priority_alias();
        (1..3).for_each(|n| me.pid().send(Number(n)));
        // Moves them to the save queue.
        receive!(me, { Number(9) => unreachable!(), after Duration::ZERO => {} });
        me.pid().send(Number(3));
        alias.send_priority(Number(10));
        alias.send(Number(4));
        alias.send_priority(Number(11));
        assert_eq!(me.mailbox_len(), 6);
        yield_now().await;
        assert_eq!(me.receive().await, Number(10));
        alias.send_priority(Number(12));
        yield_now().await;
        assert_eq!(shown(&mut me), ["11", "12", "1", "2", "3", "4"]);
        assert_eq!(me.mailbox_len(), 0);
        // After all of them have been received.
        me.pid().send(Number(5));
        alias.send_priority(Number(13));
        assert_eq!((me.receive().await, me.receive().await), (Number(13), Number(5)));
    });
}

// M6: only the receiver can allow priority messages
#[test]
fn a_message_with_priority_is_ordinary_unless_the_alias_allows_it() {
    simulated(async |mut me: Process<Msg>| {
        me.trap_exit(true);
        let (plain, once) = (me.alias(), me.alias_once());
        me.pid().send(Number(1));
        plain.send_priority(Number(2));
        once.send_priority(Number(3));
        once.send_priority(Number(4));
        plain.exit_priority(boom());
        assert_eq!(shown(&mut me), ["1", "2", "3", "E"]);
        let node = Node::current().expect("this is a process");
        assert_eq!(node.drops().alias, 1, "the alias for one message");
    });
}

// M6, L9
#[test]
fn a_removed_priority_alias_receives_nothing() {
    simulated(async |mut me: Process<Msg>| {
        me.trap_exit(true);
        let alias = me.priority_alias();
        alias.send_priority(Number(1));
        assert_eq!(shown(&mut me), ["1"]);
        assert!(me.unalias(&alias));
        alias.send_priority(Number(2));
        alias.exit_priority(boom());
        alias.exit(boom());
        assert_eq!(shown(&mut me), [""; 0]);
    });
}

// L4, L9, M6: an exit signal to an alias acts like one to the pid
#[test]
fn an_exit_signal_to_an_alias_ends_its_owner_or_is_trapped() {
    simulated(async |mut me: Process<Alias<Msg>>| {
        type Sends = fn(&Alias<Msg>, ExitReason);
        for sends in [Alias::exit as Sends, Alias::exit_priority] {
            for (traps, reason, ends) in [
                (false, boom(), boom()),
                (false, ExitReason::Normal, ExitReason::Timeout),
                (true, ExitReason::Kill, ExitReason::Killed),
                (true, boom(), ExitReason::Shutdown),
            ] {
                let to = me.pid();
                let owner = spawn(async move |mut me: Process<Msg>| {
                    me.trap_exit(traps);
                    to.send(me.priority_alias());
                    receive!(me, {
                        Msg::Exit(exit) if exit.reason == boom() => ExitReason::Shutdown,
                        after MS => ExitReason::Timeout,
                    })
                });
                sends(&me.receive().await, reason);
                assert_eq!(owner.ended().await, ends);
            }
        }
    });
}

// M6, L3: the exit message of a link and the one sent to an alias
#[test]
fn exit_messages_have_priority_if_the_receiver_asked_for_it() {
    simulated(async |mut me: Process<Msg>| {
        me.trap_exit(true);
        let children: Vec<Pid<_>> = (0..4).map(|_| me.spawn_link(mortal)).collect();
        let alias = me.priority_alias();
        me.link_priority(&children[1]);
        me.link_priority(&children[2]);
        // The last call decides, also after an unlink.
        me.link(&children[2]);
        me.unlink(&children[3]);
        me.link_priority(&children[3]);
        me.pid().send(Number(1));
        for (child, priority) in children.into_iter().zip([false, true, false, true]) {
            child.send(boom());
            child.ended().await;
            yield_now().await;
            alias.send_priority(Number(2));
            yield_now().await;
            if priority {
                let exit = Exit { from: Some(child.id()), reason: boom() };
                assert_eq!(me.receive().await, Msg::Exit(exit));
                assert_eq!(shown(&mut me), ["2", "1"]);
            } else {
                assert_eq!(shown(&mut me), ["2", "1", "E"]);
            }
            me.pid().send(Number(1));
        }
        alias.exit(boom());
        alias.exit_priority(boom());
        exit_process(me.id(), boom());
        assert_eq!(shown(&mut me), ["E", "1", "E", "E"]);
    });
}

#[test]
fn a_link_has_the_priority_that_the_last_call_gave_it() {
    simulated(async |mut me: Process<Msg>| {
        me.trap_exit(true);
        for (calls, priority) in
            [("p", true), ("-", false), ("-p", true), ("p-", false), ("pup", true)]
        {
            let child = spawn(mortal);
            for call in calls.chars() {
                match call {
                    'p' => me.link_priority(&child),
                    'u' => me.unlink(&child),
                    _ => me.link(&child),
                }
            }
            me.pid().send(Number(1));
            child.send(boom());
            child.ended().await;
            yield_now().await;
            let expected = if priority { ["E", "1"] } else { ["1", "E"] };
            assert_eq!(shown(&mut me), expected, "{calls}");
        }
        // L6: a link to a process that has ended.
        let gone = spawn(async |_: Process<()>| ());
        gone.ended().await;
        me.pid().send(Number(1));
        me.link_priority(&gone);
        assert_eq!(shown(&mut me), ["E", "1"]);
    });
}

// M6, D1: by pid, by name, of a child, and of a process that has ended
#[test]
fn down_messages_have_priority_if_the_receiver_asked_for_it() {
    simulated(async |mut me: Process<Msg>| {
        let named = spawn(mortal);
        register("named", &named).expect("the name is free");
        let (child, of_child) = me.spawn_monitor(mortal);
        let monitors = [me.monitor(&named), me.monitor_name("named"), of_child];
        let ordinary = me.monitor(&child);
        for monitor in monitors {
            assert!(me.prioritize(monitor));
        }
        assert!(me.prioritize(of_child), "it has it already");
        me.pid().send(Number(1));
        named.send(boom());
        child.send(boom());
        named.ended().await;
        child.ended().await;
        yield_now().await;
        assert!(!me.prioritize(of_child), "it has fired");
        let mut downs = Vec::new();
        for _ in 0..3 {
            match me.receive().await {
                Msg::Down(down) => downs.push(down.monitor),
                other => panic!("{other:?}"),
            }
        }
        downs.sort();
        let mut expected = monitors;
        expected.sort();
        assert_eq!(downs, expected);
        assert_eq!(me.receive().await, Number(1));
        assert!(matches!(me.receive().await, Msg::Down(down) if down.monitor == ordinary));

        me.pid().send(Number(2));
        let late = me.monitor(&named);
        assert!(me.prioritize(late));
        assert_eq!(shown(&mut me), ["D", "2"]);
        // D3
        me.pid().send(Number(3));
        let late = me.monitor(&named);
        assert!(me.prioritize(late));
        yield_now().await;
        assert!(!me.demonitor_flush(late));
        assert_eq!(shown(&mut me), ["3"]);
        let removed = me.monitor(&spawn(mortal));
        assert!(me.demonitor(removed) && !me.prioritize(removed));
    });
}

// M6, R4: a receive that has passed over ordinary messages examines the priority message next, then
// continues, and examines no message twice
#[test]
fn a_waiting_selective_receive_examines_a_priority_message_next() {
    simulated(async |mut me: Process<Alias<u32>>| {
        let to = me.pid();
        let receiver = spawn(async move |mut me: Process<u32>| {
            to.send(me.priority_alias());
            let examined = Mutex::new(Vec::new());
            let is = |n: u32, wanted: u32| {
                examined.lock().unwrap().push(n);
                n == wanted
            };
            let examined = || take(&mut *examined.lock().unwrap());
            receive!(me, { n if is(n, 7) => {} });
            assert_eq!(examined(), [0, 1, 2, 100, 101, 3, 7]);
            receive!(me, { n if is(n, 101) => {} });
            assert_eq!(examined(), [100, 101]);
            receive!(me, { n if is(n, 1) => {} });
            assert_eq!(examined(), [100, 0, 1]);
            assert_eq!(me.flush(), [100, 0, 2, 3]);
        });
        let alias = me.receive().await;
        (0..3).for_each(|n| receiver.send(n));
        rest().await;
        receiver.send(3);
        alias.send_priority(100);
        alias.send_priority(101);
        rest().await;
        receiver.send(7);
        assert_eq!(receiver.ended().await, ExitReason::Normal);
    });
}

// M6, R8: a receive for a reference examines priority messages first, and no older ordinary ones, also
// after the message before its marker has been received
#[test]
fn a_receive_for_a_reference_finds_a_priority_message() {
    simulated(async |mut me: Process<(Option<Reference>, u32)>| {
        let alias = me.priority_alias();
        for takes_all in [false, true] {
            (0..3).for_each(|n| me.pid().send((None, n)));
            alias.send_priority((None, 100));
            let order = me.make_ref();
            let takes = if takes_all { 0..3 } else { 2..3 };
            for wanted in takes.rev() {
                receive!(me, { (None, n) if n == wanted => {} });
                alias.send_priority((None, 101 + wanted));
                yield_now().await;
            }
            alias.send_priority((Some(order), 200));
            me.pid().send((Some(order), 3));
            yield_now().await;
            receive!(me, tag == order, { (Some(tag), 200) => {} });
            receive!(me, tag == order, { (Some(tag), 3) => {} });
            let left = if takes_all { vec![100, 103, 102, 101] } else { vec![100, 103, 0, 1] };
            assert_eq!(me.flush(), left.into_iter().map(|n| (None, n)).collect::<Vec<_>>());
        }
    });
}

// M6, R3, R7: a receive that timed out or was cancelled after it had passed over messages
#[test]
fn a_receive_that_ends_without_a_message_leaves_the_order() {
    simulated(async |mut me: Process<u32>| {
        let alias = me.priority_alias();
        (0..3).for_each(|n| me.pid().send(n));
        let sends = alias.clone();
        spawn(async move |_: Process<()>| sends.send_priority(100));
        receive!(me, { 9 => unreachable!(), after MS => {} });
        let sends = alias.clone();
        spawn(async move |_: Process<()>| sends.send_priority(101));
        tokio::select! {
            () = async { receive!(me, { 9 => {} }) } => unreachable!(),
            () = rest() => {}
        }
        alias.send_priority(102);
        yield_now().await;
        assert_eq!(receive!(me, { n if n != 100 => n }), 101);
        assert_eq!(me.receive().await, 100);
        assert_eq!(me.flush(), [102, 0, 1, 2]);
    });
}

// M6, R2: the message wakes a receive, also among other futures
#[test]
fn a_priority_message_wakes_a_receive() {
    simulated(async |mut me: Process<Alias<u32>>| {
        for selects in [false, true] {
            let to = me.pid();
            let receiver = spawn(async move |mut me: Process<u32>| {
                to.send(me.priority_alias());
                let got = if selects {
                    tokio::select! {
                        n = me.receive() => n,
                        () = std::future::pending() => unreachable!(),
                    }
                } else {
                    receive!(me, { n if n > 0 => n })
                };
                assert_eq!(got, 100);
            });
            let alias = me.receive().await;
            rest().await;
            alias.send_priority(100);
            assert_eq!(receiver.ended().await, ExitReason::Normal);
        }
    });
}

// M6, B2: a bound does not apply to priority messages, and does not drop them
#[test]
fn priority_messages_pass_every_bound() {
    simulated(async |mut me: Process<Alias<u32>>| {
        for overflow in
            [Overflow::Wait, Overflow::Reject, Overflow::DropNewest, Overflow::DropOldest]
        {
            let to = me.pid();
            let options = SpawnOptions::new().bound(2, overflow);
            let examined = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&examined);
            let receiver = options.spawn(async move |mut me: Process<u32>| {
                to.send(me.priority_alias());
                let is = |n: u32| counter.fetch_add(1, Ordering::Relaxed) < usize::MAX && n == 103;
                receive!(me, { n if is(n) => {} });
                ExitReason::error(format!("{:?}", me.flush()))
            });
            let receiver = receiver.expect("there is room");
            let alias = me.receive().await;
            for n in 0..2 {
                receiver.send(n);
                rest().await;
            }
            for n in 100..103 {
                alias.send_priority(n);
                rest().await;
                let _ = receiver.try_send(n - 98);
                rest().await;
            }
            alias.send_priority(103);
            // The priority messages exceed the limit, so that every other one is dropped as the oldest.
            let (left, count) = match overflow {
                Overflow::DropOldest => ("[100, 101, 102]", 7),
                _ => ("[100, 101, 102, 0, 1]", 6),
            };
            assert_eq!(receiver.ended().await.to_string(), left, "{overflow:?}");
            assert_eq!(examined.load(Ordering::Relaxed), count, "each once, {overflow:?}");
        }
    });
}

// M2, L7: signals keep their order: a message sent behind an exit signal is not received
#[test]
fn priority_does_not_overtake_signals() {
    simulated(async |mut me: Process<Alias<u32>>| {
        let to = me.pid();
        let receiver = spawn(async move |mut me: Process<u32>| {
            to.send(me.priority_alias());
            panic!("received {}", me.receive().await);
        });
        let alias = me.receive().await;
        receiver.exit(ExitReason::Shutdown);
        alias.send_priority(1);
        assert_eq!(receiver.ended().await, ExitReason::Shutdown);
    });
}

// M4: the messages left at the end are dropped and counted
#[test]
fn priority_messages_left_at_the_end_are_dropped() {
    simulated(async |_: Process<()>| {
        let node = Node::current().expect("this is a process");
        let before = node.drops();
        let pid = spawn(async |mut me: Process<Arc<()>>| {
            let alias = me.priority_alias();
            let held = Arc::new(());
            me.pid().send(Arc::clone(&held));
            alias.send_priority(Arc::clone(&held));
            receive!(me, { _ if false => {}, after MS => {} });
            assert_eq!(Arc::strong_count(&held), 3);
            alias.send_priority(Arc::clone(&held));
        });
        assert_eq!(pid.ended().await, ExitReason::Normal);
        let drops = node.drops();
        assert_eq!((drops.ended - before.ended, drops.alias - before.alias), (2, 1));
    });
}
