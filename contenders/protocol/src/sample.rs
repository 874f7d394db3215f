//! What one run reports.

use std::time::Duration;

use serde_json::{Map, Value};

/// The figures of one run, totals over its repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Time for the work alone, in nanoseconds, from a monotonic clock.
    pub elapsed_ns: u64,
    /// What the time is divided by.
    pub ops: u64,
    /// What should have happened, counted where it was caused.
    pub sent: u64,
    /// What did happen, counted where it arrived.
    pub received: u64,
    /// Whatever more the experiment reports, by name.
    pub extra: Vec<(&'static str, u64)>,
}

impl Sample {
    /// A sample with nothing more to report.
    #[must_use]
    pub fn new(elapsed: Duration, ops: u64, sent: u64, received: u64) -> Self {
        Sample {
            elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            ops,
            sent,
            received,
            extra: Vec::new(),
        }
    }

    /// The same with one more figure.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: u64) -> Self {
        self.extra.push((name, value));
        self
    }

    /// The answer as the protocol writes it.
    pub(crate) fn to_json(&self) -> Value {
        let mut answer = Map::new();
        answer.insert("elapsed_ns".into(), self.elapsed_ns.into());
        answer.insert("ops".into(), self.ops.into());
        answer.insert("sent".into(), self.sent.into());
        answer.insert("received".into(), self.received.into());
        for (name, value) in &self.extra {
            answer.insert((*name).into(), (*value).into());
        }
        Value::Object(answer)
    }
}
