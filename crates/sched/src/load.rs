//! What the workers have done so far, for those who look from outside.
//!
//! Each worker keeps its own *tally* with plain stores: when it looks around, before every 61st turn, and
//! before it sleeps. Anybody may read it at any time. How long a worker sleeps is measured only while
//! somebody asks for it ([`Scheduler::measure`]), since that takes two readings of the clock a sleep.
//!
//! A tally belongs to a worker, not to its thread: the fresh thread that relieves another goes on with it.
//! What a relieved thread has done since it last added up, its last turn among it, is not counted, nor is what
//! processes do that run beside the workers, as those that may block, or in virtual time.
//!
//! COST: three additions for each 61 turns; while sleep is measured, some 50 ns a sleep.

use std::time::Duration;

use crate::Scheduler;
use crate::sync::{AtomicU64, Ordering};

/// What a node's workers have done, and who waits for them now.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// Each of the workers.
    pub workers: Vec<WorkerLoad>,
    /// Processes that are ready and wait for whichever worker comes first.
    pub outside: usize,
}

/// What a worker has done since its node was started, and who waits for it now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkerLoad {
    /// How long it has slept while that was measured.
    pub asleep: Duration,
    /// Turns that it has given.
    pub turns: u64,
    /// Turns and budget that it has spent.
    pub work: u64,
    /// Messages and signals that processes have sent in those turns.
    pub sends: u64,
    /// How often it has taken work over from another worker.
    pub steals: u64,
    /// Processes that are ready and wait for it.
    pub queue: usize,
}

/// Sleep is measured for as long as this is kept.
#[must_use]
#[derive(Debug)]
pub struct Measuring(Scheduler);

/// What one worker has done so far; it alone writes.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    turns: AtomicU64,
    work: AtomicU64,
    sends: AtomicU64,
    steals: AtomicU64,
    /// Twice the time slept, in nanoseconds; while it sleeps, less the moment at which it fell asleep, and 1.
    /// WHY in one word: whoever reads it in between sees the one or the other.
    slept: AtomicU64,
}

/// What a thread had done when it last added to its worker's tally.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    turns: u32,
    work: u64,
    sends: u64,
}

/// Adds to a figure that one thread writes.
fn add(figure: &AtomicU64, more: u64) {
    // ORDER: relaxed, here and below: it is only looked at.
    figure.store(figure.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl Tally {
    /// Adds what this thread has done since it was last here, and says what it has done in all: so many turns.
    pub(crate) fn add_up(&self, turns: u32, before: Done) -> Done {
        let now = Done { turns, work: purlin_raw::work_done(), sends: purlin_raw::sends_done() };
        add(&self.turns, now.turns.wrapping_sub(before.turns).into());
        add(&self.work, now.work.wrapping_sub(before.work));
        add(&self.sends, now.sends.wrapping_sub(before.sends));
        now
    }

    pub(crate) fn steals(&self) {
        add(&self.steals, 1);
    }

    /// Turns and budget that the worker has spent.
    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    /// The worker falls asleep, in a sleep that is measured.
    pub(crate) fn falls_asleep(&self, now: u64) {
        let slept = self.slept.load(Ordering::Relaxed);
        debug_assert_eq!(slept & 1, 0, "it was awake");
        self.slept.store(slept.wrapping_sub(2 * now) | 1, Ordering::Relaxed);
    }

    /// The worker is awake; `now` is asked if its sleep was measured.
    pub(crate) fn wakes(&self, now: impl FnOnce() -> u64) {
        let slept = self.slept.load(Ordering::Relaxed);
        if slept & 1 != 0 {
            self.slept.store((slept & !1).wrapping_add(2 * now()), Ordering::Relaxed);
        }
    }

    /// Nanoseconds slept until `now`.
    fn slept(&self, now: u64) -> u64 {
        let slept = self.slept.load(Ordering::Relaxed);
        let until = if slept & 1 != 0 { 2 * now } else { 0 };
        // WHY signed: a worker may have fallen asleep since `now` was read.
        let twice = (slept & !1).wrapping_add(until).cast_signed();
        (twice.max(0) / 2).cast_unsigned()
    }
}

impl Scheduler {
    /// What the workers have done, and who waits for them now.
    ///
    /// COST: a few reads for each worker, and the list.
    pub fn load(&self) -> Load {
        let shared = &self.shared;
        let now = shared.timers.clock().now();
        let workers = shared.tallies.iter().zip(&shared.queues);
        let workers = workers.map(|(tally, queue)| WorkerLoad {
            asleep: Duration::from_nanos(tally.slept(now)),
            turns: tally.turns.load(Ordering::Relaxed),
            work: tally.work(),
            sends: tally.sends.load(Ordering::Relaxed),
            steals: tally.steals.load(Ordering::Relaxed),
            queue: queue.waiting(),
        });
        Load { workers: workers.collect(), outside: shared.injector.len() }
    }

    /// Has the workers measure how long they sleep, for as long as what is returned is kept. Those that sleep are
    /// woken once, so that what they sleep from now on is measured.
    pub fn measure(&self) -> Measuring {
        self.shared.measuring.fetch_add(1, Ordering::Relaxed);
        for worker in 0..self.workers() {
            self.shared.unpark(worker);
        }
        Measuring(self.clone())
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        self.0.shared.measuring.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{Done, Tally};

    #[test]
    fn what_a_thread_has_done_is_added_up_though_its_count_wraps() {
        let tally = Tally::default();
        let counted = [7, 7, 9].into_iter().scan(Done::default(), |done, turns| {
            *done = tally.add_up(turns, *done);
            Some(tally.turns.load(Ordering::Relaxed))
        });
        assert_eq!(counted.collect::<Vec<_>>(), [7, 7, 9]);
        let last = Done { turns: u32::MAX, ..Done::default() };
        tally.add_up(2, last);
        assert_eq!(tally.turns.load(Ordering::Relaxed), 12, "the count of a thread wraps");
    }

    #[test]
    fn what_is_slept_is_added_up_and_seen_while_it_lasts() {
        let tally = Tally::default();
        assert_eq!(tally.slept(1000), 0, "nobody has slept");
        tally.wakes(|| unreachable!("no sleep was measured"));
        tally.falls_asleep(1000);
        assert_eq!(tally.slept(1010), 10);
        assert_eq!(tally.slept(990), 0, "it fell asleep after the clock was read");
        tally.wakes(|| 1100);
        assert_eq!(tally.slept(5000), 100);
        tally.falls_asleep(6000);
        assert_eq!(tally.slept(6001), 101);
        tally.wakes(|| 6001);
        assert_eq!(tally.slept(7000), 101);
    }
}
