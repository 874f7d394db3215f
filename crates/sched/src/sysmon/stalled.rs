//! Detached threads: threads that lost their core and still run the turn in which they lost it.
//!
//! Sysmon adds a thread when it takes the core from it, and removes it when it finds the turn
//! ended. In between, sysmon acts on the thread only in [`HandOff::with_live_thread`]. The list is
//! sysmon's own; other threads read a copy of its records ([`HandOffs`]).
//!
//! At every tick sysmon reads the processor time of each detached thread. The kernel then also
//! checks whether other threads should get that thread's processor ([`ThreadId::cpu_time`]).

use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

use purlin_raw::Slot;

use crate::sync::{Instant, Mutex, MutexGuard};
use crate::sysmon::hand_off::HandOff;
use crate::worker::status::WorkerStatus;

/// Grace period of a detached thread before it is reported.
const REPORT_AFTER: Duration = Duration::from_millis(10);
/// Processor time in the turn from which the thread's priority is lowered.
///
/// WHY a threshold: a thread that only waits takes nothing from others. It usually waits for a
/// lock; a lower priority would make it hold the lock longer while other threads wait for it.
const LOWER_AFTER: Duration = Duration::from_micros(250);

/// Processor time since the last tick from which a thread counts as computing.
const MIN_RUN: Duration = Duration::from_micros(50);

/// Returns whether a thread has run for [`MIN_RUN`] between two readings of its processor time, or
/// since it started.
pub(crate) fn has_run(before: Option<Duration>, now: Option<Duration>) -> bool {
    now.is_some_and(|now| now.saturating_sub(before.unwrap_or_default()) >= MIN_RUN)
}

/// Records of the detached threads, for any thread to read.
#[derive(Default)]
pub(crate) struct HandOffs(Mutex<Vec<Arc<HandOff>>>);

/// List of the detached threads.
#[derive(Default)]
pub(crate) struct StalledThreads {
    threads: Vec<StalledThread>,
    /// Whether [`HandOffs`] has to be updated.
    changed: bool,
}

/// A thread that lost its core, and its processor time.
struct StalledThread {
    hand_off: Arc<HandOff>,
    status: Arc<WorkerStatus>,
    /// Whether the priority is still to be lowered when the thread computes.
    lower: bool,
    /// Processor time used when the turn was first observed, and at the last tick.
    before: Option<Duration>,
    used: Option<Duration>,
    /// Whether it has run since the last tick (`crowd`).
    computes: bool,
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

impl StalledThread {
    /// Reads the thread's processor time, and lowers its priority if it computes.
    fn update_priority(&mut self) {
        let thread = self.status.thread();
        self.used = thread.cpu_time();
        let used = self.used.zip(self.before).map(|(now, then)| now.saturating_sub(then));
        // A thread whose time is unknown counts as computing.
        if self.lower && used.is_none_or(|used| used >= LOWER_AFTER) {
            self.lower = false;
            thread.lower_priority();
        }
    }

    /// Updates the thread and adds it to the report. Returns `false` if its turn has ended.
    fn update(&mut self, now: Instant, report: &mut Report) -> bool {
        let hand_off = Arc::clone(&self.hand_off);
        let held = hand_off.with_live_thread(|| {
            let before = self.used;
            self.update_priority();
            report.computing += usize::from(self.used != before);
            let computes = has_run(before, self.used);
            if std::mem::replace(&mut self.computes, computes) && !computes {
                self.status.cancel_yield();
            }
            let grace = now - hand_off.since < REPORT_AFTER;
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
    /// Adds a thread whose core is handed off in a turn that began at `since`; `before` is the
    /// processor time it had used by then. `lower` allows to lower its priority. The caller must
    /// ensure that the thread does not end meanwhile.
    pub(crate) fn add(
        &mut self,
        status: &Arc<WorkerStatus>,
        slot: Slot,
        since: Instant,
        before: Option<Duration>,
        lower: bool,
    ) {
        let hand_off = Arc::new(HandOff::new(slot, since));
        let first = status.hand_off.set(Arc::clone(&hand_off));
        debug_assert!(first.is_ok(), "a thread loses one core");
        let status = Arc::clone(status);
        let mut added =
            StalledThread { hand_off, status, lower, before, used: None, computes: true };
        added.update_priority();
        self.threads.push(added);
        self.changed = true;
    }

    /// Updates all detached threads, and has the kernel reconsider their processors.
    ///
    /// COST: one system call per thread.
    pub(crate) fn update(&mut self, now: Instant) -> Report {
        let (mut report, before) = (Report::default(), self.len());
        self.threads.retain_mut(|thread| thread.update(now, &mut report));
        self.changed |= self.len() < before;
        report
    }

    /// Returns the threads that have run since the last tick.
    pub(crate) fn computing(&self) -> impl Iterator<Item = &WorkerStatus> {
        self.threads.iter().filter(|thread| thread.computes).map(|thread| &*thread.status)
    }

    /// Copies the records for other threads. If one of them is reading, the next call does it.
    ///
    /// WHY sysmon does not wait: the reader may be a detached thread of a lower priority.
    pub(crate) fn publish(&mut self, hand_offs: &HandOffs) {
        if !self.changed {
            return;
        }
        let mut list = match hand_offs.0.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(list)) => list.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.changed = false;
        list.clear();
        list.extend(self.threads.iter().map(|thread| Arc::clone(&thread.hand_off)));
    }

    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }
}

impl HandOffs {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<HandOff>>> {
        // WHY: no code panics while the list is locked, so it is always consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the processes that stall a worker now, and since when.
    pub(crate) fn now(&self) -> Vec<(Slot, Instant)> {
        let list = self.list();
        let records = list.iter().filter(|hand_off| !hand_off.is_over());
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

    use super::{HandOffs, REPORT_AFTER, StalledThreads, has_run};
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
            let (tx, rx) = channel();
            let (wait, waits) = channel::<()>();
            let (end, ends) = channel::<()>();
            let own = Arc::clone(&status);
            let thread = std::thread::spawn(move || {
                own.attach(false);
                tx.send(()).expect("the test waits");
                while waits.try_recv() == Err(TryRecvError::Empty) {
                    std::hint::spin_loop();
                }
                // No value is sent: the thread waits until the sender is dropped.
                let _ = ends.recv();
            });
            rx.recv().expect("it begins");
            Self { status, wait, end, thread }
        }

