//! The result of a run.

use std::time::Duration;

use serde_json::{Map, Value};

/// Figures of one run, as totals over its repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Duration of the work, in nanoseconds, from a monotonic clock.
    pub elapsed_ns: u64,
    /// Number of operations the time is divided by.
    pub ops: u64,
    /// Number of events that should have happened, counted where they were caused.
    pub sent: u64,
    /// Number of events that happened, counted where they arrived.
    pub received: u64,
    /// Additional figures of the experiment, by name.
    pub extra: Vec<(&'static str, u64)>,
}

impl Sample {
    /// Creates a sample without additional figures.
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

    /// Adds a figure.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: u64) -> Self {
        self.extra.push((name, value));
        self
    }

    /// Returns the answer in the protocol's form.
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
