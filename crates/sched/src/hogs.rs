//! The threads that were relieved of their posts and are still in the turn they were relieved in.
//!
//! The monitor adds a thread while it takes the post from it, so that the thread, which finds out
//! after that, finds itself here; the thread takes itself off before it ends. So whoever is in the
//! list lives, and its number is its own.
//!
//! As long as a thread is in the list the monitor asks at each look what processor time it has used.
//! For the kernel that is the occasion to let those run who wait for that processor
//! ([`purlin_raw::ThreadId::time_used`]).

use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

use purlin_raw::Slot;

use crate::seat::Seat;
use crate::sync::{Instant, Mutex, MutexGuard};

/// How long a relieved thread may go on before it is told of, and put last if it computes.
///
/// WHY not at once: most turns that are too long are over soon, and a thread that was put last may
/// have to wait long for what little it had left to do.
const MERCY: Duration = Duration::from_millis(10);
/// The processor time it uses before it counts less than others, and before it is put last.
///
/// WHY any: a thread that only waits takes nothing from others. As a rule it waits for a lock, and what
/// it does with that would take so much longer, while all who want the lock wait too.
const SOME: Duration = Duration::from_micros(250);
const MUCH: Duration = Duration::from_millis(2);

/// The threads that were relieved and are still in that turn.
#[derive(Default)]
pub(crate) struct Hogs(Mutex<Vec<Hog>>);

pub(crate) struct Hog {
    seat: Arc<Seat>,
    pub(crate) slot: Slot,
    pub(crate) since: Instant,
    /// It has been told of.
    pub(crate) told: bool,
    rank: Rank,
    /// The processor time it had used when it was relieved, and at the last look.
    before: Option<Duration>,
    used: Option<Duration>,
}

/// How much a thread counts for the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Usual,
    Lowered,
    Last,
}

/// What the monitor learns at a look.
#[derive(Default)]
pub(crate) struct Report {
    /// Who is to be told of, and since when it is in its turn.
    pub(crate) news: Vec<(Slot, Instant)>,
    /// Somebody's mercy is still running.
    pub(crate) mercy: bool,
    /// How many have used processor time since the last look.
    pub(crate) computing: usize,
}

impl Hog {
    /// Has the kernel treat it as it deserves by now.
    fn settle_rank(&mut self, mercy: bool) {
        // What is not known is taken for much.
        let used = self.used.zip(self.before).map_or(MUCH, |(now, then)| now.saturating_sub(then));
        let due = match used {
            used if used >= MUCH && !mercy => Rank::Last,
            used if used >= SOME => Rank::Lowered,
            _ => Rank::Usual,
        };
        if due > self.rank {
            self.rank = due;
            match due {
                Rank::Last => self.seat.thread().demote(),
                _ => self.seat.thread().lower(),
            }
        }
    }
}

impl Hogs {
    fn list(&self) -> MutexGuard<'_, Vec<Hog>> {
        // WHY: nothing can panic while the list is locked, so it is never half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread is relieved, which `computes` or only waits.
    pub(crate) fn add(&self, seat: &Arc<Seat>, slot: Slot, since: Instant, computes: bool) {
        let rank = if computes { Rank::Lowered } else { Rank::Usual };
        if computes {
            seat.thread().lower();
        }
        let (seat, before) = (Arc::clone(seat), seat.thread().time_used());
        self.list().push(Hog { seat, slot, since, told: false, rank, before, used: None });
    }

    /// The thread's turn is over.
    pub(crate) fn remove(&self, seat: &Arc<Seat>) -> Option<Hog> {
        let mut list = self.list();
        let at = list.iter().position(|hog| Arc::ptr_eq(&hog.seat, seat))?;
        Some(list.swap_remove(at))
    }

