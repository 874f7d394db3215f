//! Detached threads: threads that lost their core and still run the turn in which they lost it.
//!
//! Sysmon adds a thread when it takes the core from it, and removes it when it finds the turn
//! ended. In between, sysmon acts on the thread only while it [holds](Relief::hold) it.
//!
//! At every tick sysmon reads the processor time of each detached thread. The kernel then also
//! checks whether other threads should get that thread's processor ([`ThreadId::time_used`]).

use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

use purlin_raw::{Slot, ThreadId};

use crate::relief::Relief;
use crate::seat::Seat;
use crate::sync::{Instant, Mutex, MutexGuard};

/// Grace period of a detached thread before it is reported and, if it computes, demoted.
///
/// WHY not 0: most long turns end soon, and a demoted thread may wait long for the processor
/// although it has little left to do.
const MERCY: Duration = Duration::from_millis(10);
/// Processor time in the turn from which the thread's priority is lowered (`SOME`) or demoted
/// (`MUCH`).
///
/// WHY a threshold: a thread that only waits takes nothing from others. It usually waits for a
/// lock; a lower priority would make it hold the lock longer while other threads wait for it.
const SOME: Duration = Duration::from_micros(250);
const MUCH: Duration = Duration::from_millis(2);

/// List of the detached threads.
#[derive(Default)]
pub(crate) struct Hogs(Mutex<Vec<Hog>>);

struct Hog {
    relief: Arc<Relief>,
    standing: Standing,
}

/// A detached thread as the kernel schedules it.
struct Standing {
    thread: ThreadId,
    rank: Rank,
    /// Processor time used when the turn was first observed, and at the last tick.
    before: Option<Duration>,
    used: Option<Duration>,
}

/// Scheduling priority of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Usual,
    Lowered,
    Last,
}

/// What sysmon learns at a tick.
#[derive(Default)]
pub(crate) struct Report {
    /// Processes to report, and since when each has been in its turn.
    pub(crate) news: Vec<(Slot, Instant)>,
    /// Whether the grace period of a thread still runs.
    pub(crate) mercy: bool,
    /// Number of threads that have used processor time since the last tick.
    pub(crate) computing: usize,
}

impl Standing {
    /// Reads the thread's processor time and lowers its priority accordingly.
    fn settle(&mut self, mercy: bool) {
        self.used = self.thread.time_used();
        // An unknown time counts as `MUCH`.
        let used = self.used.zip(self.before).map_or(MUCH, |(now, then)| now.saturating_sub(then));
        let due = match used {
            used if used >= MUCH && !mercy => Rank::Last,
            used if used >= SOME => Rank::Lowered,
            _ => Rank::Usual,
        };
        if due > self.rank {
            self.rank = due;
            match due {
                Rank::Last => self.thread.demote(),
                _ => self.thread.lower(),
            }
        }
    }
}

impl Hog {
    /// Updates the thread and adds it to the report. Returns `false` if its turn has ended.
    fn look(&mut self, now: Instant, report: &mut Report) -> bool {
        let Self { relief, standing } = self;
        let held = relief.hold(|| {
            let mercy = now.duration_since(relief.since) < MERCY;
            let before = standing.used;
            standing.settle(mercy);
            relief.set_last(standing.rank == Rank::Last);
            report.computing += usize::from(standing.used != before);
            report.mercy |= mercy;
            if !mercy && !relief.told() {
                relief.tell();
                report.news.push((relief.slot, relief.since));
            }
        });
        held.is_some()
    }
}

impl Hogs {
    fn list(&self) -> MutexGuard<'_, Vec<Hog>> {
        // WHY: no code panics while the list is locked, so it is always consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a thread whose core is handed off in a turn that began at `since`; `before` is the
    /// processor time it had used by then. The caller must ensure that the thread does not end
    /// meanwhile.
    pub(crate) fn add(&self, seat: &Seat, slot: Slot, since: Instant, before: Option<Duration>) {
        let relief = Arc::new(Relief::new(slot, since));
        let thread = seat.thread();
        let mut standing = Standing { thread, rank: Rank::Usual, before, used: None };
        standing.settle(true);
        let first = seat.relief.set(Arc::clone(&relief));
        debug_assert!(first.is_ok(), "a thread has one post to lose");
        self.list().push(Hog { relief, standing });
    }

