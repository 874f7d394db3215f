//! What the runs of a command came to. Pure.

use std::time::Duration;

use serde::Serialize;

use super::Run;
use crate::host::Host;
use crate::stats::{self, Moments};

/// The figures of a command, as they are printed and written. Times are in seconds.
///
/// The names are those of hyperfine's export, so that its scripts read this too; what that lacks
/// comes after.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The command as a shell would be given it.
    pub command: String,
    /// The mean of the times.
    pub mean: f64,
    /// Their sample standard deviation, of two runs or more.
    pub stddev: Option<f64>,
    /// Their median.
    pub median: f64,
    /// How long a run computed, on average; where the system tells.
    pub user: Option<f64>,
    /// How long the system computed for it.
    pub system: Option<f64>,
    /// The shortest time.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// All of them, in their order.
    pub times: Vec<f64>,
    /// What each run ended with; null where a signal ended it.
    pub exit_codes: Vec<Option<i32>>,
    /// The ends of the median's 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The places, from 0, of the times that lie apart.
    pub outliers: Vec<usize>,
    /// The runs before the first that was timed.
    pub warmup: u64,
    /// Whether it was stopped before its time or number of runs.
    pub interrupted: bool,
    /// The machine.
    pub host: Host,
}

impl Report {
    /// Of these runs; nothing of none.
    #[must_use]
    pub fn new(
        words: &[String],
        runs: &[(Duration, Run)],
        warmup: u64,
        host: Host,
    ) -> Option<Self> {
        let times: Vec<f64> = runs.iter().map(|(time, _)| time.as_secs_f64()).collect();
        let moments: Moments = times.iter().copied().collect();
        let median = stats::median_interval(&times)?;
        let cpu = |which: usize| {
            let all = runs.iter().map(|(_, run)| run.cpu.map(|cpu| cpu[which].as_secs_f64()));
            all.collect::<Option<Moments>>()?.mean()
        };
        Some(Self {
            command: shlex::try_join(words.iter().map(String::as_str))
                .unwrap_or_else(|_| words.join(" ")),
            mean: moments.mean()?,
            stddev: moments.deviation(),
            median: median.value,
            user: cpu(0),
            system: cpu(1),
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            max: times.iter().copied().fold(0.0, f64::max),
            exit_codes: runs.iter().map(|(_, run)| run.status).collect(),
            low: median.low,
            high: median.high,
            outliers: stats::outliers(&times),
            times,
            warmup,
            interrupted: false,
            host,
        })
    }

    /// How many runs ended with anything but 0.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.exit_codes.iter().filter(|&&status| status != Some(0)).count()
    }
}
