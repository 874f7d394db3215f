//! Summary of the runs of a command. Pure.

use std::time::Duration;

use serde::Serialize;

use super::Run;
use crate::host::Host;
use crate::stats::{self, Moments};

/// Figures of a command, as printed and stored. Times are in seconds.
///
/// The field names are those of hyperfine's JSON export, so that its scripts can read this too;
/// fields that hyperfine lacks follow.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    /// The command, quoted for a shell.
    pub command: String,
    /// Mean of the times.
    pub mean: f64,
    /// Sample standard deviation of the times, for two runs or more.
    pub stddev: Option<f64>,
    /// Median of the times.
    pub median: f64,
    /// Mean user CPU time, where the operating system reports it.
    pub user: Option<f64>,
    /// Mean system CPU time.
    pub system: Option<f64>,
    /// The shortest time.
    pub min: f64,
    /// The longest time.
    pub max: f64,
    /// All times, in order.
    pub times: Vec<f64>,
    /// Exit status of each run; null if a signal ended it.
    pub exit_codes: Vec<Option<i32>>,
    /// Lower bound of the median's 95 % confidence interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
    /// Indices of the outliers, from 0.
    pub outliers: Vec<usize>,
    /// Number of warm-up runs.
    pub warmup: u64,
    /// Whether the runs were interrupted before their limit.
    pub interrupted: bool,
    /// The machine.
    pub host: Host,
}

impl Report {
    /// Returns the report on these runs; `None` for no runs.
    pub(crate) fn new(
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

    /// Returns the number of runs with an exit status other than 0.
    pub(crate) fn failed(&self) -> usize {
        self.exit_codes.iter().filter(|&&status| status != Some(0)).count()
    }
}
