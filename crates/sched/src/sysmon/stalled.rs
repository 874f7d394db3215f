//! Detached threads: threads that lost their core and still run the turn in which they lost it.
//!
//! Sysmon adds a thread when it takes the core from it, and removes it when it finds the turn
//! ended. In between, sysmon acts on the thread only in [`HandOff::with_live_thread`].
//!
//! At every tick sysmon reads the processor time of each detached thread. The kernel then also
//! checks whether other threads should get that thread's processor ([`ThreadId::cpu_time`]).

use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

use purlin_raw::{Slot, ThreadId};

use crate::sync::{Instant, Mutex, MutexGuard};
use crate::sysmon::hand_off::HandOff;
use crate::worker::status::WorkerStatus;

/// Grace period of a detached thread before it is reported and, if it computes, demoted.
///
/// WHY not 0: most long turns end soon, and a demoted thread may wait long for the processor
/// although it has little left to do.
const REPORT_AFTER: Duration = Duration::from_millis(10);
/// Processor time in the turn from which the thread's priority is lowered (`LOWER_AFTER`) or the
/// thread is demoted (`IDLE_AFTER`).
///
/// WHY a threshold: a thread that only waits takes nothing from others. It usually waits for a
/// lock; a lower priority would make it hold the lock longer while other threads wait for it.
const LOWER_AFTER: Duration = Duration::from_micros(250);
const IDLE_AFTER: Duration = Duration::from_millis(2);

/// List of the detached threads.
#[derive(Default)]
pub(crate) struct StalledThreads(Mutex<Vec<StalledThread>>);

struct StalledThread {
    hand_off: Arc<HandOff>,
    cpu_use: CpuUse,
}

/// Processor time and scheduling priority of a detached thread.
struct CpuUse {
    thread: ThreadId,
    /// Whether the priority may be lowered.
    lower: bool,
    priority: Priority,
    /// Processor time used when the turn was first observed, and at the last tick.
    before: Option<Duration>,
    used: Option<Duration>,
}

/// Scheduling priority of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    Normal,
    Lowered,
    Idle,
}

/// What sysmon learns at a tick.
#[derive(Default)]
pub(crate) struct Report {
    /// Processes to report, and since when each has been in its turn.
    pub(crate) to_report: Vec<(Slot, Instant)>,
    /// Whether the grace period of a thread still runs.
    pub(crate) grace: bool,
    /// Number of threads that have used processor time since the last tick.
    pub(crate) computing: usize,
}

impl CpuUse {
    /// Reads the thread's processor time and lowers its priority accordingly, if allowed.
    fn update_priority(&mut self, grace: bool) {
        self.used = self.thread.cpu_time();
        // An unknown time counts as `IDLE_AFTER`.
        let used =
            self.used.zip(self.before).map_or(IDLE_AFTER, |(now, then)| now.saturating_sub(then));
        let due = match used {
            used if used >= IDLE_AFTER && !grace => Priority::Idle,
            used if used >= LOWER_AFTER => Priority::Lowered,
            _ => Priority::Normal,
        };
        if self.lower && due > self.priority {
            self.priority = due;
            match due {
                Priority::Idle => self.thread.set_idle_priority(),
                _ => self.thread.lower_priority(),
            }
        }
    }
}

impl StalledThread {
    /// Updates the thread and adds it to the report. Returns `false` if its turn has ended.
    fn update(&mut self, now: Instant, report: &mut Report) -> bool {
        let Self { hand_off, cpu_use } = self;
        let held = hand_off.with_live_thread(|| {
            let grace = now.duration_since(hand_off.since) < REPORT_AFTER;
            let before = cpu_use.used;
            cpu_use.update_priority(grace);
            hand_off.set_idle_priority(cpu_use.priority == Priority::Idle);
            report.computing += usize::from(cpu_use.used != before);
            report.grace |= grace;
            if !grace && !hand_off.is_reported() {
                hand_off.set_reported();
                report.to_report.push((hand_off.slot, hand_off.since));
            }
        });
        held.is_some()
    }
}

