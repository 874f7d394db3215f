//! What a load has found. Pure.

use hdrhistogram::Histogram;

use super::Round;
use super::plan::Plan;
use super::tally::Answered;

/// What a load has found. Shown by `Display`; [`Summary::to_json`] is for programs.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What was asked for.
    pub plan: Plan,
    /// The rounds that were done.
    pub rounds: Vec<Round>,
    /// In these rounds, and in one that was given up.
    pub answered: Answered,
    /// How long messages waited, from when their write was begun to when their answer was read, in
    /// nanoseconds.
    pub latency: Histogram<u64>,
    /// Why it did not go on, if it did not.
    pub failure: Option<String>,
}

/// The middle of the rounds, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// As many rounds were slower as were faster.
    pub median: f64,
    /// The slowest.
    pub low: f64,
    /// The fastest.
    pub high: f64,
}

impl Summary {
    /// Messages per second, by rounds; nothing if no round was done.
    #[must_use]
    pub fn per_second(&self) -> Option<Spread> {
        let mut rates: Vec<_> = self.rounds.iter().map(Round::per_second).collect();
        rates.sort_by(f64::total_cmp);
        let (low, high) = (*rates.first()?, *rates.last()?);
        let middle = (rates.len() - 1) / 2;
        let median = (rates[middle] + rates[rates.len() / 2]) / 2.0;
        Some(Spread { median, low, high })
    }
}
