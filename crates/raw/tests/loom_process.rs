//! Models of whole processes: reference counting, the end, the right to run passed between threads,
//! and the end of a node core.
//!
//! Run with `scripts/test-loom.sh`. All items are used as the layers above use them. Shared state,
//! messages and node state are cells whose accesses loom checks, and count their drops.
#![cfg(loom)]

mod queue;

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use purlin_raw::model::model;
use purlin_raw::{
    Address, Body, Code, End, Host, InTurn, NodeCore, Owner, Runnable, RuntimeTypes, SendMode,
    TurnOutcome,
};
use queue::Queue;

/// Number of drops. Not loom's atomic, so that it orders nothing.
type Drops = std::sync::Arc<AtomicUsize>;

/// Cell that is read by holders and written when it is dropped.
struct Checked {
    content: UnsafeCell<u32>,
    drops: Drops,
}

// SAFETY: written only when it is dropped; loom checks the accesses.
unsafe impl Sync for Checked {}
// SAFETY: as above.
unsafe impl Send for Checked {}

impl Checked {
    fn new(drops: &Drops) -> Self {
        Self { content: UnsafeCell::new(7), drops: Drops::clone(drops) }
    }

    fn read(&self) -> u32 {
        // SAFETY: loom checks the access.
        self.content.with(|content| unsafe { *content })
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        // SAFETY: loom checks the access.
        self.content.with_mut(|content| unsafe { *content = 0 });
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

fn drops(of: &Drops) -> usize {
    of.load(Ordering::Relaxed)
}

struct Ground;

impl RuntimeTypes for Ground {
    type Signal = ();
    type Local = ();
    type Shared = Checked;
    type ExitStatus = u32;
    type NodeState = Checked;

    fn has_state(&(): &()) -> bool {
        false
    }

    fn closed(_: &Checked, _: &End<'_, Self>, &mut (): &mut ()) {}

    fn undelivered(_: &Checked, &mut (): &mut (), (): ()) {}
}

impl Queue {
    /// Runs queued processes as a worker does, which flushes its deferred references afterwards.
    fn run_as_worker_of(&self, node_core: &NodeCore<Ground>) {
        node_core.enter(|| self.run());
    }
}

/// Calls `f`, as a worker or as any other thread.
fn run_as<R>(worker: bool, node_core: &NodeCore<Ground>, f: impl FnOnce() -> R) -> R {
    if worker { node_core.enter(f) } else { f() }
}

fn node_core(node_state: &Drops) -> (NodeCore<Ground>, Queue) {
    let queue = Queue::new();
    (NodeCore::new(Box::new(queue.clone()), Checked::new(node_state), 2, 1), queue)
}

/// Process that drops its own handle in its first turn, is woken between turns and ends with 9 in
/// turn number `turns`.
struct Counter {
    me: Option<Owner<Ground, Checked>>,
    turns: u32,
    waker: Option<Arc<Mutex<Option<Waker>>>>,
}

impl Body<Ground, Checked> for Counter {
    type Bound = ();
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        _: InTurn<'_, Ground, Checked>,
        cx: &mut Context<'_>,
    ) -> Poll<u32> {
        let this = code.start().expect("no turn takes it");
        (this.me, this.turns) = (None, this.turns - 1);
        if let Some(waker) = this.waker.as_ref().filter(|_| this.turns > 0) {
            *waker.lock().unwrap() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(9)
    }

    fn name() -> &'static str {
        "counter"
    }
}

fn spawn(
    node_core: &NodeCore<Ground>,
    shared: &Drops,
    turns: u32,
) -> (Address<Ground, Checked>, Arc<Mutex<Option<Waker>>>) {
    let waker = Arc::new(Mutex::new(None));
    let make = |waker, me| Counter { me: Some(me), turns, waker: Some(waker) };
    let spawned = node_core.spawn(Checked::new(shared), (), (), Arc::clone(&waker), make);
    (spawned.expect("there is a slot"), waker)
}

/// Reads through an address, clones it often enough to gather and use up deferred references, and
/// drops all clones; as a worker or as any other thread.
fn use_up(node_core: &NodeCore<Ground>, address: Address<Ground, Checked>, worker: bool) {
    run_as(worker, node_core, || {
        drop(address.clone());
        let copies = [address.clone(), address.clone()];
        assert_eq!(address.shared().read(), 7);
        drop(address);
        drop(copies);
    });
}

#[test]
fn last_of_two_threads_to_release_a_reference_frees_the_cell_once() {
    for workers in [[true, true], [true, false], [false, false]] {
        model(move || {
            let (shared, node_state) = (Drops::default(), Drops::default());
            let (node_core, _) = node_core(&node_state);
            let address = node_core.spawn_ended(0, Checked::new(&shared), 9);
            let other = {
                let (node_core, address) = (node_core.clone(), address.clone());
                thread::spawn(move || use_up(&node_core, address, workers[0]))
            };
            use_up(&node_core, address, workers[1]);
            other.join().unwrap();
            assert_eq!(drops(&shared), 1);
        });
    }
}

#[test]
fn evicted_credit_is_subtracted_from_the_count() {
    model(|| {
        let (shared, node_state) = ([Drops::default(), Drops::default()], Drops::default());
        let (node_core, _) = node_core(&node_state);
        let addresses = [0, 1]
            .map(|n| node_core.spawn_ended::<Checked>(n, Checked::new(&shared[n as usize]), 9));
        let other = {
            let (node_core, addresses) = (node_core.clone(), addresses.clone());
            thread::spawn(move || node_core.enter(|| drop(addresses)))
        };
        node_core.enter(|| {
            let copies = addresses.clone();
            drop(addresses);
            assert!(copies.iter().all(|copy| copy.shared().read() == 7));
            drop(copies);
        });
        other.join().unwrap();
        assert_eq!(shared.each_ref().map(drops), [1, 1]);
    });
}

// A process ends on its worker while another thread sends to it and drops its address. The process
// may hold the only references by then and need no closing.
#[test]
fn ending_process_is_freed_once_and_its_messages_are_dropped_or_returned() {
    for worker in [true, false] {
        model(move || {
            let [shared, mail, node_state] = [(); 3].map(|()| Drops::default());
            let (node_core, queue) = node_core(&node_state);
            let (address, _) = spawn(&node_core, &shared, 1);
            let other = {
                let (node_core, mail) = (node_core.clone(), mail.clone());
                let send = move |address: Address<Ground, Checked>| {
                    if let Err(back) = address.send(Checked::new(&mail), SendMode::Send) {
                        let back = back.into_inner();
                        assert_eq!(back.read(), 7);
                    }
                    if let Some(last) = address.exit_status() {
                        assert_eq!(*last, 9);
                    }
                    assert_eq!(address.shared().read(), 7);
                };
                thread::spawn(move || run_as(worker, &node_core, || send(address)))
            };
            queue.run_as_worker_of(&node_core);
            other.join().unwrap();
            assert!(node_core.is_empty());
            assert_eq!((drops(&shared), drops(&mail)), (1, 1));
        });
    }
}

/// Message that sets a mark when it is dropped.
struct Mark(std::sync::Arc<UnsafeCell<u32>>);

// SAFETY: loom checks every access.
unsafe impl Send for Mark {}
// SAFETY: as above.
unsafe impl Sync for Mark {}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: loom checks the access.
        self.0.with_mut(|mark| unsafe { *mark = 1 });
    }
}

