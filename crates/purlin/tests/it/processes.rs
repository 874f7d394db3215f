//! Processes: start, exit reason, identity and process information.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::{DropCounter, PanicsWhenDropped, ends, here, node, outside, stop, until};
use crate::waiting::{rest, simulated};
use purlin::{ExitReason, LookupError, Node, Panic, Pid, Process, ProcessState, spawn, yield_now};
use tokio::sync::oneshot;

async fn panic_of<M: Send + 'static>(pid: &Pid<M>) -> Arc<Panic> {
    match pid.ended().await {
        ExitReason::Panic(panic) => panic,
        other => panic!("ended otherwise: {other}"),
    }
}

// P1: the child has no turn before the parent awaits; then both run. A simulation, because `sysmon`
// on a node with threads may start a second thread while the parent runs.
#[test]
fn spawn_returns_immediately_and_both_processes_run() {
    simulated(async |mut me: Process<&'static str>| {
        let parent = me.pid();
        let child = spawn(async move |mut me: Process<&'static str>| {
            parent.send("child runs");
            assert_eq!(me.receive().await, "parent runs");
        });
        assert_eq!(me.try_receive(), None);
        child.send("parent runs");
        assert_eq!(me.receive().await, "child runs");
        assert_eq!(child.ended().await, ExitReason::Normal);
    });
}

// P1: on a node with several workers
#[test]
fn a_process_spawned_from_a_plain_thread_runs() {
    let node = node(4);
    assert_eq!(node.block_on(async |_: Process<()>| 6 * 7), 42);
    stop(&node);
}

// P2: exit reasons of functions that return
#[purlin::test]
async fn the_exit_reason_is_the_result_of_the_function() {
    assert_eq!(spawn(async |_: Process<()>| {}).ended().await, ExitReason::Normal);
    let child = spawn(async |_: Process<()>| ExitReason::Shutdown);
    assert_eq!(child.ended().await, ExitReason::Shutdown);
    let failed = spawn(async |_: Process<()>| {
        let n: i32 = "four".parse()?;
        println!("never printed: {n}");
        Ok::<(), std::num::ParseIntError>(())
    });
    let reason = failed.ended().await;
    assert_eq!(reason, ExitReason::error("invalid digit found in string"));
    assert!(!reason.is_orderly());
    assert_eq!(failed.exit_reason(), Some(reason));
    assert!(!failed.is_alive());
}

// P2: the reason of a panic carries its message and location
#[purlin::test]
async fn the_reason_of_a_panic_has_its_message_and_location() {
    async fn late(_me: Process<()>) {
        yield_now().await;
        let line = line!() + 1;
        panic!("late, on {line}");
    }
    async fn soon(_me: Process<()>) {
        let line = line!() + 1;
        panic!("soon, on {line}");
    }
    fn at_once(_me: Process<()>) -> std::future::Ready<()> {
        let line = line!() + 1;
        panic!("at once, on {line}");
    }
    for panic in [
        panic_of(&spawn(late)).await,
        panic_of(&spawn(soon)).await,
        panic_of(&spawn(at_once)).await,
    ] {
        let (_, line) = panic.message.split_once(", on ").expect("the message is there");
        let place = format!("{}:{line}:", file!());
        let column = panic.place.strip_prefix(&place).expect("the place is there");
        assert!(column.parse::<u32>().is_ok(), "{panic}");
    }
}

// P2: a panic may have any payload
#[purlin::test]
async fn a_panic_with_any_payload_is_a_reason() {
    let text = spawn(async |_: Process<()>| std::panic::panic_any("a &str"));
    assert_eq!(panic_of(&text).await.message, "a &str");
    let string = spawn(async |_: Process<()>| std::panic::panic_any(String::from("a String")));
    assert_eq!(panic_of(&string).await.message, "a String");
    let number = spawn(async |_: Process<()>| std::panic::panic_any(42));
    let panic = panic_of(&number).await;
    assert_eq!(panic.message, "");
    assert!(panic.to_string().ends_with(": no message"), "{panic}");
    let trap = spawn(async |_: Process<()>| {
        std::panic::panic_any(PanicsWhenDropped("the payload's own"));
    });
    assert_eq!(panic_of(&trap).await.message, "");
    let quiet = spawn(async |_: Process<()>| std::panic::resume_unwind(Box::new("no hook")));
    assert_eq!(panic_of(&quiet).await.message, "no hook");
}

