//! Loom models of falling asleep and waking.
//!
//! A queue is a counter of work items here; a parker is a flag. The models check that in no
//! interleaving work remains while the worker sleeps.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use purlin_raw::model::model;
use purlin_sched::model::Idle;

/// State shared by the workers of a model.
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

    /// Queues a work item as a worker does: a release, then the notification.
    fn put(&self) {
        self.queue.fetch_add(1, Ordering::Release);
        self.notify();
    }

    /// Wakes the worker that the notification returns, as `Shared::notify` does.
    fn notify(&self) {
        if let Some(worker) = self.idle.notify() {
            self.parked[worker].store(0, Ordering::Release);
        }
    }

    /// Ends a successful search, as in `Worker::run`.
    fn found(&self) {
        if self.idle.end_search() && self.left() > 0 {
            self.notify();
        }
    }

    fn is_notified(&self, worker: usize) -> bool {
        self.parked[worker].load(Ordering::Acquire) == 0
    }

    fn left(&self) -> usize {
        self.queue.load(Ordering::Relaxed)
    }

    /// Takes a work item if there is one.
    fn take(&self) -> bool {
        let seen = self.queue.load(Ordering::Relaxed);
        seen > 0
            && self
                .queue
                .compare_exchange(seen, seen - 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Puts a worker without work to sleep as `Worker::sleep` does. Returns `true` if it stays
    /// asleep.
    fn sleep(&self, worker: usize, searching: bool) -> bool {
        self.parked[worker].store(1, Ordering::Relaxed);
        self.idle.fall_asleep(worker, searching);
        let stay = self.left() == 0;
        if !stay {
            self.wake(worker);
        }
        !self.is_notified(worker)
    }

    /// Asserts that worker 0 is awake, has been woken, or no work is left.
    fn nobody_sleeps_beside_work(&self, awake: bool) {
        let notified = self.is_notified(0);
        assert!(awake || notified || self.left() == 0);
    }

    /// Wakes a worker that does not park or whose timeout has expired; another thread may be waking
    /// it at the same time.
    fn wake(&self, worker: usize) {
        self.idle.leave(worker);
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
fn two_work_items_are_not_both_left_to_a_searcher_that_falls_asleep() {
    model(|| {
        let world = World::new();
        // Worker 0 sleeps; worker 1 queues two items while worker 0 wakes and searches.
        assert!(world.sleep(0, false));
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                if !world.is_notified(0) {
                    return true;
                }
                // It wakes as a searcher: it finds work, or falls asleep again.
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
fn a_worker_woken_by_timeout_and_by_a_notification_finds_the_work() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        let sleeper = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                // The timeout wakes it: it is a searcher now, whether or not another thread was
                // faster.
                world.wake(0);
                world.take() || !world.sleep(0, true)
            })
        };
        world.put();
        let awake = sleeper.join().unwrap();
        world.nobody_sleeps_beside_work(awake);
    });
}

/// Returns `true` if sysmon rests.
fn rests(world: &World) -> bool {
    // It rests if all workers sleep as far as it can see.
    world.idle.all_asleep() && world.idle.begin_sysmon_rest()
}

#[test]
fn sysmon_does_not_rest_while_a_woken_worker_is_awake() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        assert!(world.sleep(1, false));
        let sysmon = {
            let world = Arc::clone(&world);
            thread::spawn(move || rests(&world))
        };
        // An external thread wakes a worker, which then checks on sysmon.
        world.put();
        let woken = (0..2).filter(|&worker| world.is_notified(worker)).count();
        assert_eq!(woken, 1);
        let roused = world.idle.wake_sysmon();
        let rested = sysmon.join().unwrap();
        // Sysmon may be woken although it does not rest; that shortens a tick.
        assert!(roused || !rested);
        assert!(!world.idle.resting());
    });
}

#[test]
fn exactly_one_of_two_waking_workers_wakes_sysmon() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        assert!(world.sleep(1, false));
        assert!(rests(&world));
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.idle.leave(0) && world.idle.wake_sysmon())
        };
        let first = world.idle.leave(1) && world.idle.wake_sysmon();
        let second = other.join().unwrap();
        assert!(first != second, "the first who wakes rouses it, and only one");
        assert!(!world.idle.resting());
    });
}

#[test]
fn notify_for_own_and_notify_wake_one_sleeper_once() {
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
fn a_searcher_that_finds_work_wakes_another_worker_for_the_rest() {
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
        // The item it has found may keep it busy for long.
        let busy = searcher.join().unwrap();
        assert!(world.left() == 0 || world.is_notified(1) || (!busy && world.is_notified(0)));
    });
}

#[test]
fn a_woken_worker_wakes_the_resting_sysmon() {
    model(|| {
        let world = World::new();
        assert!(world.sleep(0, false));
        assert!(world.sleep(1, false));
        let sysmon = {
            let world = Arc::clone(&world);
            thread::spawn(move || rests(&world))
        };
        let worker = {
            let world = Arc::clone(&world);
            // The worker was woken: it has observed only what the waking thread had.
            thread::spawn(move || world.is_notified(1).then(|| world.idle.wake_sysmon()))
        };
        world.put();
        let rested = sysmon.join().unwrap();
        let roused = worker.join().unwrap().unwrap_or_else(|| world.idle.wake_sysmon());
        assert!(roused || !rested);
        assert!(!world.idle.resting());
    });
}

#[test]
fn a_worker_that_falls_asleep_during_shutdown_is_woken_or_does_not_park() {
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
        assert!(!parks || world.is_notified(0));
    });
}
