//! Shutdown and limits: stopping nodes, the process limit, and handles that outlive processes and
//! nodes.

use crate::common;
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::common::{
    Barbed, DropCounter, HANG, PanicsWhenDropped, Token, ends, node, outside, stop,
};
use purlin::{
    BuildError, CallError, ExitReason, Node, Pid, Process, ProcessState, Reply, SpawnError,
    SpawnOptions, spawn, yield_now,
};
use purlin_testkit::Simulation;
use tokio::sync::oneshot;

async fn idle(mut me: Process<()>) {
    loop {
        me.receive().await;
    }
}

// E1: every process receives `shutdown`: receiving, awaiting a future, running or not yet started
#[test]
fn stopping_a_node_ends_every_process() {
    let node = node(2);
    let drop_counter = DropCounter::default();
    let mut pids = Vec::new();
    for n in 0..1000 {
        let token = drop_counter.token();
        pids.push(node.spawn(async move |mut me: Process<()>| {
            let _token = token;
            match n % 4 {
                0 => me.receive().await,
                1 => std::future::pending().await,
                2 => tokio::time::timeout(Duration::from_secs(3600), me.receive()).await.unwrap(),
                _ => loop {
                    yield_now().await;
                },
            }
        }));
    }
    stop(&node);
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (1000, 1000));
    for pid in pids {
        assert_eq!(pid.exit_reason(), Some(ExitReason::Shutdown));
    }
    assert!(node.processes().is_empty());
}

// E1: queued messages are dropped
#[test]
fn stopping_a_node_drops_queued_messages() {
    let node = node(2);
    let drop_counter = DropCounter::default();
    let pids: Vec<_> = (0..10)
        .map(|_| node.spawn(async |_: Process<Token>| std::future::pending::<()>().await))
        .collect();
    for pid in &pids {
        (0..100).for_each(|_| pid.send(drop_counter.token()));
    }
    stop(&node);
    assert_eq!((drop_counter.born(), drop_counter.dropped()), (1000, 1000));
    assert_eq!(node.dropped_messages(), 1000);
}

// E1: a process that stops its own node ends with it
#[test]
fn a_process_can_stop_its_own_node() {
    let node = node(2);
    let others: Vec<_> = (0..10).map(|_| node.spawn(idle)).collect();
    let inside = node.clone();
    let pid = node.spawn(async move |_: Process<()>| {
        inside.stop().await;
        std::future::pending::<()>().await
    });
    assert_eq!(ends(&pid), ExitReason::Shutdown);
    for other in others {
        assert_eq!(ends(&other), ExitReason::Shutdown);
    }
}

// E1: a stop from a task of another runtime
#[test]
fn a_task_can_stop_a_node_and_wait_for_it() {
    let node = node(2);
    let pid = node.spawn(idle);
    let report = outside(node.stop());
    assert!(report.hogs.is_empty());
    assert_eq!(pid.exit_reason(), Some(ExitReason::Shutdown));
}

// E1: repeated and concurrent stops each return when the node has stopped
#[test]
fn a_node_can_be_stopped_more_than_once() {
    let node = node(2);
    let pids: Vec<_> = (0..1000).map(|_| node.spawn(idle)).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                stop(&node);
                for pid in &pids {
                    assert_eq!(pid.exit_reason(), Some(ExitReason::Shutdown));
                }
            });
        }
    });
    stop(&node);
    assert!(outside(node.stop()).hogs.is_empty());
}

// E1: dropping the last handle stops the node
#[test]
fn dropping_the_last_handle_stops_the_node() {
    let node = node(2);
    let second = node.clone();
    let pid = node.spawn(idle);
    drop(node);
    assert!(pid.is_alive());
    drop(second);
    assert_eq!(ends(&pid), ExitReason::Shutdown);
}

// E1: the last handle may be dropped by a process of the same node
#[test]
fn a_process_can_drop_the_last_handle_of_its_own_node() {
    let node = node(1);
    let (give, given) = oneshot::channel::<Node>();
    let pid = node.spawn(async move |_: Process<()>| {
        drop(given.await);
        std::future::pending::<()>().await
    });
    assert!(give.send(node).is_ok());
    assert_eq!(ends(&pid), ExitReason::Shutdown);
}