// P2: the location is that of the panic that ended the process, not of an earlier one on its thread
#[purlin::test(workers = 1)]
async fn the_location_is_never_that_of_another_panic() {
    let careful = spawn(async |_: Process<()>| {
        assert!(std::panic::catch_unwind(|| panic!("caught by its owner")).is_err());
    });
    assert_eq!(careful.ended().await, ExitReason::Normal);
    let placeless = spawn(async |_: Process<()>| std::panic::resume_unwind(Box::new("again")));
    assert_eq!(panic_of(&placeless).await.place, "");
}

// P2: a panic in a destructor
#[purlin::test]
async fn a_panicking_destructor_is_the_reason_unless_there_is_an_earlier_panic() {
    let dropped = spawn(async |_: Process<()>| {
        let _trap = PanicsWhenDropped("in a destructor");
    });
    assert_eq!(panic_of(&dropped).await.message, "in a destructor");
    let captured = PanicsWhenDropped("in a captured value");
    let dropped = spawn(async move |_: Process<()>| {
        let _captured = &captured;
    });
    assert_eq!(panic_of(&dropped).await.message, "in a captured value");
    let failed = spawn(async |_: Process<()>| {
        let _trap = PanicsWhenDropped("second");
        panic!("first");
    });
    assert_eq!(panic_of(&failed).await.message, "first");
}

// P2: after an exit signal the reason is set before the destructors run
#[test]
fn a_panicking_destructor_at_node_stop_does_not_change_the_reason() {
    let node = node(2);
    let pid = node.spawn(async |mut me: Process<()>| {
        let _trap = PanicsWhenDropped("while it is stopped");
        me.receive().await
    });
    node.block_on(async |_: Process<()>| yield_now().await);
    stop(&node);
    assert_eq!(pid.exit_reason(), Some(ExitReason::Shutdown));
}

// P2: values owned by the function are dropped before the end is reported
#[purlin::test]
async fn values_of_a_process_are_dropped_before_its_end_is_reported() {
    let drop_counter = DropCounter::default();
    for _ in 0..100 {
        let token = drop_counter.token();
        let pid = spawn(async move |_: Process<()>| {
            let _token = token;
            yield_now().await;
        });
        pid.ended().await;
        assert_eq!(drop_counter.dropped(), drop_counter.born());
    }
}

// P3: a child outlives its parent, whatever the parent's exit reason
#[purlin::test]
async fn the_end_of_the_parent_does_not_end_the_child() {
    let (tx, rx) = oneshot::channel();
    let parent = spawn(async move |_: Process<()>| {
        let child = spawn(async |mut me: Process<oneshot::Sender<u32>>| {
            let answer = me.receive().await;
            answer.send(7).expect("the caller waits");
        });
        assert!(tx.send(child).is_ok());
        std::panic::resume_unwind(Box::new("the parent's end"));
    });
    let child = rx.await.expect("the parent sends it");
    assert_eq!(panic_of(&parent).await.message, "the parent's end");
    let (answer, answered) = oneshot::channel();
    child.send(answer);
    assert_eq!(answered.await, Ok(7));
}

// P4: 20 000 processes in 20 rounds of 1 000
#[purlin::test]
async fn process_ids_are_unique_and_a_stale_id_finds_no_process() {
    let node = here();
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let pids: Vec<_> = (0..1000).map(|_| spawn(async |_: Process<()>| {})).collect();
        for pid in pids {
            assert!(ids.insert(pid.id()), "{pid} is there twice");
            assert_eq!(pid.ended().await, ExitReason::Normal);
        }
    }
    assert_eq!(ids.len(), 20_000);
    let live: Vec<_> = (0..1000)
        .map(|_| {
            spawn(async |mut me: Process<()>| {
                while me.mailbox_len() == 0 {
                    me.receive().await
                }
            })
        })
        .collect();
    for id in ids {
        assert!(node.process_info(id).is_none(), "{id} was found again");
        assert_eq!(node.pid::<()>(id).err(), Some(LookupError::NoProcess(id)));
    }
    for pid in &live {
        assert_eq!(node.pid::<()>(pid.id()).as_ref(), Ok(pid));
    }
}

