//! An idle scheduler is at rest, including sysmon.

use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use purlin_polling::{HANG, until};
use purlin_raw::{Runnable, Slot};
use purlin_sched::{Above, Alarm, Scheduler, Stopped};

/// Layer above without processes.
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

/// Wakes a worker of a scheduler until its sysmon has made 20 more ticks.
///
/// WHY repeatedly: if sysmon does not see the worker awake, it rests after fewer ticks.
fn looks_again(scheduler: &Scheduler) {
    let (before, _) = scheduler.watch();
    until("the monitor that is roused looks", || {
        let waker = Waker::noop().clone();
        scheduler.timers().wheel(0).set(Duration::from_millis(1), Alarm::Wake(waker));
        scheduler.watch().0 >= before + 20
    });
}

#[test]
fn a_resting_sysmon_makes_no_ticks_while_an_active_one_does() {
    let [idle, other] = [2, 1].map(|workers| {
        let scheduler = Scheduler::new(workers);
        scheduler.start("rest", Arc::new(Nobody)).expect("threads start");
        scheduler
    });
    // WHY repeatedly: the time until sysmon rests depends on the machine. A sysmon that does not
    // rest ticks at least once in nearly every round.
    until("one rests while the other looks", || {
        let before = idle.watch();
        looks_again(&other);
        before.1 && idle.watch() == before
    });
    until("only two workers and the monitor are left", || idle.threads() == 3);
    until("the other one rests too", || other.watch().1);
    for scheduler in [idle, other] {
        assert_eq!(scheduler.stop(HANG), Stopped::All);
        assert_eq!(scheduler.threads(), 0);
    }
}
