//! Tests of whole machines: contention, sleep, order of events, determinism.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;

use crate::sync::atomic::{AtomicU32, AtomicUsize};
use crate::sync::{Condvar, Mutex, mpsc};
use crate::{Costs, Instant, Machine, Parker, Topology, now, thread, work};

const COSTS: Costs = Costs { jitter: 0.0, ..Costs::TWO_SOCKETS };

#[repr(align(64))]
#[derive(Default)]
struct Counter(AtomicUsize);

fn machine(sockets: usize, cores_per_socket: usize) -> Machine {
    Machine::new(Topology { sockets, cores_per_socket }, COSTS, 1)
}

/// Lets `cores` threads add to one counter, and returns the nanoseconds of one addition.
fn contended(cores: usize, each: usize, machine: Machine) -> f64 {
    let report = machine.run(move || {
        let counter = Arc::new(Counter::default());
        let threads: Vec<_> = (0..cores)
            .map(|_| {
                let counter = Arc::clone(&counter);
                let adds = move || {
                    (0..each).for_each(|_| {
                        counter.0.fetch_add(1, SeqCst);
                    })
                };
                thread::spawn(adds)
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        counter.0.load(SeqCst)
    });
    assert_eq!(report.value, cores * each);
    report.nanoseconds / (cores * each) as f64
}

#[test]
fn one_core_adds_at_the_cost_of_an_owned_line() {
    let cost = contended(1, 100_000, machine(1, 2));
    assert!((cost / COSTS.rmw - 1.0).abs() < 0.05, "{cost} ns");
}

#[test]
fn many_cores_add_to_one_line_once_per_transfer() {
    let handover = COSTS.transfer + COSTS.rmw;
    for cores in [4, 8, 32] {
        let cost = contended(cores, 10_000, machine(1, 33));
        assert!((cost / handover - 1.0).abs() < 0.05, "{cores} cores: {cost} ns");
    }
    let two_sockets = contended(32, 1000, machine(2, 17));
    assert!(two_sockets > handover && two_sockets < COSTS.far_transfer + COSTS.rmw);
}

#[test]
fn two_cores_that_alternate_on_one_line_take_a_request_for_each_turn() {
    const ROUNDS: usize = 1000;
    let report = machine(1, 2).run(|| {
        let turn = Arc::new(Counter::default());
        let plays = |turn: Arc<Counter>, parity: usize| {
            for round in 0..ROUNDS {
                let now = 2 * round + parity;
                while turn.0.compare_exchange(now, now + 1, SeqCst, Relaxed).is_err() {}
            }
        };
        let other = Arc::clone(&turn);
        let other = thread::spawn(move || plays(other, 1));
        plays(turn, 0);
        other.join().unwrap();
    });
    let leg = report.nanoseconds / (2 * ROUNDS) as f64;
    assert!(leg > COSTS.request && leg < COSTS.request + 20.0, "{leg} ns");
}

#[test]
fn locked_sections_exclude_each_other_and_sleepers_are_woken() {
    let report = machine(2, 5).run(|| {
        let shared = Arc::new((Mutex::new(0_u64), AtomicU32::new(0)));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    for _ in 0..50 {
                        let mut sum = shared.0.lock().unwrap();
                        assert_eq!(shared.1.fetch_add(1, SeqCst), 0, "another thread is inside");
                        work(5000.0);
                        *sum += 1;
                        shared.1.fetch_sub(1, SeqCst);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        *shared.0.lock().unwrap()
    });
    assert_eq!(report.value, 400);
    assert!(report.nanoseconds >= 400.0 * 5000.0);
}

#[test]
fn channels_condition_variables_and_parkers_wake_the_waiting_thread() {
    let report = machine(1, 4).run(|| {
        let (sender, receiver) = mpsc::channel();
        let parker = Parker::new();
        let unparker = parker.unparker().clone();
        let flag = Arc::new((Mutex::new(false), Condvar::new()));
        let set = Arc::clone(&flag);
        let other = thread::spawn(move || {
            work(10_000.0);
            sender.send(7).unwrap();
            work(10_000.0);
            unparker.unpark();
            work(10_000.0);
            *set.0.lock().unwrap() = true;
            set.1.notify_all();
        });
        assert_eq!(receiver.recv(), Ok(7));
        parker.park();
        let mut is_set = flag.0.lock().unwrap();
        while !*is_set {
            is_set = flag.1.wait(is_set).unwrap();
        }
        other.join().unwrap();
        assert!(receiver.recv().is_err(), "no sender is left");
        now()
    });
    assert!(report.value > 30_000.0);
}

// CLOCK: the clock is that of a simulated core.
#[test]
fn timeouts_end_waits_at_their_deadline() {
    let report = machine(1, 1).run(|| {
        let begun = Instant::now();
        Parker::new().park_timeout(Duration::from_millis(3));
        let parked = begun.elapsed();
        thread::sleep(Duration::from_millis(2));
        (parked, begun.elapsed())
    });
    let (parked, both) = report.value;
    let ms = Duration::from_millis;
    assert!(parked >= ms(3) && parked < ms(4), "{parked:?}");
    assert!(both >= ms(5) && both < ms(6), "{both:?}");
}

#[test]
#[should_panic(expected = "deadlock")]
fn threads_that_wait_for_each_other_are_reported() {
    machine(1, 1).run(|| Parker::new().park());
}

#[test]
fn a_seed_determines_the_simulation() {
    let run = |seed| {
        let topology = Topology { sockets: 2, cores_per_socket: 5 };
        let costs = Costs { jitter: 0.1, ..COSTS };
        Machine::new(topology, costs, seed).run(|| {
            let line = Arc::new(Counter::default());
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    let line = Arc::clone(&line);
                    thread::spawn(move || {
                        for _ in 0..100 {
                            work(100.0);
                            line.0.fetch_add(1, SeqCst);
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        })
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).nanoseconds, run(6).nanoseconds);
}