// P4: ids of one node do not match processes of another
#[test]
fn the_ids_of_two_nodes_differ_and_their_processes_can_communicate() {
    let (left, right) = (node(1), node(1));
    let answerer = |mut me: Process<oneshot::Sender<&'static str>>| async move {
        me.receive().await.send("hello").expect("the caller waits");
    };
    let (a, b) = (left.spawn(answerer), right.spawn(answerer));
    assert_eq!((a.id().id(), a.id().serial()), (b.id().id(), b.id().serial()));
    assert_ne!(a.id(), b.id());
    assert_ne!(a.id().creation(), b.id().creation());
    assert_ne!(a, b);
    assert!(left.process_info(b.id()).is_none());
    let found = left.pid::<oneshot::Sender<&str>>(b.id());
    assert_eq!(found.err(), Some(LookupError::NoProcess(b.id())));
    let heard = left.block_on(async move |_: Process<()>| {
        let (answer, answered) = oneshot::channel();
        b.send(answer);
        answered.await
    });
    assert_eq!(heard, Ok("hello"));
    stop(&left);
    stop(&right);
    assert!(!a.is_alive());
}

// P4: an id can be converted to a pid only with the right message type
#[purlin::test]
async fn a_look_up_with_the_wrong_type_names_both_types() {
    let pid = spawn(async |mut me: Process<Vec<u8>>| drop(me.receive().await));
    let error = here().pid::<String>(pid.id()).expect_err("it receives bytes");
    assert!(matches!(error, LookupError::OtherType { id, .. } if id == pid.id()));
    let said = error.to_string();
    assert!(
        said.contains("alloc::vec::Vec<u8>") && said.contains("alloc::string::String"),
        "{said}"
    );
    assert_eq!(here().pid::<Vec<u8>>(pid.id()), Ok(pid.clone()));
    pid.send(Vec::new());
    pid.ended().await;
    let stale = here().pid::<Vec<u8>>(pid.id()).expect_err("it has ended");
    assert_eq!(stale.to_string(), format!("noproc: no process {} lives on this node", pid.id()));
}

// P4, E2: also failed spawns have unique ids
#[purlin::test]
async fn failed_spawns_have_unique_ids() {
    let small = Node::builder().workers(1).max_processes(1).build().expect("a node starts");
    let (_hold, held) = oneshot::channel::<()>();
    small.spawn(async move |_: Process<()>| drop(held.await));
    let never = async |_: Process<()>| {};
    let (a, b) = (small.spawn(never), small.spawn(never));
    assert_eq!(a.exit_reason(), Some(ExitReason::SystemLimit));
    assert_ne!(a, b);
    assert_ne!(a.id(), b.id());
    small.stop().await;
}

// P4: as Erlang prints a local pid. A simulation, because each thread reuses the slots that it frees.
#[test]
fn an_id_is_printed_as_erlang_prints_a_pid() {
    simulated(async |me: Process<()>| {
        assert_eq!(me.id().to_string(), "<0.0.0>");
        let second = spawn(async |_: Process<()>| {});
        assert_eq!(second.to_string(), "<0.1.0>");
        assert_eq!(format!("{second:?}"), "Pid(<0.1.0>)");
        second.ended().await;
        let third = spawn(async |_: Process<()>| {});
        assert_eq!(format!("{:?}", third.id()), "<0.1.1>");
        assert_eq!((third.id().id(), third.id().serial()), (1, 1));
    });
}

