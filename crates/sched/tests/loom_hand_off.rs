//! Loom model of a detached thread that ends while sysmon makes system calls on it.
//!
//! The thread's id is a variable here, which changes to another thread's once the thread has ended.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use std::num::NonZero;
use std::time::Instant;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use purlin_raw::Slot;
use purlin_raw::model::model;
use purlin_sched::model::HandOff;

const OWN: u32 = 1;
const REUSED: u32 = 2;

struct World {
    hand_off: HandOff,
    number: AtomicU32,
}

// F2: sysmon does not mistake a reused thread id for the detached thread
#[test]
fn a_held_thread_does_not_end_and_an_ended_thread_is_not_held() {
    model(|| {
        let slot = Slot::from_bits(NonZero::new(1).expect("not 0"));
        let world = Arc::new(World {
            // WHY: a field that the model does not read.
            hand_off: HandOff::new(slot, Instant::now()),
            number: AtomicU32::new(OWN),
        });
        let sysmon = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                for _ in 0..2 {
                    // Read twice, because the thread must not end in between either.
                    let number = || [(); 2].map(|()| world.number.load(Ordering::Relaxed));
                    let seen = world.hand_off.with_live_thread(number);
                    assert!(seen.is_none_or(|numbers| numbers == [OWN; 2]), "it had ended");
                }
            }
        });
        world.hand_off.end();
        world.number.store(REUSED, Ordering::Relaxed);
        sysmon.join().expect("it has seen nothing wrong");
        assert_eq!(world.hand_off.with_live_thread(|| ()), None);
    });
}
