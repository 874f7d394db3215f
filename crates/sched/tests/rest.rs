//! A scheduler with nothing to do is at rest: its monitor too.

use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use purlin_raw::{Runnable, Slot};
use purlin_sched::{Above, Alarm, Scheduler, Stopped};

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

/// Waits until the monitor rests and has looked at least so often; says how often.
fn rests(scheduler: &Scheduler, looked: u64) -> u64 {
    let began = Instant::now();
    loop {
        let (looks, rests) = scheduler.watch();
        if rests && looks >= looked {
            return looks;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it never rests");
        std::thread::yield_now();
    }
}

#[test]
fn the_monitor_looks_no_more_when_all_have_slept_for_a_while() {
    let [idle, other] = [2, 1].map(|workers| {
        let scheduler = Scheduler::new(workers);
        scheduler.start("rest", Arc::new(Nobody)).expect("threads start");
        scheduler
    });
    let (looks, others) = (rests(&idle, 0), rests(&other, 0));
    // A timer wakes the other one's worker, so its monitor looks again before it rests.
    other.timers().wheel(0).set(Duration::from_millis(1), Alarm::Wake(Waker::noop().clone()));
    rests(&other, others + 20);
    assert_eq!(idle.watch(), (looks, true));
    assert_eq!(idle.threads(), 3, "two workers and the monitor");
    for scheduler in [idle, other] {
        assert_eq!(scheduler.stop(Duration::from_secs(20)), Stopped::All);
        assert_eq!(scheduler.threads(), 0);
    }
}