// E1, E2: a stopped node rejects every spawn and returns the function
#[test]
fn a_node_that_has_stopped_spawns_nothing() {
    let node = node(1);
    stop(&node);
    let drop_counter = DropCounter::default();
    let token = drop_counter.token();
    let refused = SpawnOptions::new().spawn_on(&node, async move |_: Process<Token>| drop(token));
    let error = refused.expect_err("it has stopped");
    assert_eq!(error.to_string(), "the node is stopping");
    assert!(matches!(error, SpawnError::Stopping(_)));
    assert_eq!(drop_counter.dropped(), 0);
    drop(error);
    assert_eq!(drop_counter.dropped(), 1);
    let pid = node.spawn(async |_: Process<Token>| {});
    assert_eq!(pid.exit_reason(), Some(ExitReason::SystemLimit));
    assert_eq!(ends(&pid), ExitReason::SystemLimit);
    assert!(pid.try_send(drop_counter.token()).is_err());
}

// E1: a destructor that runs while the node stops may call spawn and send, without effect
#[test]
fn destructors_may_spawn_while_the_node_stops() {
    struct Spawns(mpsc::Sender<Option<ExitReason>>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            assert!(SpawnOptions::new().spawn(idle).is_err());
            let _ = self.0.send(spawn(idle).exit_reason());
        }
    }
    let node = node(1);
    let (tx, rx) = mpsc::channel();
    node.spawn(async move |_: Process<()>| {
        let _spawns = Spawns(tx);
        std::future::pending::<()>().await
    });
    node.block_on(async |_: Process<()>| yield_now().await);
    stop(&node);
    assert_eq!(rx.try_recv(), Ok(Some(ExitReason::SystemLimit)));
}

// E1: threads spawn while the node stops: each process is rejected or ends, and none delays the
// stop
#[test]
fn a_process_spawned_while_its_node_stops_is_refused_or_ends() {
    for round in 0..100 {
        let node = node(2);
        let go = Barrier::new(3);
        std::thread::scope(|scope| {
            let spawners: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        let mut pids = Vec::new();
                        go.wait();
                        while let Ok(pid) = SpawnOptions::new().spawn_on(&node, idle) {
                            pids.push(pid);
                        }
                        pids
                    })
                })
                .collect();
            go.wait();
            stop(&node);
            for spawner in spawners {
                for pid in spawner.join().expect("it spawns") {
                    // A process that missed the exit signal would be killed after the grace period.
                    assert_eq!(ends(&pid), ExitReason::Shutdown, "round {round}");
                }
            }
        });
    }
}

// E1: the same from inside: every process spawns others as fast as it can
#[test]
fn processes_that_spawn_while_their_node_stops_all_end() {
    async fn breeder(_me: Process<()>, pids: Arc<Mutex<Vec<Pid<()>>>>) {
        loop {
            match SpawnOptions::new().spawn(idle) {
                Ok(pid) => pids.lock().expect("no holder panics").push(pid),
                Err(_) => std::future::pending::<()>().await,
            }
            yield_now().await;
        }
    }
    for round in 0..20 {
        let node = node(2);
        let pids = Arc::<Mutex<Vec<Pid<()>>>>::default();
        for _ in 0..4 {
            let bred = Arc::clone(&pids);
            let breeder = node.spawn(move |me| breeder(me, bred));
            pids.lock().expect("no holder panics").push(breeder);
        }
        node.block_on(async |_: Process<()>| {
            for _ in 0..20 {
                yield_now().await;
            }
        });
        stop(&node);
        assert!(node.processes().is_empty());
        for pid in &*pids.lock().expect("no holder panics") {
            // A process that missed the exit signal would be killed after the grace period.
            assert_eq!(pid.exit_reason(), Some(ExitReason::Shutdown), "round {round}");
        }
    }
}

