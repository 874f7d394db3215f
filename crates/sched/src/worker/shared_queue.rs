//! A worker's queue as other workers see it, and its steal threshold.
//!
//! A process that moves to another processor leaves its cached data and that of its partners
//! behind, and the other worker may have to be woken; both cost more than a short turn. So other
//! workers help only when more processes wait than this worker executed within the last two ticks
//! of sysmon, which is one millisecond: without help, the waiting processes would be done by then.
//! If turns are long on average, or the processes mostly compute, every waiting process is worth a
//! steal. The same holds while spreading has turned out to get more done (`balance`).
//!
//! Sysmon, which sees the number of turns of each worker, computes this steal threshold
//! (`sysmon::policy::threshold_for`) and writes it here. The worker
//! keeps that number of processes local and exposes the rest (`local_queue`).

use crate::sync::deque::Stealer;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::worker::lifo::CAPACITY;

/// Initial steal threshold, that of a worker whose turns take half a microsecond.
pub(crate) const INITIAL_THRESHOLD: usize = if cfg!(shuttle) { 1 } else { 1000 };

/// The end of a worker's queue that other workers use.
pub(crate) struct SharedQueue<T> {
    /// The stealable part: all processes past the steal threshold.
    pub(crate) stealer: Stealer<T>,
    /// Length of the local part.
    local_len: AtomicUsize,
    /// Length of the LIFO stack.
    lifo_len: AtomicUsize,
    /// Whether a receiver that is behind waits.
    behind: AtomicBool,
    threshold: AtomicUsize,
    lifo_limit: AtomicUsize,
    /// Length of the stealable part up to which other workers leave it alone.
    kept: AtomicUsize,
    /// Whether the worker runs no process.
    drains: AtomicBool,
}

impl<T> SharedQueue<T> {
    pub(crate) fn new(stealer: Stealer<T>) -> Self {
        Self {
            stealer,
            local_len: AtomicUsize::new(0),
            lifo_len: AtomicUsize::new(0),
            behind: AtomicBool::new(false),
            threshold: AtomicUsize::new(INITIAL_THRESHOLD),
            lifo_limit: AtomicUsize::new(CAPACITY),
            kept: AtomicUsize::new(0),
            drains: AtomicBool::new(false),
        }
    }

    /// Returns the steal threshold: the number of processes that may wait without help.
    #[inline]
    pub(crate) fn steal_threshold(&self) -> usize {
        // ORDER: relaxed, here and below: the value is a hint.
        self.threshold.load(Ordering::Relaxed)
    }

    /// Returns the maximum length of the worker's LIFO stack.
    #[inline]
    pub(crate) fn lifo_limit(&self) -> usize {
        self.lifo_limit.load(Ordering::Relaxed)
    }

    /// Returns whether the worker's processes compute or have long turns: each that waits is worth
    /// a processor.
    #[inline]
    pub(crate) fn computes(&self) -> bool {
        self.lifo_limit() == 0
    }

    /// Returns the length of the stealable part up to which other workers leave it alone.
    #[inline]
    pub(crate) fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    /// Sets the steal threshold, the length up to which the stealable part is kept, and the limit of
    /// the LIFO stack from `pace`, the threshold by the worker's turns alone.
    pub(crate) fn set_limits(&self, threshold: usize, kept: usize, pace: usize) {
        let lifo_limit = pace.min(CAPACITY);
        let limits =
            [(&self.threshold, threshold), (&self.kept, kept), (&self.lifo_limit, lifo_limit)];
        for (limit, new) in limits {
            if limit.load(Ordering::Relaxed) != new {
                limit.store(new, Ordering::Relaxed);
            }
        }
    }

    /// Returns whether the worker leaves its processes to the global queue and runs none.
    #[inline]
    pub(crate) fn drains(&self) -> bool {
        self.drains.load(Ordering::Relaxed)
    }

    pub(crate) fn set_drains(&self, drains: bool) {
        if self.drains() != drains {
            self.drains.store(drains, Ordering::Relaxed);
        }
    }

    /// Publishes the length of the local part. Called by the worker only.
    #[inline]
    pub(crate) fn set_local_len(&self, len: usize) {
        self.local_len.store(len, Ordering::Relaxed);
    }

    /// Publishes the length of the LIFO stack. Called by the worker only.
    #[inline]
    pub(crate) fn set_lifo_len(&self, len: usize) {
        self.lifo_len.store(len, Ordering::Relaxed);
    }

    /// Publishes whether a receiver that is behind waits. Called by the worker only.
    #[inline]
    pub(crate) fn set_behind(&self, waits: bool) {
        self.behind.store(waits, Ordering::Relaxed);
    }

    /// Returns the number of waiting processes. The result may be outdated.
    pub(crate) fn waiting(&self) -> usize {
        let own = self.local_len.load(Ordering::Relaxed) + self.lifo_len.load(Ordering::Relaxed);
        own + usize::from(self.behind.load(Ordering::Relaxed)) + self.stealer.len()
    }

    /// Returns whether another worker should steal.
    pub(crate) fn wants_help(&self) -> bool {
        self.stealer.len() > self.kept()
    }
}
