//! Results of a load. Pure.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::counters::Answered;
use super::plan::Plan;

/// Results of a load. `Display` formats them as text, [`Summary::to_json`] as JSON.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Parameters of the load.
    pub plan: Plan,
    /// Completed rounds.
    pub rounds: Vec<Round>,
    /// Answers in these rounds and in an aborted one.
    pub answered: Answered,
    /// Time from the start of a message's write to the read of its answer, in nanoseconds.
    pub latency: Histogram<u64>,
    /// Why the load failed, or `None` if it did not.
    pub failure: Option<String>,
}

/// Result of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Messages sent on all connections, all of them answered.
    pub messages: u64,
    /// Time from the first write to the last answer.
    pub time: Duration,
}

impl Round {
    /// Returns the messages per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.messages as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Median and range of the rates of all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Median rate.
    pub median: f64,
    /// Lowest rate.
    pub low: f64,
    /// Highest rate.
    pub high: f64,
}

impl Summary {
    /// Returns the messages per second of the rounds, or `None` if no round was completed.
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