impl StalledThreads {
    fn list(&self) -> MutexGuard<'_, Vec<StalledThread>> {
        // WHY: no code panics while the list is locked, so it is always consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a thread whose core is handed off in a turn that began at `since`; `before` is the
    /// processor time it had used by then. `lower` allows to lower its priority. The caller must ensure that the thread does not end
    /// meanwhile.
    pub(crate) fn add(
        &self,
        status: &WorkerStatus,
        slot: Slot,
        since: Instant,
        before: Option<Duration>,
        lower: bool,
    ) {
        let hand_off = Arc::new(HandOff::new(slot, since));
        let thread = status.thread();
        let mut cpu_use = CpuUse { thread, lower, priority: Priority::Normal, before, used: None };
        cpu_use.update_priority(true);
        let first = status.hand_off.set(Arc::clone(&hand_off));
        debug_assert!(first.is_ok(), "a thread loses one core");
        self.list().push(StalledThread { hand_off, cpu_use });
    }

    /// Updates all detached threads, and has the kernel reconsider their processors.
    ///
    /// Returns an empty report if the list is locked: the lock holder may be a demoted thread that
    /// has no processor, and sysmon must not wait for it.
    ///
    /// COST: one system call per thread.
    pub(crate) fn update(&self, now: Instant) -> Report {
        let mut report = Report::default();
        let mut list = match self.0.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(list)) => list.into_inner(),
            Err(TryLockError::WouldBlock) => return report,
        };
        list.retain_mut(|thread| thread.update(now, &mut report));
        report
    }

    pub(crate) fn count(&self) -> usize {
        self.list().iter().filter(|thread| !thread.hand_off.is_over()).count()
    }

    /// Returns the processes that stall a worker now, and since when.
    pub(crate) fn now(&self) -> Vec<(Slot, Instant)> {
        let list = self.list();
        let records =
            list.iter().map(|thread| &thread.hand_off).filter(|hand_off| !hand_off.is_over());
        records.map(|hand_off| (hand_off.slot, hand_off.since)).collect()
    }
}

#[cfg(all(test, target_os = "linux", not(shuttle)))]
mod tests {
    use std::num::NonZero;
    use std::sync::Arc;
    use std::sync::mpsc::{Sender, TryRecvError, channel};
    use std::thread::JoinHandle;
    use std::time::{Duration, Instant};

    use purlin_raw::Slot;

    use super::{REPORT_AFTER, StalledThreads};
    use crate::worker::core::Core;
    use crate::worker::status::WorkerStatus;

    /// A thread that computes until `wait` is sent to, then blocks until `end` is dropped.
    struct Thread {
        status: Arc<WorkerStatus>,
        wait: Sender<()>,
        end: Sender<()>,
        thread: JoinHandle<()>,
    }

    impl Thread {
        fn computing() -> Self {
            let status = Arc::new(WorkerStatus::new(purlin_raw::revocable(Core::new()).1));
            let (tell, told) = channel();
            let (wait, waits) = channel::<()>();
            let (end, ends) = channel::<()>();
            let own = Arc::clone(&status);
            let thread = std::thread::spawn(move || {
                own.attach();
                tell.send(()).expect("the test waits");
                while waits.try_recv() == Err(TryRecvError::Empty) {
                    std::hint::spin_loop();
                }
                // No value is sent: the thread waits until the sender is dropped.
                let _ = ends.recv();
            });
            told.recv().expect("it begins");
            Self { status, wait, end, thread }
        }

        fn slot(n: u64) -> Slot {
            Slot::from_bits(NonZero::new(n).expect("not nobody's"))
        }
    }