// E2: exactly `max_processes` fit; the error for one more returns the function
#[test]
fn a_node_holds_exactly_max_processes_processes() {
    for limit in [1, 50, 1024, 1025, 5000] {
        let node = Node::builder().workers(2).max_processes(limit).build().expect("a node starts");
        let spawned = (0..limit).map(|_| SpawnOptions::new().spawn_on(&node, idle));
        let pids: Vec<_> = spawned.map(|pid| pid.expect("room")).collect();
        let drop_counter = DropCounter::default();
        let token = drop_counter.token();
        let refused = async move |_: Process<()>| drop(token);
        let error = SpawnOptions::new().spawn_on(&node, refused).expect_err("it is full");
        assert!(matches!(error, SpawnError::SystemLimit(_)), "{error:?}");
        assert!(error.to_string().starts_with("system_limit: "), "{error}");
        assert_eq!(drop_counter.dropped(), 0);
        drop(error.into_inner());
        assert_eq!(drop_counter.dropped(), 1);
        assert_eq!(node.spawn(idle).exit_reason(), Some(ExitReason::SystemLimit));
        assert_eq!(node.processes().len(), pids.len());
        stop(&node);
    }
}

// E2: when a process has ended, another one fits
#[test]
fn a_slot_is_free_as_soon_as_the_end_is_reported() {
    let node = Node::builder().workers(2).max_processes(10).build().expect("a node starts");
    let one = async |mut me: Process<()>| me.receive().await;
    let spawned = (0..10).map(|_| SpawnOptions::new().spawn_on(&node, one));
    let mut pids: Vec<_> = spawned.map(|pid| pid.expect("room")).collect();
    outside(async {
        for _ in 0..2000 {
            let error = SpawnOptions::new().spawn_on(&node, one).expect_err("it is full");
            let pid = pids.remove(0);
            pid.send(());
            assert_eq!(pid.ended().await, ExitReason::Normal);
            let again = SpawnOptions::new().spawn_on(&node, error.into_inner());
            pids.push(again.expect("room again"));
        }
    });
    stop(&node);
}

// E2: invalid settings are errors
#[test]
fn invalid_settings_are_errors() {
    let builder = Node::builder;
    assert!(matches!(builder().workers(0).build(), Err(BuildError::Workers(0))));
    for n in [0, 1025] {
        assert!(matches!(builder().io_threads(n).build(), Err(BuildError::IoThreads(m)) if m == n));
    }
    assert!(matches!(builder().workers(5000).build(), Err(BuildError::Workers(5000))));
    assert!(matches!(builder().max_processes(0).build(), Err(BuildError::MaxProcesses(0))));
    let error = builder().name("two words").build().expect_err("that is no name");
    assert!(error.to_string().starts_with("\"two words\" cannot be a node's name"), "{error}");
}

// E1: pids outlive the node
#[test]
fn pids_stay_valid_after_the_node_is_dropped() {
    let node = node(2);
    let pid = node.spawn(async |mut me: Process<Reply<u8>>| me.receive().await.send(1));
    let id = pid.id();
    stop(&node);
    drop(node);
    assert!(!pid.is_alive());
    assert_eq!(pid.info().state, ProcessState::Ended);
    assert_eq!((pid.id(), pid.mailbox_len(), pid.clone()), (id, 0, pid.clone()));
    let answer = pid.call_blocking(|reply| reply, HANG);
    assert_eq!(answer, Err(CallError::NoProcess));
    let (tx, rx) = oneshot::channel();
    let other = common::node(1);
    other.block_on(async move |_: Process<()>| {
        assert_eq!(pid.ended().await, ExitReason::Shutdown);
        drop(tx.send(pid));
    });
    stop(&other);
    outside(rx).expect("it came back");
}

// E1: wakers and process handles outlive the node
#[test]
fn wakers_and_process_handles_stay_valid_after_the_node_is_dropped() {
    let node = node(1);
    let (tx, rx) = mpsc::channel();
    let pid = node.spawn(async move |me: Process<u8>| {
        let mut me = Some(me);
        std::future::poll_fn(|cx| {
            if let Some(me) = me.take() {
                tx.send((cx.waker().clone(), me)).expect("the test waits");
            }
            Poll::<()>::Pending
        })
        .await
    });
    let (waker, handle) = rx.recv().expect("it sends");
    waker.wake_by_ref();
    stop(&node);
    drop(node);
    waker.wake_by_ref();
    let another = waker.clone();
    drop(waker);
    another.wake();
    assert_eq!(handle.pid(), pid);
    drop(pid);
    assert_eq!(handle.mailbox_len(), 0);
    assert!(!handle.pid().is_alive());
}