// P5: process states. A simulation, because on a node with threads another one may run the process
// during a long turn of this one.
#[test]
fn the_state_of_a_process_can_be_queried() {
    simulated(async |_: Process<()>| {
        let (wake, waits) = oneshot::channel::<()>();
        let pid = spawn(async |mut me: Process<u8>| {
            me.receive().await;
            waits.await
        });
        assert_eq!(pid.info().state, ProcessState::Runnable);
        rest().await;
        assert_eq!(pid.info().state, ProcessState::Receiving);
        pid.send(1);
        assert_eq!(pid.info().state, ProcessState::Runnable);
        rest().await;
        assert_eq!(pid.info().state, ProcessState::Waiting);
        pid.send(2);
        pid.send(3);
        rest().await;
        let info = pid.info();
        assert_eq!(info.state, ProcessState::Waiting, "messages do not wake it");
        assert_eq!((info.mailbox_len, info.messages_in), (2, 1));
        wake.send(()).expect("it waits");
        pid.ended().await;
        let info = pid.info();
        assert_eq!((info.state, info.mailbox_len), (ProcessState::Ended, 0));
    });
}

// P5: function, types and counters of a process. A simulation, for the same reason.
#[test]
fn process_info_has_the_function_and_the_counters() {
    async fn listener(mut me: Process<String>) {
        loop {
            me.receive().await;
        }
    }
    simulated(async |me: Process<u16>| {
        let pid = spawn(listener);
        rest().await;
        let before = here().process_info(pid.id()).expect("it lives");
        assert_eq!(before.id, pid.id());
        assert!(before.function.ends_with("listener"), "{}", before.function);
        assert_eq!(before.message_type, "alloc::string::String");
        assert_eq!(before.parent, Some(me.id()));
        assert!(before.memory > size_of::<usize>() && before.memory < 1024, "{}", before.memory);
        let sent = me.pid().info().messages_out;
        (0..100).for_each(|n| pid.send(n.to_string()));
        assert_eq!(pid.info().mailbox_len, 100);
        assert!(pid.info().memory >= before.memory + 100 * size_of::<String>());
        rest().await;
        let after = pid.info();
        assert_eq!(after.state, ProcessState::Receiving);
        assert_eq!((after.mailbox_len, after.messages_in), (0, 100));
        assert!(after.reductions >= before.reductions + 100, "{before:?} then {after:?}");
        let own = here().process_info(me.id()).expect("it lives");
        // The message that the timer of `rest` sends counts too.
        assert_eq!((own.messages_out - sent, own.parent), (101, None));
        // The 100 sends above were in an earlier turn.
        assert!(me.pid().info().reductions >= 100);
    });
}

// P5: all processes
#[purlin::test]
async fn exactly_the_live_processes_are_listed(me: Process<()>) {
    let live: Vec<_> =
        (0..2000).map(|_| spawn(async |mut me: Process<()>| me.receive().await)).collect();
    let dead: Vec<_> = (0..2000).map(|_| spawn(async |_: Process<()>| {})).collect();
    for pid in &dead {
        pid.ended().await;
    }
    let listed: HashSet<_> = here().processes().into_iter().map(|info| info.id).collect();
    let expected = live.iter().map(Pid::id).chain([me.id()]).collect();
    assert_eq!(listed, expected);
}

