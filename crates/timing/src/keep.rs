//! What is kept of the calls.

use std::fmt;
use std::time::Duration;

use crate::Moments;

/// Is told of each call when it is over, outside of what is timed.
pub trait Keep<T> {
    /// A call took so long and returned this.
    fn keep(&mut self, time: Duration, value: T);
}

/// How many calls there were, and how their times are spread. COST: 56 bytes, whatever their number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    moments: Moments,
    shortest: Duration,
    longest: Duration,
}

impl Summary {
    /// How many calls there were.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.moments.count()
    }

    /// Their mean time in nanoseconds; `None` of no calls.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        self.moments.mean()
    }

    /// The sample standard deviation of their times in nanoseconds; `None` of fewer than two.
    #[must_use]
    pub fn deviation_ns(&self) -> Option<f64> {
        self.moments.deviation()
    }

    /// The shortest; zero of no calls.
    #[must_use]
    pub fn shortest(&self) -> Duration {
        self.shortest
    }

    /// The longest; zero of no calls.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.longest
    }

    fn add(&mut self, time: Duration) {
        let first = self.calls() == 0;
        self.shortest = if first { time } else { self.shortest.min(time) };
        self.longest = self.longest.max(time);
        self.moments.add(time.as_nanos() as f64);
    }
}

impl<T> Keep<T> for Summary {
    fn keep(&mut self, time: Duration, _: T) {
        self.add(time);
    }
}

impl fmt::Display for Summary {
    /// `1.25 µs ± 0.31 µs (1.1 µs … 4.02 µs, 400 calls)`
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(mean) = self.mean_ns() else { return formatter.write_str("no calls") };
        let near = |ns: f64| Duration::from_nanos(ns.round() as u64);
        write!(formatter, "{:.2?}", near(mean))?;
        if let Some(deviation) = self.deviation_ns() {
            write!(formatter, " ± {:.2?}", near(deviation))?;
        }
        let plural = if self.calls() == 1 { "" } else { "s" };
        let (shortest, longest) = (self.shortest, self.longest);
        write!(formatter, " ({shortest:.2?} … {longest:.2?}, {} call{plural})", self.calls())
    }
}

/// The time of every call, in their order. COST: 16 bytes per call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// The times.
    #[must_use]
    pub fn as_slice(&self) -> &[Duration] {
        &self.0
    }

    /// The times.
    #[must_use]
    pub fn into_vec(self) -> Vec<Duration> {
        self.0
    }

    /// What they come to.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        self.0.iter().for_each(|&time| summary.add(time));
        summary
    }
}

impl<T> Keep<T> for Times {
    fn keep(&mut self, time: Duration, _: T) {
        self.0.push(time);
    }
}

/// The time of every call and what it returned. COST: 16 bytes and a value per call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls<T> {
    /// The times.
    pub times: Times,
    /// The values, one for each time.
    pub values: Vec<T>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { times: Times::default(), values: Vec::new() }
    }
}

impl<T> Keep<T> for Calls<T> {
    fn keep(&mut self, time: Duration, value: T) {
        self.times.0.push(time);
        self.values.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(microseconds: &[u64]) -> Summary {
        let times = microseconds.iter().map(|&one| Duration::from_micros(one)).collect();
        Times(times).summary()
    }

    #[test]
    fn a_summary_is_what_its_times_come_to() {
        let three = summary(&[4, 2, 9]);
        assert_eq!((three.calls(), three.mean_ns()), (3, Some(5000.0)));
        assert!((three.deviation_ns().unwrap() - 1000.0 * 13f64.sqrt()).abs() < 1e-9);
        assert_eq!(three.shortest(), Duration::from_micros(2));
        assert_eq!(three.longest(), Duration::from_micros(9));
    }

    #[test]
    fn a_summary_reads_as_one_line() {
        assert_eq!(summary(&[4, 2, 9]).to_string(), "5.00µs ± 3.61µs (2.00µs … 9.00µs, 3 calls)");
        assert_eq!(summary(&[4]).to_string(), "4.00µs (4.00µs … 4.00µs, 1 call)");
        assert_eq!(Summary::default().to_string(), "no calls");
    }
}