/// A waker that panics without calling the panic hook.
struct Panics;

impl std::task::Wake for Panics {
    fn wake(self: Arc<Self>) {
        std::panic::resume_unwind(Box::new("in a waker"));
    }
}

fn panics() -> Waker {
    Waker::from(Arc::new(Panics))
}

// E1: a panic in a waker that is called for an exit does not affect the node
#[test]
fn a_panicking_waker_does_not_end_the_worker() {
    let node = node(1);
    let (finish, finished) = oneshot::channel::<()>();
    let pid = node.spawn(async move |_: Process<()>| drop(finished.await));
    let mut ended = Box::pin(pid.ended());
    assert!(ended.as_mut().poll(&mut Context::from_waker(&panics())).is_pending());
    finish.send(()).expect("it waits");
    assert_eq!(ends(&pid), ExitReason::Normal);
    let after = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&after), ExitReason::Normal);
    stop(&node);
}

// P2: an exit reason is dropped with the last pid of its process, on any thread, and its destructor
// may panic.
// WHY simulated: everything runs on this thread, so a panic that is not caught fails the test.
#[test]
fn a_panic_while_dropping_an_exit_reason_is_contained() {
    let mut simulation = Simulation::new(0);
    let barbed = async |_: Process<()>| ExitReason::error(Barbed(PanicsWhenDropped("a barb")));
    drop(simulation.node().spawn(barbed));
    simulation.run(async move |_: Process<()>| {
        let pid = spawn(barbed);
        assert_eq!(pid.ended().await.to_string(), "a barb");
    });
    let pid = simulation.node().spawn(barbed);
    simulation.advance(Duration::ZERO);
    assert!(!pid.is_alive());
    drop(pid);
    assert!(simulation.stop().hogs.is_empty());
}

// P2: the same for the reason of an `exit` after an earlier one, which has no effect
#[test]
fn a_panic_while_dropping_the_reason_of_a_later_exit_is_contained() {
    let reason = Simulation::new(0).run(async |_: Process<()>| {
        let pid = spawn(async |_: Process<()>| {
            let first = || -> () { purlin::exit(ExitReason::error("the first")) };
            assert!(std::panic::catch_unwind(first).is_err());
            purlin::exit(ExitReason::error(Barbed(PanicsWhenDropped("a barb"))));
        });
        pid.ended().await
    });
    assert_eq!(reason.to_string(), "the first");
}

// C1: a panic in a caller's waker does not affect the called process
#[test]
fn a_panicking_waker_of_a_caller_does_not_end_the_called_process() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime starts");
    let _timers = runtime.enter();
    let node = node(1);
    let (go, wait) = mpsc::channel::<()>();
    let (tx, rx) = mpsc::channel();
    let pid = node.spawn(async move |mut me: Process<Reply<u8>>| {
        drop(me.receive().await);
        tx.send(()).expect("the test waits");
        wait.recv().expect("the sender lives");
        me.receive().await.send(1);
    });
    let mut call = Box::pin(pid.call(|reply| reply));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    rx.recv().expect("it has thrown the reply away");
    assert!(call.as_mut().poll(&mut Context::from_waker(&panics())).is_pending());
    go.send(()).expect("it waits");
    assert_eq!(pid.call_blocking(|reply| reply, HANG), Ok(1));
    drop(call);
    stop(&node);
}

// E1: many nodes in sequence
#[test]
fn many_nodes_can_start_and_stop_in_sequence() {
    for _ in 0..50 {
        let node = node(2);
        let pid = node.spawn(idle);
        assert_eq!(node.block_on(async |_: Process<()>| 1), 1);
        stop(&node);
        assert!(!pid.is_alive());
    }
}
