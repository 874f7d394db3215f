//! Crowd: whether computing threads occupy all processors, and timers that make them yield.
//!
//! If they do, the kernel may keep sysmon or a worker waiting until its own next tick. Sysmon
//! therefore sets the yield timers ([`purlin_raw::YieldTimer`]) of the threads that have run since
//! its last tick, and cancels those of threads that have not. While its period is long, because all
//! workers compute steadily, sysmon sets none (`period`): it is then late by up to a tick of the kernel
//! if it has to wait for a processor.
//!
//! WHY only threads that have run: one that is interrupted whenever it gets a processor makes no
//! progress, and it may hold a lock for which the others wait.
//!
//! COST: two system calls per tick for each thread that has run, while there is a crowd. In runs of
//! 400 ms in which two threads computed, they took 12 µs of a tick for each thread (an AMD EPYC,
//! virtual).

use std::sync::Arc;
use std::time::Duration;

use crate::shared::Shared;
use crate::sysmon::stalled::{StalledThreads, has_run};
use crate::worker::status::WorkerStatus;

/// Delay of a tick or of a timer after which computing threads must yield.
pub(crate) const LATE: Duration = Duration::from_micros(50);

/// The workers' part of the crowd; [`StalledThreads`] has that of the detached threads.
pub(crate) struct Crowd {
    /// Processor time of each worker's thread at the last tick, if its turns are long.
    cpu_times: Box<[Option<Duration>]>,
    /// Whether each worker's thread computes.
    computes: Box<[bool]>,
    /// Whether computing threads may occupy all processors and sysmon's period is not long.
    full: bool,
    /// Whether a worker was searching at the last tick.
    searching: bool,
}

impl Crowd {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            cpu_times: vec![None; workers].into(),
            computes: vec![false; workers].into(),
            full: false,
            searching: false,
        }
    }

    /// Updates a worker from the processor time of its thread, which is `None` unless its turns are
    /// long.
    pub(crate) fn update(&mut self, index: usize, status: &WorkerStatus, now: Option<Duration>) {
        let before = std::mem::replace(&mut self.cpu_times[index], now);
        let computes = has_run(before, now);
        if std::mem::replace(&mut self.computes[index], computes) && !computes && self.full {
            status.cancel_yield();
        }
    }

    /// Resets a worker whose core has moved to another thread.
    pub(crate) fn forget(&mut self, index: usize) {
        self.cpu_times[index] = None;
        self.computes[index] = false;
    }

    /// Counts the threads that compute. `steady` means that sysmon's period is long, for which there
    /// is no crowd.
    pub(crate) fn count(
        &mut self,
        statuses: &[Arc<WorkerStatus>],
        stalled: &StalledThreads,
        processors: usize,
        steady: bool,
    ) {
        let full = !steady && self.computing(statuses, stalled).count() >= processors;
        if std::mem::replace(&mut self.full, full) && !full {
            self.computing(statuses, stalled).for_each(WorkerStatus::cancel_yield);
        }
    }

    /// Returns whether a worker's thread computes in a long turn.
    pub(crate) fn includes(&self, index: usize) -> bool {
        self.computes[index]
    }

    /// Returns whether computing threads may occupy all processors, by the last count.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Makes the threads that compute yield their processors after that time, if they may occupy all
    /// of them.
    pub(crate) fn yield_after(
        &self,
        statuses: &[Arc<WorkerStatus>],
        stalled: &StalledThreads,
        after: Duration,
    ) {
        if self.full {
            self.computing(statuses, stalled).for_each(|status| status.yield_after(after));
        }
    }

    fn computing<'a>(
        &'a self,
        statuses: &'a [Arc<WorkerStatus>],
        stalled: &'a StalledThreads,
    ) -> impl Iterator<Item = &'a WorkerStatus> {
        let workers = statuses.iter().zip(&self.computes).filter(|(_, computes)| **computes);
        workers.map(|(status, _)| &**status).chain(stalled.computing())
    }

    /// Returns whether a worker seems to wait for a processor: one that searches at two ticks, which
    /// usually takes microseconds, or one in no turn that has not fired its timers. Returns `false`
    /// without a crowd: no worker waits then, and while sysmon's period is long all are in turns.
    pub(crate) fn worker_is_late(
        &mut self,
        shared: &Shared,
        statuses: &[Arc<WorkerStatus>],
    ) -> bool {
        let searching = self.full && shared.idle.searching();
        let searched = std::mem::replace(&mut self.searching, searching);
        let due = shared.timers.clock().now().saturating_sub(LATE.as_nanos() as u64);
        let mut workers = statuses.iter().enumerate();
        let overdue = |(index, status): (usize, &Arc<WorkerStatus>)| {
            status.running().is_none() && shared.timers.wheel(index).is_due(due)
        };
        searching && searched || self.full && workers.any(overdue)
    }
}