        fn slot(n: u64) -> Slot {
            Slot::from_bits(NonZero::new(n).expect("not 0"))
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
    fn until_computing(stalled: &mut StalledThreads, at: Instant, expected: usize) {
        until(&format!("{expected} compute"), || stalled.update(at).computing == expected);
    }

    #[test]
    fn a_thread_has_run_from_a_minimum_of_processor_time_on() {
        let micros = |micros| Some(Duration::from_micros(micros));
        assert!(has_run(micros(100), micros(150)) && !has_run(micros(100), micros(149)));
        assert!(has_run(None, micros(50)) && !has_run(None, micros(49)));
        assert!(!has_run(micros(100), None) && !has_run(None, None));
    }

    // F2: which processes are reported and when; sysmon may rest while detached threads only block
    #[test]
    fn a_sample_reports_computing_threads_and_expired_grace_periods() {
        let mut stalled = StalledThreads::default();
        let threads = [Thread::computing(), Thread::computing()];
        // WHY: only the origin of the times that the test passes in.
        let began = Instant::now();
        for (thread, n) in threads.iter().zip(1..) {
            stalled.add(&thread.status, Thread::slot(n), began, None, true);
        }
        let before = stalled.update(began);
        assert!(before.grace && before.to_report.is_empty());
        until_computing(&mut stalled, began, 2);

        let [one, other] = &threads;
        one.wait.send(()).expect("it computes");
        until_computing(&mut stalled, began, 1);
        let after = stalled.update(began + REPORT_AFTER);
        let all = [(Thread::slot(1), began), (Thread::slot(2), began)];
        assert_eq!((after.grace, after.to_report.as_slice()), (false, &all[..]));
        assert!(stalled.update(began + REPORT_AFTER).to_report.is_empty(), "once");
        other.wait.send(()).expect("it computes");
        until_computing(&mut stalled, began + REPORT_AFTER, 0);

        let hand_offs = HandOffs::default();
        let locked = hand_offs.list();
        std::thread::scope(|scope| {
            // A publication that waited for the lock would never return.
            scope.spawn(|| stalled.publish(&hand_offs)).join().expect("it only copies");
        });
        drop(locked);
        assert!(hand_offs.now().is_empty());
        stalled.publish(&hand_offs);
        assert_eq!(hand_offs.now(), all);
        for Thread { status, wait: _, end, thread } in threads {
            status.hand_off.get().expect("its core was handed off").end();
            drop(end);
            thread.join().expect("it only waits");
        }
        assert!(hand_offs.now().is_empty());
        stalled.update(began);
        assert!(stalled.is_empty());
    }

    /// Returns the niceness of a thread: field 19 of its `stat`, proc(5).
    fn niceness_of(status: &WorkerStatus) -> i32 {
        let path = format!("/proc/self/task/{}/stat", status.thread().number());
        let line = std::fs::read_to_string(path).expect("it has not ended");
        let (_, fields) = line.rsplit_once(')').expect("its name is in brackets");
        fields.split_whitespace().nth(19 - 3).and_then(|it| it.parse().ok()).expect("a number")
    }

    // F2: a thread that only waits keeps its priority
    #[test]
    fn a_computing_thread_is_lowered_and_a_waiting_one_is_not() {
        let mut stalled = StalledThreads::default();
        let [computes, waits] = [Thread::computing(), Thread::computing()];
        waits.wait.send(()).expect("it computes");
        // WHY: only the origin of the sample times.
        let began = Instant::now();
        until("one waits", || waits.status.thread().is_blocked());
        let usual = niceness_of(&waits.status);
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
        until("the one that computes is lowered", || {
            news += stalled.update(began + REPORT_AFTER).to_report.len();
            niceness_of(&computes.status) == 19.min(usual + 10)
        });
        assert_eq!(news, 2, "both are reported");
        assert_eq!(niceness_of(&waits.status), usual);
        for Thread { status, wait, end, thread } in [computes, waits] {
            status.hand_off.get().expect("its core was handed off").end();
            drop((wait.send(()), end));
            thread.join().expect("it only waits");
        }
    }
}
