//! Warnings about the timing of a command, each with advice. Pure.

use std::fmt;

use super::Report;
use crate::profile::FEWEST;

/// Duration below which the start of the program dominates, in seconds.
const SHORT: f64 = 0.005;

/// A reason to doubt the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// Too few runs for a confidence interval.
    Few(usize),
    /// The first run took longest and is an outlier.
    SlowStart,
    /// Number of outliers, and number of runs.
    Outliers(usize, usize),
    /// Starting the program may take most of the time.
    Short,
    /// Number of failed runs, which were to be ignored.
    Failed(usize),
}

impl Warning {
    /// Returns all warnings that apply to a report.
    #[must_use]
    pub fn of(report: &Report) -> Vec<Self> {
        let runs = report.times.len();
        let slow = report.outliers.contains(&0) && report.times.first() == Some(&report.max);
        let others = report.outliers.len() - usize::from(slow);
        let all = [
            (runs < FEWEST, Self::Few(runs)),
            (slow, Self::SlowStart),
            (others > 0, Self::Outliers(others, runs)),
            (report.median < SHORT, Self::Short),
            (report.failed() > 0, Self::Failed(report.failed())),
        ];
        all.into_iter().filter(|(holds, _)| *holds).map(|(_, warning)| warning).collect()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Few(1) => {
                write!(formatter, "one run tells nothing of its spread; give -n {FEWEST} or more")
            }
            Self::Few(runs) => write!(
                formatter,
                "{runs} runs are too few for a 95 % interval, so it is their range; give -n {FEWEST} or more"
            ),
            Self::SlowStart => formatter.write_str(
                "the first run took longest and is an outlier, as with cold caches; try --warmup 1",
            ),
            Self::Outliers(outliers, runs) => write!(
                formatter,
                "{outliers} of {runs} runs are outliers (they count all the same); see that the machine does nothing else"
            ),
            Self::Short => formatter.write_str(
                "that is little more than it takes to start a program; have it do its work many times in a run",
            ),
            Self::Failed(1) => formatter.write_str("one run failed; run it by itself to see why"),
            Self::Failed(runs) => {
                write!(formatter, "{runs} runs failed; run the command by itself to see why")
            }
        }
    }
}
