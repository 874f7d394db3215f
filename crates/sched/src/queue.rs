//! A worker's queue as other workers see it, and its steal threshold.
//!
//! A process that moves to another processor leaves its cached data and that of its partners
//! behind, and the other worker may have to be woken; both cost more than a short turn. So other
//! workers help only when more processes wait than this worker executed within the last two ticks
//! of sysmon, which is one millisecond: without help, the waiting processes would be done by then.
//! If turns are long on average, every waiting process is worth a steal. The same holds while
//! spreading has turned out to get more done (`spread`).
//!
//! Sysmon, which sees the number of turns of each worker, writes this steal threshold (*patience*).
//! The worker keeps that number of processes local and exposes the rest (`backlog`).

use std::time::Duration;

use crate::monitor::TICK;
use crate::recent::RECENT;
use crate::sync::deque::Stealer;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};

/// Length of a turn from which each waiting process is worth a steal: ten times the cost of waking
/// a worker.
const LONG_TURN: Duration = Duration::from_micros(50);

/// Initial steal threshold, that of a worker whose turns take half a microsecond.
pub(crate) const FIRST_PATIENCE: usize = if cfg!(shuttle) { 1 } else { 1000 };

/// The end of a worker's queue that other workers use.
pub(crate) struct Queue<T> {
    /// The stealable part: all processes past the steal threshold.
    pub(crate) stealer: Stealer<T>,
    /// Length of the local part.
    near: AtomicUsize,
    /// Length of the LIFO stack.
    recent: AtomicUsize,
    patience: AtomicUsize,
    keeps: AtomicUsize,
    gathers: AtomicBool,
}

impl<T> Queue<T> {
    pub(crate) fn new(stealer: Stealer<T>) -> Self {
        Self {
            stealer,
            near: AtomicUsize::new(0),
            recent: AtomicUsize::new(0),
            patience: AtomicUsize::new(FIRST_PATIENCE),
            keeps: AtomicUsize::new(RECENT),
            gathers: AtomicBool::new(false),
        }
    }

    /// Returns the steal threshold: the number of processes that may wait without help.
    #[inline]
    pub(crate) fn patience(&self) -> usize {
        // ORDER: relaxed, here and below: the value is a hint.
        self.patience.load(Ordering::Relaxed)
    }

    /// Returns the maximum length of the worker's LIFO stack.
    #[inline]
    pub(crate) fn keeps(&self) -> usize {
        self.keeps.load(Ordering::Relaxed)
    }

    /// Sets the steal threshold, and the limit of the LIFO stack from `pace`, the threshold by the
    /// worker's turns alone.
    pub(crate) fn set_limits(&self, patience: usize, pace: usize) {
        for (limit, new) in [(&self.patience, patience), (&self.keeps, pace.min(RECENT))] {
            if limit.load(Ordering::Relaxed) != new {
                limit.store(new, Ordering::Relaxed);
            }
        }
    }

    /// Returns whether the worker steals all that waits for the others.
    pub(crate) fn gathers(&self) -> bool {
        self.gathers.load(Ordering::Relaxed)
    }

    pub(crate) fn set_gathers(&self, gathers: bool) {
        if self.gathers() != gathers {
            self.gathers.store(gathers, Ordering::Relaxed);
        }
    }

    /// Publishes the length of the local part. Called by the worker only.
    #[inline]
    pub(crate) fn set_near(&self, near: usize) {
        self.near.store(near, Ordering::Relaxed);
    }

    /// Publishes the length of the LIFO stack. Called by the worker only.
    #[inline]
    pub(crate) fn set_recent(&self, recent: usize) {
        self.recent.store(recent, Ordering::Relaxed);
    }

    /// Returns the number of waiting processes. The result may be outdated.
    pub(crate) fn waiting(&self) -> usize {
        let own = self.near.load(Ordering::Relaxed) + self.recent.load(Ordering::Relaxed);
        own + self.stealer.len()
    }

    /// Returns whether another worker can steal.
    pub(crate) fn wants_help(&self) -> bool {
        !self.stealer.is_empty()
    }
}

/// Returns the steal threshold of a worker that has made `turns` turns in `time`.
pub(crate) fn patience(turns: u32, time: Duration) -> usize {
    let per_tick = u128::from(turns) * TICK.as_nanos() / time.as_nanos().max(1);
    let long = per_tick * LONG_TURN.as_nanos() < TICK.as_nanos();
    if long { 0 } else { 2 * per_tick as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steal_threshold_is_the_number_of_turns_in_two_ticks() {
        assert_eq!(patience(5000, TICK), 10_000);
        assert_eq!(patience(5000, 2 * TICK), 5000);
        assert_eq!(patience(5000, Duration::ZERO), 10_000 * TICK.as_nanos() as usize);
    }

    #[test]
    fn the_steal_threshold_of_long_turns_is_zero() {
        assert_eq!(patience(0, TICK), 0);
        assert_eq!(patience(9, TICK), 0);
        assert_eq!(patience(10, TICK), 20);
    }
}