    /// Waits until `holds` returns `true`, with increasing pauses between attempts.
    ///
    /// WHY increasing: between two attempts each computing thread must have run, which takes long
    /// on a busy machine, because a detached thread has a lower priority than others.
    /// WHY a limit in real time: a guard against hanging, a thousand times the usual duration.
    fn until(what: &str, mut holds: impl FnMut() -> bool) {
        let (began, mut pause) = (Instant::now(), Duration::from_millis(1));
        while !holds() {
            assert!(began.elapsed() < purlin_polling::HANG, "waited in vain until {what}");
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_secs(1));
        }
    }

    /// Takes samples at the given time until `expected` threads compute.
    fn until_computing(stalled: &StalledThreads, at: Instant, expected: usize) {
        until(&format!("{expected} compute"), || stalled.update(at).computing == expected);
    }

    // F2: which processes are reported and when; sysmon may rest while detached threads only block
    #[test]
    fn a_sample_reports_computing_threads_and_expired_grace_periods() {
        let stalled = StalledThreads::default();
        let threads = [Thread::computing(), Thread::computing()];
        // WHY: only the origin of the times that the test passes in.
        let began = Instant::now();
        for (thread, n) in threads.iter().zip(1..) {
            stalled.add(&thread.status, Thread::slot(n), began, None, true);
        }
        let before = stalled.update(began);
        assert!(before.grace && before.to_report.is_empty());
        until_computing(&stalled, began, 2);

        let [one, other] = &threads;
        one.wait.send(()).expect("it computes");
        until_computing(&stalled, began, 1);
        let after = stalled.update(began + REPORT_AFTER);
        let all = [(Thread::slot(1), began), (Thread::slot(2), began)];
        assert_eq!((after.grace, after.to_report.as_slice()), (false, &all[..]));
        assert!(stalled.update(began + REPORT_AFTER).to_report.is_empty(), "once");
        other.wait.send(()).expect("it computes");
        until_computing(&stalled, began + REPORT_AFTER, 0);

        let locked = stalled.list();
        std::thread::scope(|scope| {
            // A sample that waited for the lock would never return.
            scope.spawn(|| stalled.update(began)).join().expect("it only looks");
        });
        drop(locked);
        for Thread { status, wait: _, end, thread } in threads {
            status.hand_off.get().expect("it was relieved").end();
            drop(end);
            thread.join().expect("it only waits");
        }
        assert_eq!(stalled.count(), 0);
    }

    /// Returns the niceness and the policy of a thread: fields 19 and 41 of its `stat`, proc(5).
    fn priority_of(status: &WorkerStatus) -> (i32, i32) {
        let path = format!("/proc/self/task/{}/stat", status.thread().number());
        let line = std::fs::read_to_string(path).expect("it has not ended");
        let (_, fields) = line.rsplit_once(')').expect("its name is in brackets");
        let field = |number: usize| fields.split_whitespace().nth(number - 3);
        let number = |at| field(at).and_then(|field| field.parse().ok()).expect("a number");
        (number(19), number(41))
    }

    // F2: a thread that only waits is not demoted
    #[test]
    fn a_computing_thread_is_demoted_and_a_waiting_one_is_not() {
        const IDLE: i32 = 5;
        let stalled = StalledThreads::default();
        let [computes, waits] = [Thread::computing(), Thread::computing()];
        waits.wait.send(()).expect("it computes");
        // WHY: only the origin of the sample times.
        let began = Instant::now();
        until("one waits", || waits.status.thread().is_blocked());
        let usual = priority_of(&waits.status);
        for (thread, n) in [&computes, &waits].into_iter().zip(1..) {
            stalled.add(
                &thread.status,
                Thread::slot(n),
                began,
                thread.status.thread().cpu_time(),
                true,
            );
        }
        let mut news = 0;
        until("the one that computes is put last", || {
            news += stalled.update(began + REPORT_AFTER).to_report.len();
            priority_of(&computes.status).1 == IDLE
        });
        assert_eq!(news, 2, "both are told of");
        assert_eq!(priority_of(&waits.status), usual);
        for Thread { status, wait, end, thread } in [computes, waits] {
            status.hand_off.get().expect("it was relieved").end();
            drop((wait.send(()), end));
            thread.join().expect("it only waits");
        }
    }
}
