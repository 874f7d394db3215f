//! Sampling observer of `purlin lab run`: stores each record on disk, drives the progress display,
//! and measures the contention between hardware threads after each round.
//!
//! A *record* is one answer or failure of a contender, from a sample or from calibration. An
//! interrupted run can be resumed: recorded answers are replayed without reaching this observer.

use std::mem;
use std::time::Instant;

use serde::Serialize;

use crate::error::Problem;
use crate::host::SmtProbe;
use crate::progress::Progress;
use crate::sampling::{Record, Watch};
use crate::store::Store;

/// Stores a run's records, and displays its progress and messages.
pub(super) struct Watcher {
    pub(super) store: Store,
    pub(super) progress: Progress,
    pub(super) smt: SmtProbe,
    /// Whether a record was stored since the last round.
    pub(super) sampled: bool,
    /// Time from the start of the run to the last recorded request before the interruption, in ms,
    /// excluding earlier interruptions; 0 for a new run.
    pub(super) before_ms: u64,
    /// When the run was started or resumed.
    pub(super) began: Instant,
}

/// A record with its timestamp, as stored: one JSON line.
#[derive(Serialize)]
struct TimedRecord<'a> {
    /// When the answer was requested, in ms since the run began, excluding interruptions. For a
    /// failure, when it was recorded.
    at_ms: u64,
    #[serde(flatten)]
    record: &'a Record<'a>,
}

impl Watcher {
    /// Returns the duration of the run so far, in ms, excluding interruptions.
    pub(super) fn elapsed_ms(&self) -> u64 {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.before_ms.saturating_add(now)
    }
}

impl Watch for Watcher {
    fn record(&mut self, record: &Record<'_>) -> Result<(), Problem> {
        self.progress.sampled();
        self.sampled = true;
        let took_ms = record.wall_ns.unwrap_or(0) / 1_000_000;
        let at_ms = self.elapsed_ms().saturating_sub(took_ms);
        self.store.append(&TimedRecord { at_ms, record })
    }

    fn print(&mut self, line: &str) {
        self.progress.print(line);
    }

    fn round(&mut self, done: usize, of: usize) {
        self.progress.round(done, of);
        // A round that is replayed was measured when it was sampled.
        if mem::take(&mut self.sampled) {
            self.smt.measure();
        }
    }
}
