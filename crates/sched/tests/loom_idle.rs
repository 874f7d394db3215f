//! Models of going to sleep and being woken.
//!
//! A queue is a counter of pieces of work here; a parker is a flag. What is checked is that no work
//! is left while a worker sleeps, whatever the interleaving.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use purlin_raw::model::model;
use purlin_sched::model::Idle;

/// What the workers of a model share.
struct World {
    idle: Idle,
    queue: AtomicUsize,
    parked: [AtomicUsize; 2],
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            idle: Idle::new(2),
            queue: AtomicUsize::new(0),
            parked: [AtomicUsize::new(0), AtomicUsize::new(0)],
        })
    }

    /// Queues a piece of work as `worker::schedule` does: a plain release, then the notification.
    fn put(&self) {
        self.queue.fetch_add(1, Ordering::Release);
        self.notify();
    }

    /// Wakes whom the notification names, as `Shared::notify` does.
    fn notify(&self) {
        if let Some(worker) = self.idle.notify() {
            self.parked[worker].store(0, Ordering::Release);
        }
    }

    /// A searcher has taken a piece of work, as in `Worker::run`.
    fn found(&self) {
        if self.idle.end_search() {
            self.notify();
        }
    }

    fn told(&self, worker: usize) -> bool {
        self.parked[worker].load(Ordering::Acquire) == 0
    }

    fn left(&self) -> usize {
        self.queue.load(Ordering::Relaxed)
    }

    /// Takes a piece of work if it sees one.
    fn take(&self) -> bool {
        let seen = self.queue.load(Ordering::Relaxed);
        seen > 0
            && self
                .queue
                .compare_exchange(seen, seen - 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// A worker that finds nothing goes to sleep as `Worker::sleep` does; `true` if it stays so.
    fn sleep(&self, worker: usize, searching: bool) -> bool {
        self.parked[worker].store(1, Ordering::Relaxed);
        self.idle.fall_asleep(worker, searching);
        let stay = self.left() == 0;
        if !stay {
            self.wake(worker);
        }
        !self.told(worker)
    }

    /// Worker 0 is awake, has worked, or was told to wake: it never sleeps with work left.
    fn nobody_sleeps_beside_work(&self, awake: bool) {
        let told = self.told(0);
        assert!(awake || told || self.left() == 0);
    }

    /// A worker does not park, or its time is up; somebody may be waking it just then.
    fn wake(&self, worker: usize) {
        self.idle.wake_self(worker);
        self.parked[worker].store(0, Ordering::Relaxed);
    }
}

#[test]
fn work_that_is_queued_while_a_worker_falls_asleep_wakes_it() {
    for searching in [true, false] {
        model(move || {
            let world = World::new();
            let sleeper = {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    if searching {
                        assert!(world.idle.begin_search());
                    }
                    world.take() || !world.sleep(0, searching)
                })
            };
            world.put();
            let awake = sleeper.join().unwrap();
            world.nobody_sleeps_beside_work(awake);
        });
    }
}

#[test]
fn two_pieces_of_work_are_not_both_left_to_one_searcher_that_sleeps() {
    model(|| {
        let world = World::new();
        // Worker 0 sleeps; worker 1 queues twice while 0 wakes, searches and goes on.
        assert!(world.sleep(0, false));
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                if !world.told(0) {
                    return true;
                }
                // Woken as a searcher: finds work, or falls asleep again.
                if world.take() {
                    world.found();
                    return true;
                }
                !world.sleep(0, true)
            })
        };
        world.put();
        world.put();
        let awake = other.join().unwrap();
        world.nobody_sleeps_beside_work(awake);
    });
}

#[test]
fn a_worker_whose_time_is_up_while_it_is_being_woken_finds_the_work() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        let sleeper = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                // The clock wakes it: a searcher now, whether or not somebody was faster.
                world.wake(0);
                world.take() || !world.sleep(0, true)
            })
        };
        world.put();
        let awake = sleeper.join().unwrap();
        world.nobody_sleeps_beside_work(awake);
    });
}

/// The monitor: `true` if it goes to rest.
fn rests(world: &World) -> bool {
    // It rests where all sleep, as far as it can see.
    world.idle.all_asleep() && world.idle.begin_rest()
}

#[test]
fn the_monitor_does_not_rest_while_a_worker_that_was_woken_is_awake() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        assert!(world.sleep(1, false));
        let monitor = {
            let world = Arc::clone(&world);
            thread::spawn(move || rests(&world))
        };
        // From outside: somebody wakes a worker, which then looks after the monitor.
        world.put();
        let woken = (0..2).filter(|&worker| world.told(worker)).count();
        assert_eq!(woken, 1);
        let roused = world.idle.rouse();
        let rested = monitor.join().unwrap();
        // Who does not rest after all may be roused too; that shortens a tick.
        assert!(roused || !rested);
        assert!(!world.idle.resting());
    });
}

#[test]
fn of_two_workers_that_wake_one_rouses_the_monitor() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        assert!(world.sleep(1, false));
        assert!(rests(&world));
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.idle.wake_self(0) && world.idle.rouse())
        };
        let first = world.idle.wake_self(1) && world.idle.rouse();
        let second = other.join().unwrap();
        assert!(first != second, "the first who wakes rouses it, and only one");
        assert!(!world.idle.resting());
    });
}

#[test]
fn a_look_without_a_change_wakes_a_sleeper_it_sees_and_only_once() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        let outside = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.idle.notify().is_some())
        };
        let own = world.idle.notify_for_own().is_some();
        let outside = outside.join().unwrap();
        assert!(own != outside, "one sleeper, one waker");
    });
}

#[test]
fn a_searcher_that_finds_work_has_another_worker_look_for_the_rest() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(1, false));
        assert!(world.idle.begin_search());
        let searcher = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let found = world.take();
                if found {
                    world.found();
                } else {
                    world.sleep(0, true);
                }
                found
            })
        };
        world.put();
        world.put();
        // What it has found may keep it for long.
        let busy = searcher.join().unwrap();
        assert!(world.left() == 0 || world.told(1) || (!busy && world.told(0)));
    });
}

#[test]
fn a_worker_that_was_woken_rouses_the_monitor_that_rests() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        assert!(world.sleep(1, false));
        let monitor = {
            let world = Arc::clone(&world);
            thread::spawn(move || rests(&world))
        };
        let worker = {
            let world = Arc::clone(&world);
            // It was woken: all it knows is what whoever woke it knew.
            thread::spawn(move || world.told(1).then(|| world.idle.rouse()))
        };
        world.put();
        let rested = monitor.join().unwrap();
        let roused = worker.join().unwrap().unwrap_or_else(|| world.idle.rouse());
        assert!(roused || !rested);
        assert!(!world.idle.resting());
    });
}

#[test]
fn a_worker_that_falls_asleep_while_all_are_told_to_end_is_woken_or_does_not_park() {
    model(|| {
        let world = World::new();
        let stop = Arc::new(AtomicUsize::new(0));
        let sleeper = {
            let (world, stop) = (Arc::clone(&world), Arc::clone(&stop));
            thread::spawn(move || {
                world.parked[0].store(1, Ordering::Relaxed);
                world.idle.fall_asleep(0, false);
                stop.load(Ordering::Relaxed) == 0
            })
        };
        stop.store(1, Ordering::Relaxed);
        for worker in world.idle.wake_all() {
            world.parked[worker].store(0, Ordering::Release);
        }
        let parks = sleeper.join().unwrap();
        assert!(!parks || world.told(0));
    });
}
