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
use purlin_sched::model::Idle;

fn model(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

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
        if let Some(worker) = self.idle.notify() {
            self.parked[worker].store(0, Ordering::Release);
        }
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
        let stay = self.queue.load(Ordering::Relaxed) == 0;
        if !stay {
            self.wake(worker);
        }
        self.parked[worker].load(Ordering::Acquire) == 1
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
            // It is awake, has worked, or was told to wake: never asleep with work left.
            let told = world.parked[0].load(Ordering::Acquire) == 0;
            assert!(awake || told || world.queue.load(Ordering::Relaxed) == 0);
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
                if world.parked[0].load(Ordering::Acquire) == 1 {
                    return true;
                }
                // Woken as a searcher: finds work, or falls asleep again.
                if world.take() {
                    if world.idle.end_search() {
                        if let Some(worker) = world.idle.notify() {
                            world.parked[worker].store(0, Ordering::Release);
                        }
                    }
                    return true;
                }
                !world.sleep(0, true)
            })
        };
        world.put();
        world.put();
        let awake = other.join().unwrap();
        let told = world.parked[0].load(Ordering::Acquire) == 0;
        assert!(awake || told || world.queue.load(Ordering::Relaxed) == 0);
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
        let told = world.parked[0].load(Ordering::Acquire) == 0;
        assert!(awake || told || world.queue.load(Ordering::Relaxed) == 0);
    });
}
