//! Models of whole processes: references and who frees the cell, the end, the right to run that
//! goes from thread to thread, and the end of a realm.
//!
//! Run with `scripts/test-loom.sh`. Everything is used as the layers above use it. What a process
//! shares, what it is sent and what a realm keeps are cells whose accesses loom checks, and count
//! how often they are dropped.
#![cfg(loom)]

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use purlin_raw::model::model;
use purlin_raw::{Address, Body, End, Host, Owner, Ran, Realm, Runnable, Unsent, World};

/// How often it was dropped. Not of loom's: it must order nothing.
type Drops = std::sync::Arc<AtomicUsize>;

/// What is read by who may read it, and written when it is dropped.
struct Checked {
    content: UnsafeCell<u32>,
    drops: Drops,
}

// SAFETY: written only when it is dropped; loom checks it.
unsafe impl Sync for Checked {}
// SAFETY: as above.
unsafe impl Send for Checked {}

impl Checked {
    fn new(drops: &Drops) -> Self {
        Self { content: UnsafeCell::new(7), drops: Drops::clone(drops) }
    }

    fn read(&self) -> u32 {
        // SAFETY: loom checks it.
        self.content.with(|content| unsafe { *content })
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        // SAFETY: loom checks it.
        self.content.with_mut(|content| unsafe { *content = 0 });
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

fn drops(of: &Drops) -> usize {
    of.load(Ordering::Relaxed)
}

struct Ground;

impl World for Ground {
    type Signal = ();
    type Local = ();
    type Shared = Checked;
    type Last = u32;
    type Home = Checked;

    fn keeps(&(): &()) -> bool {
        false
    }

    fn closed(_: &Checked, _: &End<'_, Self>, &mut (): &mut ()) {}

    fn undelivered(_: &Checked, &mut (): &mut (), (): ()) {}
}

/// A queue that all threads of a model take from.
#[derive(Clone)]
struct Queue {
    runnables: Arc<Mutex<Vec<Runnable>>>,
    /// Whoever schedules is a worker, as far as the realm is told.
    here: bool,
}

impl Host for Queue {
    fn schedule_here(&self, runnable: Runnable) -> Result<(), Runnable> {
        if !self.here {
            return Err(runnable);
        }
        self.schedule_from_outside(runnable);
        Ok(())
    }

    fn schedule_from_outside(&self, runnable: Runnable) {
        self.runnables.lock().unwrap().push(runnable);
    }
}

impl Queue {
    /// Runs what is queued, as often as it wants.
    fn run(&self) {
        loop {
            let next = self.runnables.lock().unwrap().pop();
            match next.map(Runnable::run) {
                Some(Ran::Again(runnable)) => self.runnables.lock().unwrap().push(runnable),
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Runs what is queued as a worker does, who then settles what it keeps.
    fn run_as_worker_of(&self, realm: &Realm<Ground>) {
        let _worker = realm.enter();
        self.run();
    }
}

fn realm(here: bool, home: &Drops) -> (Realm<Ground>, Queue) {
    let queue = Queue { runnables: Arc::new(Mutex::new(Vec::new())), here };
    (Realm::new(Box::new(queue.clone()), Checked::new(home), 2, 1), queue)
}

/// A process that drops its own handle in its first turn, ends with 9 in its `turns`th and is woken in
/// between.
struct Counter {
    me: Option<Owner<Ground, Checked>>,
    turns: u32,
    waker: Option<Arc<Mutex<Option<Waker>>>>,
}

impl Body<Ground, Checked> for Counter {
    type Edge = ();

    fn turn(
        mut self: Pin<&mut Self>,
        _: &Owner<Ground, Checked>,
        cx: &mut Context<'_>,
    ) -> Poll<u32> {
        (self.me, self.turns) = (None, self.turns - 1);
        if let Some(waker) = self.waker.as_ref().filter(|_| self.turns > 0) {
            *waker.lock().unwrap() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        // It is not dropped after its last turn.
        self.waker = None;
        Poll::Ready(9)
    }

    fn name() -> &'static str {
        "counter"
    }
}

fn spawn(
    realm: &Realm<Ground>,
    shared: &Drops,
    turns: u32,
) -> (Address<Ground, Checked>, Arc<Mutex<Option<Waker>>>) {
    let waker = Arc::new(Mutex::new(None));
    let make = |waker, me| Counter { me: Some(me), turns, waker: Some(waker) };
    let spawned = realm.spawn(Checked::new(shared), (), (), Arc::clone(&waker), make);
    (spawned.expect("there is a slot"), waker)
}

/// Reads through an address, clones it so often that credit is gathered and used up, and gives all
/// up; as a worker or as any other thread.
fn use_up(realm: &Realm<Ground>, address: Address<Ground, Checked>, worker: bool) {
    let entered = worker.then(|| realm.enter());
    drop(address.clone());
    let copies = [address.clone(), address.clone()];
    assert_eq!(address.shared().read(), 7);
    drop(address);
    drop(copies);
    drop(entered);
}

#[test]
fn the_last_of_two_threads_to_give_up_a_reference_frees_the_cell_once() {
    for workers in [[true, true], [true, false], [false, false]] {
        model(move || {
            let (shared, home) = (Drops::default(), Drops::default());
            let (realm, _) = realm(true, &home);
            let address = realm.stillborn(0, Checked::new(&shared), 9);
            let other = {
                let (realm, address) = (realm.clone(), address.clone());
                thread::spawn(move || use_up(&realm, address, workers[0]))
            };
            use_up(&realm, address, workers[1]);
            other.join().unwrap();
            assert_eq!(drops(&shared), 1);
        });
    }
}

#[test]
fn credit_for_one_cell_that_makes_room_for_another_is_counted() {
    model(|| {
        let (shared, home) = ([Drops::default(), Drops::default()], Drops::default());
        let (realm, _) = realm(true, &home);
        let addresses =
            [0, 1].map(|n| realm.stillborn::<Checked>(n, Checked::new(&shared[n as usize]), 9));
        let other = {
            let (realm, addresses) = (realm.clone(), addresses.clone());
            thread::spawn(move || {
                let _worker = realm.enter();
                drop(addresses);
            })
        };
        let worker = realm.enter();
        let copies = addresses.clone();
        drop(addresses);
        assert!(copies.iter().all(|copy| copy.shared().read() == 7));
        drop(copies);
        drop(worker);
        other.join().unwrap();
        assert_eq!(shared.each_ref().map(drops), [1, 1]);
    });
}

// A process ends on its worker while another thread sends to it and gives it up: it may be alone by
// then, and need no closing.
#[test]
fn a_process_that_ends_is_freed_once_and_what_was_sent_is_dropped_or_comes_back() {
    for worker in [true, false] {
        model(move || {
            let [shared, mail, home] = [(); 3].map(|()| Drops::default());
            let (realm, queue) = realm(true, &home);
            let (address, _) = spawn(&realm, &shared, 1);
            let other = {
                let (realm, mail) = (realm.clone(), mail.clone());
                thread::spawn(move || {
                    let _worker = worker.then(|| realm.enter());
                    if let Err(back) = address.send(Checked::new(&mail)) {
                        let Unsent::Ended(back) = back else { unreachable!("there is no bound") };
                        assert_eq!(back.read(), 7);
                    }
                    if let Some(last) = address.last() {
                        assert_eq!(*last, 9);
                    }
                    assert_eq!(address.shared().read(), 7);
                })
            };
            queue.run_as_worker_of(&realm);
            other.join().unwrap();
            assert!(realm.is_empty());
            assert_eq!((drops(&shared), drops(&mail)), (1, 1));
        });
    }
}

/// A message that leaves a mark where it was told when it is dropped.
struct Mark(std::sync::Arc<UnsafeCell<u32>>);

// SAFETY: loom checks every access.
unsafe impl Send for Mark {}
// SAFETY: as above.
unsafe impl Sync for Mark {}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: loom checks it.
        self.0.with_mut(|mark| unsafe { *mark = 1 });
    }
}

/// Ends at once and receives nothing.
struct Deaf;

impl Body<Ground, Mark> for Deaf {
    type Edge = ();

    fn turn(self: Pin<&mut Self>, _: &Owner<Ground, Mark>, _: &mut Context<'_>) -> Poll<u32> {
        Poll::Ready(9)
    }

    fn name() -> &'static str {
        "deaf"
    }
}

// M4: whoever sees that a process is over sees what became of its messages
#[test]
fn what_waited_in_a_process_that_is_over_has_been_dropped() {
    model(|| {
        let (shared, home) = (Drops::default(), Drops::default());
        let (realm, queue) = realm(true, &home);
        let made =
            realm.spawn(Checked::new(&shared), (), (), (), |(), _: Owner<Ground, Mark>| Deaf);
        let address = made.expect("there is a slot");
        let mark = Mark(std::sync::Arc::new(UnsafeCell::new(0)));
        let seen = std::mem::ManuallyDrop::new(Mark(std::sync::Arc::clone(&mark.0)));
        assert!(address.send(mark).is_ok());
        let other = thread::spawn(move || {
            if address.is_over() {
                // SAFETY: loom checks it.
                assert_eq!(seen.0.with(|mark| unsafe { *mark }), 1);
            }
        });
        queue.run_as_worker_of(&realm);
        other.join().unwrap();
        assert_eq!(drops(&shared), 1);
    });
}

// P4: a process that is found is there to be read, and whoever ends it knows that it is not alone.
#[test]
fn a_process_that_is_found_while_it_ends_is_freed_by_whoever_is_last() {
    for worker in [true, false] {
        model(move || {
            let (shared, home) = (Drops::default(), Drops::default());
            let (realm, queue) = realm(true, &home);
            let (address, _) = spawn(&realm, &shared, 1);
            let slot = address.slot();
            drop(address);
            let other = {
                let realm = realm.clone();
                thread::spawn(move || {
                    let _worker = worker.then(|| realm.enter());
                    if let Some(found) = realm.find(slot) {
                        assert_eq!(found.shared().read(), 7);
                    }
                })
            };
            queue.run_as_worker_of(&realm);
            other.join().unwrap();
            assert_eq!(drops(&shared), 1);
        });
    }
}

// Two threads run one process in turn: what the first turn wrote is the second's to read, and the
// thread that wakes it may be any.
#[test]
fn a_process_that_is_woken_goes_on_with_what_it_had_on_whichever_thread() {
    model(|| {
        let (shared, home) = (Drops::default(), Drops::default());
        let (realm, queue) = realm(true, &home);
        let (address, waker) = spawn(&realm, &shared, 2);
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
        assert_eq!(address.last(), Some(&9));
        drop(address);
        assert!(realm.is_empty());
        assert_eq!(drops(&shared), 1);
    });
}

// P4: the reference of a handle that was dropped in an earlier turn is given up by whoever runs the last
// one, who holds credit besides, while another thread gives up the address.
#[test]
fn a_handle_that_was_let_go_in_an_earlier_turn_is_counted_down_at_the_end_once() {
    for worker in [true, false] {
        model(move || {
            let (shared, home) = (Drops::default(), Drops::default());
            let (realm, queue) = realm(true, &home);
            let (address, waker) = spawn(&realm, &shared, 2);
            queue.run_as_worker_of(&realm);
            let other = {
                let realm = realm.clone();
                thread::spawn(move || {
                    let _worker = worker.then(|| realm.enter());
                    assert_eq!(address.shared().read(), 7);
                })
            };
            let worker = realm.enter();
            let waker = waker.lock().unwrap().take();
            waker.expect("the first turn is over").wake();
            queue.run();
            drop(worker);
            other.join().unwrap();
            assert!(realm.is_empty());
            assert_eq!(drops(&shared), 1);
        });
    }
}

#[test]
fn the_last_handle_on_a_realm_frees_it_once_its_processes_have_ended() {
    model(|| {
        let (shared, home) = (Drops::default(), Drops::default());
        let (realm, queue) = realm(false, &home);
        let other = {
            let (realm, queue) = (realm.clone(), queue.clone());
            thread::spawn(move || {
                assert_eq!(realm.home().read(), 7);
                queue.run();
            })
        };
        drop(spawn(&realm, &shared, 1));
        queue.run();
        drop(realm);
        other.join().unwrap();
        assert_eq!((drops(&shared), drops(&home)), (1, 1));
    });
}
