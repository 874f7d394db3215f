//! A worker's queue as the others see it: what can be stolen, and when it is worth it.
//!
//! A process that moves to another core leaves behind what it and its partners had in the cache, and
//! the other core, if it slept, has to be woken; that costs more than a short turn. So a worker that
//! gets through its queue quickly is left alone: others help only when more is waiting than it got
//! through within the last two ticks of the monitor, a millisecond: what waits would be worked off by
//! then, if nobody were woken meanwhile. If turns are long, on average, any process that waits is
//! worth it; and so it is while it has turned out that more gets done that way (`spread`).
//!
//! The monitor, who sees how many turns each worker makes, writes the limit, the worker's
//! *patience*; so many the worker keeps for itself, and lets others have the rest (`backlog`).

use std::time::Duration;

use crate::monitor::TICK;
use crate::recent::RECENT;
use crate::sync::deque::Stealer;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};

/// Turns that take so long are worth another worker's help one by one: ten times what it costs to
/// wake that worker.
const LONG_TURN: Duration = Duration::from_micros(50);

/// The patience of a worker of which nothing is known: that of one whose turns take half a
/// microsecond.
pub(crate) const FIRST_PATIENCE: usize = if cfg!(shuttle) { 1 } else { 1000 };

/// The end of a worker's queue that is for others.
pub(crate) struct Queue<T> {
    /// What can be stolen: all that waits past the worker's patience.
    pub(crate) stealer: Stealer<T>,
    /// How many others wait in the queue.
    near: AtomicUsize,
    /// How many of those just woken or spawned wait.
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

    /// How many may wait without anybody helping.
    #[inline]
    pub(crate) fn patience(&self) -> usize {
        // ORDER: relaxed, here and below: it is advice.
        self.patience.load(Ordering::Relaxed)
    }

    /// How many of those just woken or spawned the worker keeps for itself.
    #[inline]
    pub(crate) fn keeps(&self) -> usize {
        self.keeps.load(Ordering::Relaxed)
    }

    /// Sets the patience, and what the worker keeps by its pace: the patience that its turns deserve.
    pub(crate) fn set_limits(&self, patience: usize, pace: usize) {
        for (limit, new) in [(&self.patience, patience), (&self.keeps, pace.min(RECENT))] {
            if limit.load(Ordering::Relaxed) != new {
                limit.store(new, Ordering::Relaxed);
            }
        }
    }

    /// Whether its worker takes over what waits for the others.
    pub(crate) fn gathers(&self) -> bool {
        self.gathers.load(Ordering::Relaxed)
    }

    pub(crate) fn set_gathers(&self, gathers: bool) {
        if self.gathers() != gathers {
            self.gathers.store(gathers, Ordering::Relaxed);
        }
    }

    /// So many wait that cannot be stolen. Written by the worker alone.
    #[inline]
    pub(crate) fn set_near(&self, near: usize) {
        self.near.store(near, Ordering::Relaxed);
    }

    /// So many wait of those just woken or spawned. Written by the worker alone.
    #[inline]
    pub(crate) fn set_recent(&self, recent: usize) {
        self.recent.store(recent, Ordering::Relaxed);
    }

    /// How many wait: a glance.
    pub(crate) fn waiting(&self) -> usize {
        let own = self.near.load(Ordering::Relaxed) + self.recent.load(Ordering::Relaxed);
        own + self.stealer.len()
    }

    /// Whether anybody should help.
    pub(crate) fn wants_help(&self) -> bool {
        !self.stealer.is_empty()
    }
}

/// The patience of a worker that has made so many turns in that time.
pub(crate) fn patience(turns: u32, time: Duration) -> usize {
    let per_tick = u128::from(turns) * TICK.as_nanos() / time.as_nanos().max(1);
    let long = per_tick * LONG_TURN.as_nanos() < TICK.as_nanos();
    if long { 0 } else { 2 * per_tick as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_left_alone_with_what_it_gets_through_in_two_ticks() {
        assert_eq!(patience(5000, TICK), 10_000);
        assert_eq!(patience(5000, 2 * TICK), 5000);
        assert_eq!(patience(5000, Duration::ZERO), 10_000 * TICK.as_nanos() as usize);
    }

    #[test]
    fn whoever_waits_for_long_turns_is_worth_help() {
        assert_eq!(patience(0, TICK), 0);
        assert_eq!(patience(9, TICK), 0);
        assert_eq!(patience(10, TICK), 20);
    }
}
