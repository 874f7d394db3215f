//! Statistics of the workers.
//!
//! Each worker updates its counters with plain stores when it checks the global queue and before it
//! sleeps. Any thread may read them at any time. Sleep time is measured only while requested
//! ([`crate::Scheduler::measure`]), because it takes two clock readings per sleep.
//!
//! The counters belong to a worker, not to its thread: after a hand-off the new thread continues
//! them. Not counted are the turns of a detached thread since its last update, including the turn
//! that was detached, and processes that run outside the workers: blocking processes and those in
//! virtual time.
//!
//! COST: three additions per check, of which there is one in 61 turns if they are short; while sleep is measured, about 50 ns per sleep.

use std::time::Duration;

use crate::sync::{AtomicU64, Ordering};

/// Statistics of a node's workers.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// One entry per worker.
    pub workers: Vec<WorkerLoad>,
    /// Length of the global queue.
    pub global_queue: usize,
}

/// Statistics of one worker since its node started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkerLoad {
    /// Time slept while sleep was measured.
    pub asleep: Duration,
    /// Turns executed.
    pub turns: u64,
    /// Turns and budget spent.
    pub work: u64,
    /// Messages and signals sent by processes in those turns.
    pub sends: u64,
    /// Successful steals from another worker.
    pub steals: u64,
    /// Ready processes in the worker's queue.
    pub queue: usize,
}

/// Counters of one worker; only that worker writes them.
#[derive(Debug, Default)]
pub(crate) struct WorkerCounters {
    turns: AtomicU64,
    work: AtomicU64,
    sends: AtomicU64,
    steals: AtomicU64,
    /// Twice the time slept, in nanoseconds; during a sleep, minus twice the time at which it
    /// began, with the lowest bit set. WHY one word: a concurrent reader sees one consistent state
    /// or the other.
    slept: AtomicU64,
}

/// Totals of a thread when it last updated its worker's counters.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ThreadTotals {
    turns: u32,
    work: u64,
    sends: u64,
}

/// Adds to a counter that has a single writer.
fn add(counter: &AtomicU64, more: u64) {
    // ORDER: relaxed, here and below: the counters publish no other data.
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl WorkerCounters {
    /// Adds what this thread has done since `before`. Returns its totals, of which `turns` is
    /// given.
    pub(crate) fn flush(&self, turns: u32, before: ThreadTotals) -> ThreadTotals {
        let now =
            ThreadTotals { turns, work: purlin_raw::work_done(), sends: purlin_raw::sends_done() };
        add(&self.turns, now.turns.wrapping_sub(before.turns).into());
        add(&self.work, now.work.wrapping_sub(before.work));
        add(&self.sends, now.sends.wrapping_sub(before.sends));
        now
    }

    pub(crate) fn steals(&self) {
        add(&self.steals, 1);
    }

    /// Returns the turns and budget that the worker has spent.
    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    /// Returns the statistics at the time `now` of a worker with `queue` ready processes.
    pub(crate) fn load(&self, now: u64, queue: usize) -> WorkerLoad {
        WorkerLoad {
            asleep: Duration::from_nanos(self.slept(now)),
            turns: self.turns.load(Ordering::Relaxed),
            work: self.work(),
            sends: self.sends.load(Ordering::Relaxed),
            steals: self.steals.load(Ordering::Relaxed),
            queue,
        }
    }

    /// Records the start of a measured sleep.
    pub(crate) fn begin_sleep(&self, now: u64) {
        let slept = self.slept.load(Ordering::Relaxed);
        debug_assert_eq!(slept & 1, 0, "it was awake");
        self.slept.store(slept.wrapping_sub(2 * now) | 1, Ordering::Relaxed);
    }

    /// Records that the worker is awake. Calls `now` only if its sleep was measured.
    pub(crate) fn end_sleep(&self, now: impl FnOnce() -> u64) {
        let slept = self.slept.load(Ordering::Relaxed);
        if slept & 1 != 0 {
            self.slept.store((slept & !1).wrapping_add(2 * now()), Ordering::Relaxed);
        }
    }

    /// Returns the nanoseconds slept until `now`.
    fn slept(&self, now: u64) -> u64 {
        let slept = self.slept.load(Ordering::Relaxed);
        let until = if slept & 1 != 0 { 2 * now } else { 0 };
        // WHY signed: the worker may have fallen asleep after `now` was read.
        let twice = (slept & !1).wrapping_add(until).cast_signed();
        (twice.max(0) / 2).cast_unsigned()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{ThreadTotals, WorkerCounters};

    #[test]
    fn turns_are_added_up_although_the_count_of_a_thread_wraps() {
        let counters = WorkerCounters::default();
        let counted = [7, 7, 9].into_iter().scan(ThreadTotals::default(), |done, turns| {
            *done = counters.flush(turns, *done);
            Some(counters.turns.load(Ordering::Relaxed))
        });
        assert_eq!(counted.collect::<Vec<_>>(), [7, 7, 9]);
        let last = ThreadTotals { turns: u32::MAX, ..ThreadTotals::default() };
        counters.flush(2, last);
        assert_eq!(counters.turns.load(Ordering::Relaxed), 12, "the count of a thread wraps");
    }

    #[test]
    fn sleep_time_is_added_up_and_visible_during_a_sleep() {
        let counters = WorkerCounters::default();
        assert_eq!(counters.slept(1000), 0, "no worker has slept");
        counters.end_sleep(|| unreachable!("no sleep was measured"));
        counters.begin_sleep(1000);
        assert_eq!(counters.slept(1010), 10);
        assert_eq!(counters.slept(990), 0, "it fell asleep after the clock was read");
        counters.end_sleep(|| 1100);
        assert_eq!(counters.slept(5000), 100);
        counters.begin_sleep(6000);
        assert_eq!(counters.slept(6001), 101);
        counters.end_sleep(|| 6001);
        assert_eq!(counters.slept(7000), 101);
    }
}
