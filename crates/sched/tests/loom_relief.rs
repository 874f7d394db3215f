//! Model of a relieved thread that ends while the monitor has the kernel do something to it.
//!
//! The thread's number is a variable here, which is another's once the thread has ended.
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
use purlin_sched::model::Relief;

const OWN: u32 = 1;
const REUSED: u32 = 2;

struct World {
    relief: Relief,
    number: AtomicU32,
}

// F2: a hog's thread is not mistaken for another
#[test]
fn a_thread_does_not_end_while_it_is_held_and_is_not_held_once_it_has_ended() {
    model(|| {
        let slot = Slot::from_bits(NonZero::new(1).expect("not nobody's"));
        let world = Arc::new(World {
            // WHY: a field that the model does not read.
            relief: Relief::new(slot, Instant::now()),
            number: AtomicU32::new(OWN),
        });
        let monitor = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                for _ in 0..2 {
                    // Twice, since it must not end in between either.
                    let number = || [(); 2].map(|()| world.number.load(Ordering::Relaxed));
                    let seen = world.relief.hold(number);
                    assert!(seen.is_none_or(|numbers| numbers == [OWN; 2]), "it had ended");
                }
            }
        });
        world.relief.end();
        world.number.store(REUSED, Ordering::Relaxed);
        monitor.join().expect("it has seen nothing wrong");
        assert_eq!(world.relief.hold(|| ()), None);
    });
}
