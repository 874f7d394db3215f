//! A scheduler with nothing to do is at rest: its monitor too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use purlin_raw::{Runnable, Slot};
use purlin_sched::{Above, Scheduler, Stopped};

/// A layer above that has no processes.
struct Nobody;

impl Above for Nobody {
    fn thread(&self, _: usize, run: &mut dyn FnMut()) {
        run();
    }

    fn offload(&self, _: Runnable) {}

    fn hogging(&self, _: Slot, _: Instant) {}

    fn over(&self, _: Slot, _: Duration) {}

    fn helpless(&self, _: &str) {}
}

#[test]
fn the_monitor_looks_no_more_when_all_have_slept_for_a_while() {
    let scheduler = Scheduler::new(2);
    scheduler.start("rest", Arc::new(Nobody)).expect("threads start");
    let began = Instant::now();
    while !scheduler.watch().1 {
        assert!(began.elapsed() < Duration::from_secs(20), "it never rests");
        std::thread::yield_now();
    }
    let ticks = scheduler.watch().0;
    // CLOCK: the real one, which is what a monitor that does not rest would look at.
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(scheduler.watch(), (ticks, true));
    assert_eq!(scheduler.threads(), 3, "two workers and the monitor");
    assert_eq!(scheduler.stop(Duration::from_secs(20)), Stopped::All);
    assert_eq!(scheduler.threads(), 0);
}