    /// Sees whose mercy has run out and who has computed, and has the kernel look at each.
    ///
    /// An empty report if the list is locked: whoever has it was perhaps put last and has no
    /// processor, and a look does not wait for that.
    ///
    /// COST: a system call for each.
    pub(crate) fn look(&self, now: Instant) -> Report {
        let mut report = Report::default();
        let mut list = match self.0.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(list)) => list.into_inner(),
            Err(TryLockError::WouldBlock) => return report,
        };
        for hog in list.iter_mut() {
            if !hog.told && now.duration_since(hog.since) >= MERCY {
                hog.told = true;
                report.news.push((hog.slot, hog.since));
            }
            report.mercy |= !hog.told;
            let used = hog.seat.thread().time_used();
            report.computing += usize::from(used != hog.used);
            hog.used = used;
            hog.settle_rank(!hog.told);
        }
        report
    }

    pub(crate) fn count(&self) -> usize {
        self.list().len()
    }

    /// Who hogs now, and since when.
    pub(crate) fn now(&self) -> Vec<(Slot, Instant)> {
        self.list().iter().map(|hog| (hog.slot, hog.since)).collect()
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

    /// A thread that computes until it is told to wait, and waits until it is let go.
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
                // Nothing is sent: it waits for the end of the sender.
                let _ = ends.recv();
            });
            told.recv().expect("it begins");
            Self { seat, wait, end, thread }
        }

        fn slot(n: u64) -> Slot {
            Slot::from_bits(NonZero::new(n).expect("not nobody's"))
        }
    }

    /// Looks, as at that time, until so many compute.
    fn until_computing(hogs: &Hogs, at: Instant, expected: usize) {
        let began = Instant::now();
        loop {
            let report = hogs.look(at);
            if report.computing == expected {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{}", report.computing);
            std::thread::yield_now();
        }
    }

    // F2: who is told of and when, and the monitor may rest when hogs block
    #[test]
    fn a_look_tells_who_computes_and_whose_mercy_is_over() {
        let hogs = Hogs::default();
        let threads = [Thread::computing(), Thread::computing()];
        let began = Instant::now();
        for (thread, n) in threads.iter().zip(1..) {
            hogs.add(&thread.seat, Thread::slot(n), began, true);
        }
        // At the first look nothing is known of what they had used.
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
            // It would not come to an end if it waited.
            scope.spawn(|| hogs.look(began)).join().expect("it only looks");
        });
        drop(locked);
        for Thread { seat, wait: _, end, thread } in threads {
            assert!(hogs.remove(&seat).is_some());
            drop(end);
            thread.join().expect("it only waits");
        }
        assert_eq!(hogs.count(), 0);
    }

    /// The niceness of a thread and its policy: fields 19 and 41 of its `stat`, proc(5).
    fn rank_of(seat: &Seat) -> (i32, i32) {
        let path = format!("/proc/self/task/{}/stat", seat.thread().number());
        let line = std::fs::read_to_string(path).expect("it has not ended");
        let (_, fields) = line.rsplit_once(')').expect("its name is in brackets");
        let field = |number: usize| fields.split_whitespace().nth(number - 3);
        let number = |at| field(at).and_then(|field| field.parse().ok()).expect("a number");
        (number(19), number(41))
    }

    // F2: who only waits does not come last for what it waits for
    #[test]
    fn a_thread_that_computes_is_put_last_and_one_that_waits_is_not() {
        const IDLE: i32 = 5;
        let hogs = Hogs::default();
        let [computes, waits] = [Thread::computing(), Thread::computing()];
        waits.wait.send(()).expect("it computes");
        let began = Instant::now();
        while !waits.seat.thread().is_blocked() {
            assert!(began.elapsed() < Duration::from_secs(20), "it does not wait");
            std::thread::yield_now();
        }
        let usual = rank_of(&waits.seat);
        for (thread, n) in [&computes, &waits].into_iter().zip(1..) {
            hogs.add(&thread.seat, Thread::slot(n), began, false);
        }
        let mut news = 0;
        while rank_of(&computes.seat).1 != IDLE {
            news += hogs.look(began + MERCY).news.len();
            assert!(began.elapsed() < Duration::from_secs(20), "it is not put last");
        }
        assert_eq!(news, 2, "both are told of");
        assert_eq!(rank_of(&waits.seat), usual);
        for Thread { seat, wait, end, thread } in [computes, waits] {
            assert!(hogs.remove(&seat).is_some());
            drop((wait.send(()), end));
            thread.join().expect("it only waits");
        }
    }
}