// P5: listing and running processes do not disturb each other
#[test]
fn processes_can_be_listed_while_others_come_and_go() {
    const LOOKS: usize = 100;
    let node = node(4);
    let (go_on, children) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let churn: Vec<_> = (0..8)
        .map(|_| {
            let (go_on, children) = (Arc::clone(&go_on), Arc::clone(&children));
            node.spawn(async move |_: Process<()>| {
                while go_on.load(Ordering::Relaxed) {
                    let child = spawn(async |_: Process<()>| yield_now().await);
                    assert_eq!(child.ended().await, ExitReason::Normal);
                    children.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for _ in 0..LOOKS {
        let before = children.load(Ordering::Relaxed);
        let infos = node.processes();
        let listed: HashSet<_> = infos.iter().map(|info| info.id).collect();
        assert_eq!(listed.len(), infos.len(), "a process is listed twice: {infos:?}");
        assert!(churn.iter().all(|pid| listed.contains(&pid.id())), "one that lives is missing");
        for info in infos {
            assert!(info.function.contains("come_and_go"), "{info:?}");
        }
        until("children come and go between two looks", || {
            children.load(Ordering::Relaxed) > before
        });
    }
    go_on.store(false, Ordering::Relaxed);
    for pid in churn {
        assert_eq!(ends(&pid), ExitReason::Normal);
    }
    stop(&node);
    assert_eq!(node.processes().len(), 0);
}

// P2: the end is reported to every waiter, on any thread, any number of times
#[test]
fn the_end_is_reported_to_processes_tasks_and_late_waiters() {
    let node = node(2);
    let (finish, finished) = oneshot::channel::<()>();
    let pid = node.spawn(async move |_: Process<()>| finished.await.map_err(|_| "never told"));
    let asker = pid.clone();
    let in_process = node.spawn(async move |_: Process<()>| asker.ended().await);
    outside(async {
        let asker = pid.clone();
        let in_task = tokio::spawn(async move { asker.ended().await });
        let also = pid.clone();
        let given_up = tokio::time::timeout(std::time::Duration::ZERO, also.ended()).await;
        assert!(given_up.is_err());
        finish.send(()).expect("it waits");
        assert_eq!(in_task.await.ok(), Some(ExitReason::Normal));
        assert_eq!(in_process.ended().await, ExitReason::Normal);
        assert_eq!(pid.ended().await, ExitReason::Normal);
    });
    stop(&node);
}

// E2: when the end is reported, the process is no longer in the table, so its slot is free
#[test]
fn a_process_is_not_in_the_table_when_its_end_is_reported() {
    use std::sync::Mutex;
    use std::task::{Context, Wake, Waker};

    struct Looks(Node, purlin::ProcessId, Mutex<Option<bool>>);
    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            let found = self.0.process_info(self.1).is_some();
            self.2.lock().expect("the lock is not poisoned").replace(found);
        }
    }
    let node = node(1);
    let (finish, finished) = oneshot::channel::<()>();
    let pid = node.spawn(async move |_: Process<()>| drop(finished.await));
    let looks = Arc::new(Looks(node.clone(), pid.id(), Mutex::new(None)));
    let waker = Waker::from(looks.clone());
    let mut ended = Box::pin(pid.ended());
    assert!(ended.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    finish.send(()).expect("it waits");
    until("the waker is woken", || looks.2.lock().expect("the lock is not poisoned").is_some());
    assert_eq!(*looks.2.lock().expect("the lock is not poisoned"), Some(false));
    stop(&node);
}

// P2: code that catches the unwinding of `exit` does not keep the process alive
#[purlin::test]
async fn exit_ends_a_process_that_catches_its_unwinding() {
    fn caught_exit() {
        let call = || purlin::exit(ExitReason::error("enough"));
        assert!(std::panic::catch_unwind(call).is_err());
    }
    let returns = spawn(async |_: Process<()>| caught_exit());
    let awaits = spawn(async |_: Process<()>| {
        caught_exit();
        std::future::pending::<()>().await;
    });
    let panics = spawn(async |_: Process<()>| {
        caught_exit();
        panic!("after the exit");
    });
    let receives = spawn(async |mut me: Process<()>| {
        me.pid().send(());
        caught_exit();
        assert_eq!(me.try_receive(), None);
        me.receive().await;
        unreachable!("a process that is about to end receives nothing");
    });
    for pid in [returns, awaits, panics, receives] {
        assert_eq!(pid.ended().await, ExitReason::error("enough"));
    }
}

// P2: of several calls of `exit` the first counts
#[purlin::test]
async fn the_first_of_several_exits_is_the_exit_reason() {
    let pid = spawn(async |_: Process<()>| {
        let first = || purlin::exit(ExitReason::error("first"));
        assert!(std::panic::catch_unwind(first).is_err());
        purlin::exit(ExitReason::error("second"))
    });
    assert_eq!(pid.ended().await, ExitReason::error("first"));
}