    /// Updates all detached threads, and has the kernel reconsider their processors.
    ///
    /// Returns an empty report if the list is locked: the lock holder may be a demoted thread that
    /// has no processor, and sysmon must not wait for it.
    ///
    /// COST: one system call per thread.
    pub(crate) fn look(&self, now: Instant) -> Report {
        let mut report = Report::default();
        let mut list = match self.0.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(list)) => list.into_inner(),
            Err(TryLockError::WouldBlock) => return report,
        };
        list.retain_mut(|hog| hog.look(now, &mut report));
        report
    }

    pub(crate) fn count(&self) -> usize {
        self.list().iter().filter(|hog| !hog.relief.is_over()).count()
    }

    /// Returns the processes that stall a worker now, and since when.
    pub(crate) fn now(&self) -> Vec<(Slot, Instant)> {
        let list = self.list();
        let reliefs = list.iter().map(|hog| &hog.relief).filter(|relief| !relief.is_over());
        reliefs.map(|relief| (relief.slot, relief.since)).collect()
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

    use super::{Hogs, MERCY};
    use crate::post::Post;
    use crate::seat::Seat;

    /// A thread that computes until `wait` is sent to, then blocks until `end` is dropped.
    struct Thread {
        seat: Arc<Seat>,
        wait: Sender<()>,
        end: Sender<()>,
        thread: JoinHandle<()>,
    }

    impl Thread {
        fn computing() -> Self {
            let seat = Arc::new(Seat::new(purlin_raw::biased(Post::new()).1));
            let (tell, told) = channel();
            let (wait, waits) = channel::<()>();
            let (end, ends) = channel::<()>();
            let own = Arc::clone(&seat);
            let thread = std::thread::spawn(move || {
                own.sit_down();
                tell.send(()).expect("the test waits");
                while waits.try_recv() == Err(TryRecvError::Empty) {
                    std::hint::spin_loop();
                }
                // No value is sent: the thread waits until the sender is dropped.
                let _ = ends.recv();
            });
            told.recv().expect("it begins");
            Self { seat, wait, end, thread }
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
    fn until_computing(hogs: &Hogs, at: Instant, expected: usize) {
        until(&format!("{expected} compute"), || hogs.look(at).computing == expected);
    }

    // F2: which processes are reported and when; sysmon may rest while detached threads only block
    #[test]
    fn a_sample_reports_computing_threads_and_expired_grace_periods() {
        let hogs = Hogs::default();
        let threads = [Thread::computing(), Thread::computing()];
        // WHY: only the origin of the times that the test passes in.
        let began = Instant::now();
        for (thread, n) in threads.iter().zip(1..) {
            hogs.add(&thread.seat, Thread::slot(n), began, None);
        }
        let before = hogs.look(began);
        assert!(before.mercy && before.news.is_empty());
        until_computing(&hogs, began, 2);

        let [one, other] = &threads;
        one.wait.send(()).expect("it computes");
        until_computing(&hogs, began, 1);
        let after = hogs.look(began + MERCY);
        let all = [(Thread::slot(1), began), (Thread::slot(2), began)];
        assert_eq!((after.mercy, after.news.as_slice()), (false, &all[..]));
        assert!(hogs.look(began + MERCY).news.is_empty(), "once");
        other.wait.send(()).expect("it computes");
        until_computing(&hogs, began + MERCY, 0);

        let locked = hogs.list();
        std::thread::scope(|scope| {
            // A sample that waited for the lock would never return.
            scope.spawn(|| hogs.look(began)).join().expect("it only looks");
        });
        drop(locked);
        for Thread { seat, wait: _, end, thread } in threads {
            seat.relief.get().expect("it was relieved").end();
            drop(end);
            thread.join().expect("it only waits");
        }
        assert_eq!(hogs.count(), 0);
    }

    /// Returns the niceness and the policy of a thread: fields 19 and 41 of its `stat`, proc(5).
    fn rank_of(seat: &Seat) -> (i32, i32) {
        let path = format!("/proc/self/task/{}/stat", seat.thread().number());
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
        let hogs = Hogs::default();
        let [computes, waits] = [Thread::computing(), Thread::computing()];
        waits.wait.send(()).expect("it computes");
        // WHY: only the origin of the sample times.
        let began = Instant::now();
        until("one waits", || waits.seat.thread().is_blocked());
        let usual = rank_of(&waits.seat);
        for (thread, n) in [&computes, &waits].into_iter().zip(1..) {
            hogs.add(&thread.seat, Thread::slot(n), began, thread.seat.thread().time_used());
        }
        let mut news = 0;
        until("the one that computes is put last", || {
            news += hogs.look(began + MERCY).news.len();
            rank_of(&computes.seat).1 == IDLE
        });
        assert_eq!(news, 2, "both are told of");
        assert_eq!(rank_of(&waits.seat), usual);
        for Thread { seat, wait, end, thread } in [computes, waits] {
            seat.relief.get().expect("it was relieved").end();
            drop((wait.send(()), end));
            thread.join().expect("it only waits");
        }
    }
}