/// Process that ends in its first turn without receiving.
struct Deaf;

impl Body<Ground, Mark> for Deaf {
    type Bound = ();
    type Future = Infallible;

    fn turn(_: Code<'_, Self>, _: InTurn<'_, Ground, Mark>, _: &mut Context<'_>) -> Poll<u32> {
        Poll::Ready(9)
    }

    fn name() -> &'static str {
        "deaf"
    }
}

// M4: a thread that sees that a process is over sees that its messages have been dropped
#[test]
fn messages_of_a_process_that_is_over_have_been_dropped() {
    model(|| {
        let (shared, node_state) = (Drops::default(), Drops::default());
        let (node_core, queue) = node_core(&node_state);
        let made =
            node_core.spawn(Checked::new(&shared), (), (), (), |(), _: Owner<Ground, Mark>| Deaf);
        let address = made.expect("there is a slot");
        let mark = Mark(std::sync::Arc::new(UnsafeCell::new(0)));
        let seen = std::mem::ManuallyDrop::new(Mark(std::sync::Arc::clone(&mark.0)));
        assert!(address.send(mark, SendMode::Send).is_ok());
        let other = thread::spawn(move || {
            if address.is_drained() {
                // SAFETY: loom checks the access.
                assert_eq!(seen.0.with(|mark| unsafe { *mark }), 1);
            }
        });
        queue.run_as_worker_of(&node_core);
        other.join().unwrap();
        assert_eq!(drops(&shared), 1);
    });
}

// P4: a process that is found may be read, and the thread that ends it sees the reference.
#[test]
fn process_found_while_ending_is_freed_by_the_last_reference() {
    for worker in [true, false] {
        model(move || {
            let (shared, node_state) = (Drops::default(), Drops::default());
            let (node_core, queue) = node_core(&node_state);
            let (address, _) = spawn(&node_core, &shared, 1);
            let slot = address.slot();
            drop(address);
            let other = {
                let node_core = node_core.clone();
                thread::spawn(move || {
                    run_as(worker, &node_core, || {
                        if let Some(found) = node_core.find(slot) {
                            assert_eq!(found.shared().read(), 7);
                        }
                    });
                })
            };
            queue.run_as_worker_of(&node_core);
            other.join().unwrap();
            assert_eq!(drops(&shared), 1);
        });
    }
}

