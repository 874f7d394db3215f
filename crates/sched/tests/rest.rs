//! An idle scheduler is at rest, including sysmon.

use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use purlin_polling::{HANG, until};
use purlin_raw::{Runnable, Slot};
use purlin_sched::{Hooks, Scheduler, Stopped, TimerAction};

/// Hooks of a scheduler without processes.
struct NoProcesses;

impl Hooks for NoProcesses {
    fn thread(&self, _: usize, run: &mut dyn FnMut()) {
        run();
    }

    fn offload(&self, _: Runnable) {}

    fn stalled(&self, _: Slot, _: Instant) {}

    fn stall_ended(&self, _: Slot, _: Duration) {}

    fn threads_exhausted(&self, _: &str) {}
}

/// Wakes a worker of a scheduler until its sysmon has made 20 more ticks.
///
/// WHY repeatedly: if sysmon does not see the worker awake, it rests after fewer ticks.
fn wait_for_ticks(scheduler: &Scheduler) {
    let (before, _) = scheduler.sysmon_ticks();
    until("the monitor that is roused looks", || {
        let waker = Waker::noop().clone();
        scheduler.timers().wheel(0).set(Duration::from_millis(1), TimerAction::Wake(waker));
        scheduler.sysmon_ticks().0 >= before + 20
    });
}

#[test]
fn a_resting_sysmon_makes_no_ticks_while_an_active_one_does() {
    let [idle, other] = [2, 1].map(|workers| {
        let scheduler = Scheduler::new(workers);
        scheduler.start("rest", Arc::new(NoProcesses)).expect("threads start");
        scheduler
    });
    // WHY repeatedly: the time until sysmon rests depends on the machine. A sysmon that does not
    // rest ticks at least once in nearly every round.
    until("one rests while the other looks", || {
        let before = idle.sysmon_ticks();
        wait_for_ticks(&other);
        before.1 && idle.sysmon_ticks() == before
    });
    until("only two workers and the monitor are left", || idle.threads() == 3);
    until("the other one rests too", || other.sysmon_ticks().1);
    for scheduler in [idle, other] {
        assert_eq!(scheduler.stop(HANG), Stopped::All);
        assert_eq!(scheduler.threads(), 0);
    }
}
