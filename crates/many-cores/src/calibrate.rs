//! Measurement of the constants of the coherence model on two real cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

#[derive(Default)]
#[repr(align(64))]
struct Word(AtomicU64);

const ROUNDS: u64 = 2_000_000;
const REPEATS: usize = 7;

/// Returns the median of several measurements of the nanoseconds of one round.
fn median(rounds: u64, f: impl Fn()) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let begun = Instant::now();
            f();
            begun.elapsed().as_nanos() as f64 / rounds as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

/// Runs `f` on two threads, with their numbers.
fn on_two(f: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        scope.spawn(|| f(1));
        f(0);
    });
}

/// Waits until the word has this value.
fn wait_for(word: &Word, value: u64) {
    while word.0.load(Ordering::Acquire) != value {
        std::hint::spin_loop();
    }
}

/// Measures and prints every constant.
pub(crate) fn calibrate() {
    let word = Word::default();
    let print = |what: &str, nanoseconds: f64| println!("{what:<58} {nanoseconds:>9.2} ns");
    let each = |f: &dyn Fn(u64)| median(ROUNDS, || (0..ROUNDS).for_each(f));
    print("load of an owned line, in a dependent chain", {
        each(&|_| {
            let value = word.0.load(Ordering::Relaxed);
            std::hint::black_box(value);
        })
    });
    print("fetch_add on an owned line", each(&|_| discard(word.0.fetch_add(1, Ordering::AcqRel))));
    print("compare_exchange on an owned line", {
        each(&|_| {
            let now = word.0.load(Ordering::Relaxed);
            let done = word.0.compare_exchange(now, now + 1, Ordering::AcqRel, Ordering::Relaxed);
            std::hint::black_box(done.is_ok());
        })
    });
    print("pause", each(&|_| std::hint::spin_loop()));
    print(
        "reading the clock",
        each(&|_| {
            std::hint::black_box(Instant::now());
        }),
    );
    let trips = ROUNDS / 10;
    let by_cas = median(2 * trips, || {
        let turn = Word::default();
        on_two(|parity| {
            for trip in 0..trips {
                let (now, next) = (2 * trip + parity, 2 * trip + parity + 1);
                while turn
                    .0
                    .compare_exchange(now, next, Ordering::AcqRel, Ordering::Relaxed)
                    .is_err()
                {}
            }
        });
    });
    print("leg of a ping-pong by compare_exchange on one line", by_cas);
    let by_load = median(2 * trips, || {
        let turn = Word::default();
        on_two(|parity| {
            for trip in 0..trips {
                wait_for(&turn, 2 * trip + parity);
                turn.0.store(2 * trip + parity + 1, Ordering::Release);
            }
        });
    });
    print("leg of a ping-pong by load and store on one line", by_load);
    let two_lines = median(2 * trips, || {
        let words = [Word::default(), Word::default()];
        on_two(|side| {
            for trip in 1..=trips {
                if side == 0 {
                    words[0].0.store(trip, Ordering::Release);
                    wait_for(&words[1], trip);
                } else {
                    wait_for(&words[0], trip);
                    words[1].0.store(trip, Ordering::Release);
                }
            }
        });
    });
    print("leg of a ping-pong by load and store on two lines", two_lines);
    let contended = median(2 * trips, || {
        let word = Word::default();
        on_two(|_| (0..trips).for_each(|_| discard(word.0.fetch_add(1, Ordering::AcqRel))));
    });
    print("fetch_add by two cores on one line, of both together", contended);
    let parked = trips / 100;
    let park = median(2 * parked, || {
        let turn = Arc::new(Word::default());
        let main = thread::current();
        let other_turn = Arc::clone(&turn);
        let wait = |turn: &Word, value| {
            while turn.0.load(Ordering::Acquire) != value {
                thread::park();
            }
        };
        let other = thread::spawn(move || {
            for trip in 0..parked {
                wait(&other_turn, 2 * trip + 1);
                other_turn.0.store(2 * trip + 2, Ordering::Release);
                main.unpark();
            }
        });
        for trip in 0..parked {
            turn.0.store(2 * trip + 1, Ordering::Release);
            other.thread().unpark();
            wait(&turn, 2 * trip + 2);
        }
        other.join().expect("it answers");
    });
    print("leg of a ping-pong by park and unpark", park);
}

fn discard(value: u64) {
    std::hint::black_box(value);
}