// Two threads run one process in turn. The second turn sees what the first wrote, on whichever
// thread the wake happens.
#[test]
fn woken_process_keeps_its_state_on_any_thread() {
    model(|| {
        let (shared, node_state) = (Drops::default(), Drops::default());
        let (node_core, queue) = node_core(&node_state);
        let (address, waker) = spawn(&node_core, &shared, 2);
        let other = {
            let (queue, waker) = (queue.clone(), Arc::clone(&waker));
            thread::spawn(move || {
                let waker = waker.lock().unwrap().take();
                let woke = waker.is_some();
                if let Some(waker) = waker {
                    waker.wake();
                }
                queue.run();
                woke
            })
        };
        queue.run();
        if !other.join().unwrap() {
            let waker = waker.lock().unwrap().take();
            waker.expect("the first turn is over").wake();
        }
        queue.run();
        assert_eq!(address.exit_status(), Some(&9));
        drop(address);
        assert!(node_core.is_empty());
        assert_eq!(drops(&shared), 1);
    });
}

// P4: the reference of a handle dropped in an earlier turn is released by the thread that runs the
// last turn, which also holds deferred references, while another thread drops the address.
#[test]
fn handle_dropped_in_an_earlier_turn_is_released_once_at_the_end() {
    for worker in [true, false] {
        model(move || {
            let (shared, node_state) = (Drops::default(), Drops::default());
            let (node_core, queue) = node_core(&node_state);
            let (address, waker) = spawn(&node_core, &shared, 2);
            queue.run_as_worker_of(&node_core);
            let other = {
                let node_core = node_core.clone();
                let read = move |address: Address<Ground, Checked>| {
                    assert_eq!(address.shared().read(), 7);
                };
                thread::spawn(move || run_as(worker, &node_core, || read(address)))
            };
            node_core.enter(|| {
                let waker = waker.lock().unwrap().take();
                waker.expect("the first turn is over").wake();
                queue.run();
            });
            other.join().unwrap();
            assert!(node_core.is_empty());
            assert_eq!(drops(&shared), 1);
        });
    }
}

#[test]
fn last_handle_frees_the_node_core_after_its_processes_have_ended() {
    model(|| {
        let (shared, node_state) = (Drops::default(), Drops::default());
        let (node_core, queue) = node_core(&node_state);
        let other = {
            let (node_core, queue) = (node_core.clone(), queue.clone());
            thread::spawn(move || {
                assert_eq!(node_core.state().read(), 7);
                queue.run();
            })
        };
        drop(spawn(&node_core, &shared, 1));
        queue.run();
        drop(node_core);
        other.join().unwrap();
        assert_eq!((drops(&shared), drops(&node_state)), (1, 1));
    });
}

// A thread without a handle may run a process to its end while another thread looks the process up.
#[test]
fn process_ends_on_a_thread_without_a_handle() {
    model(|| {
        let (shared, node_state) = (Drops::default(), Drops::default());
        let (node_core, queue) = node_core(&node_state);
        let (address, _) = spawn(&node_core, &shared, 1);
        let slot = address.slot();
        drop(address);
        let other = thread::spawn(move || queue.run());
        if let Some(found) = node_core.find(slot) {
            assert_eq!(found.shared().read(), 7);
        }
        let again = node_core.clone();
        drop(node_core);
        other.join().unwrap();
        drop(again);
        assert_eq!((drops(&shared), drops(&node_state)), (1, 1));
    });
}

/// Host that passes each process to the model's threads. Not loom's `Arc`: loom would report that a
/// leaked node core leaks it.
struct Leaked(std::sync::Arc<Mutex<Vec<Runnable>>>);

impl Host for Leaked {
    fn schedule_local(&self, runnable: Runnable) -> Result<(), Runnable> {
        Err(runnable)
    }

    fn schedule_remote(&self, runnable: Runnable) {
        self.0.lock().unwrap().push(runnable);
    }
}

// A process ends on a thread without a handle while another thread drops the last handle. The node
// core is freed after the end, or leaked, and the process is freed either way.
#[test]
fn process_is_freed_whether_or_not_its_node_core_is_leaked() {
    model(|| {
        let (shared, node_state) = (Drops::default(), Drops::default());
        let queue = std::sync::Arc::new(Mutex::new(Vec::new()));
        let host = Box::new(Leaked(std::sync::Arc::clone(&queue)));
        let node_core = NodeCore::<Ground>::new(host, Checked::new(&node_state), 2, 1);
        let (address, _) = spawn(&node_core, &shared, 1);
        let runner = thread::spawn(move || {
            let runnable = queue.lock().unwrap().pop();
            assert!(matches!(runnable.map(Runnable::run), Some(TurnOutcome::Ended)));
        });
        drop(node_core);
        assert_eq!(address.shared().read(), 7);
        runner.join().unwrap();
        assert_eq!(address.exit_status(), Some(&9));
        drop(address);
        assert_eq!(drops(&shared), 1);
        assert!(drops(&node_state) <= 1);
    });
}
