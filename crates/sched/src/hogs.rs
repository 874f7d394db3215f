//! The threads that were relieved of their posts and are still in the turn they were relieved in.
//!
//! The monitor adds a thread while it takes the post from it, and drops it when it finds that the turn
//! is over; in between it does something to the thread only while it [holds](Relief::hold) it.
//!
//! As long as a thread is in its turn the monitor asks at each look what processor time it has used.
//! For the kernel that is the occasion to let those run who wait for that processor
//! ([`ThreadId::time_used`]).

use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

use purlin_raw::{Slot, ThreadId};

use crate::relief::Relief;
use crate::seat::Seat;
use crate::sync::{Instant, Mutex, MutexGuard};

/// How long a relieved thread may go on before it is told of, and put last if it computes.
///
/// WHY not at once: most turns that are too long are over soon, and a thread that was put last may
/// have to wait long for what little it had left to do.
const MERCY: Duration = Duration::from_millis(10);
/// The processor time it uses in the turn before it counts less than others, and before it is put last.
///
/// WHY any: a thread that only waits takes nothing from others. As a rule it waits for a lock, and what
/// it does with that would take so much longer, while all who want the lock wait too.
const SOME: Duration = Duration::from_micros(250);
const MUCH: Duration = Duration::from_millis(2);

/// The threads that were relieved and are still in that turn.
#[derive(Default)]
pub(crate) struct Hogs(Mutex<Vec<Hog>>);

struct Hog {
    relief: Arc<Relief>,
    standing: Standing,
}

/// How a thread stands with the kernel.
struct Standing {
    thread: ThreadId,
    rank: Rank,
    /// The processor time it had used when its turn began, as far as was seen, and at the last look.
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

impl Standing {
    /// Has the kernel look at the thread, and treat it as it deserves by now.
    fn settle(&mut self, mercy: bool) {
        self.used = self.thread.time_used();
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
                Rank::Last => self.thread.demote(),
                _ => self.thread.lower(),
            }
        }
    }
}

impl Hog {
    /// Sees how it gets on, and whether that is to be told; `false` if its turn is over.
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
        // WHY: nothing can panic while the list is locked, so it is never half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread is relieved in a turn that began then, `before` which it had used so much processor
    /// time. The caller sees to it that it does not end meanwhile.
    pub(crate) fn add(&self, seat: &Seat, slot: Slot, since: Instant, before: Option<Duration>) {
        let relief = Arc::new(Relief::new(slot, since));
        let thread = seat.thread();
        let mut standing = Standing { thread, rank: Rank::Usual, before, used: None };
        standing.settle(true);
        let first = seat.relief.set(Arc::clone(&relief));
        debug_assert!(first.is_ok(), "a thread has one post to lose");
        self.list().push(Hog { relief, standing });
    }

    /// Sees whose mercy has run out and who has computed, and has the kernel look at each.
    ///
    /// An empty report if the list is locked: whoever asks who hogs was perhaps put last and has no
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
        list.retain_mut(|hog| hog.look(now, &mut report));
        report
    }

    pub(crate) fn count(&self) -> usize {
        self.list().iter().filter(|hog| !hog.relief.is_over()).count()
    }

    /// Who hogs now, and since when.
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

    /// Waits until `holds` returns `true`, with longer and longer pauses between two tries.
    ///
    /// WHY longer: between two looks each thread that computes must have been given a processor, which on a
    /// busy machine takes long, since a hog counts less than other threads.
    /// WHY a limit in real time: a guard against hanging, a thousand times what it takes.
    fn until(what: &str, mut holds: impl FnMut() -> bool) {
        let (began, mut pause) = (Instant::now(), Duration::from_millis(1));
        while !holds() {
            assert!(began.elapsed() < purlin_polling::HANG, "waited in vain until {what}");
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_secs(1));
        }
    }

    /// Looks, as at that time, until so many compute.
    fn until_computing(hogs: &Hogs, at: Instant, expected: usize) {
        until(&format!("{expected} compute"), || hogs.look(at).computing == expected);
    }

    // F2: who is told of and when, and the monitor may rest when hogs block
    #[test]
    fn a_look_tells_who_computes_and_whose_mercy_is_over() {
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
            // It would not come to an end if it waited.
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
        // WHY: only the origin of the times at which the monitor looks.
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
