//! Collectors of call times.

use std::fmt;
use std::time::Duration;

use crate::Moments;

/// Collector that receives each call after its end, outside of the measured time.
pub trait Collector<T> {
    /// Records a call: its time and its result.
    fn record(&mut self, time: Duration, value: T);
}

/// Number of calls and the distribution of their times. COST: 56 bytes, whatever the number of
/// calls.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    moments: Moments,
    shortest: Duration,
    longest: Duration,
}

impl Summary {
    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.moments.count()
    }

    /// Returns the mean time in nanoseconds, or `None` without calls.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        self.moments.mean()
    }

    /// Returns the sample standard deviation of the times in nanoseconds, or `None` for fewer than
    /// two calls.
    #[must_use]
    pub fn deviation_ns(&self) -> Option<f64> {
        self.moments.deviation()
    }

    /// Returns the shortest time, or zero without calls.
    #[must_use]
    pub fn shortest(&self) -> Duration {
        self.shortest
    }

    /// Returns the longest time, or zero without calls.
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

impl<T> Collector<T> for Summary {
    fn record(&mut self, time: Duration, _: T) {
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

/// Time of every call, in order. COST: 16 bytes per call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Returns the times.
    #[must_use]
    pub fn as_slice(&self) -> &[Duration] {
        &self.0
    }

    /// Returns the times.
    #[must_use]
    pub fn into_vec(self) -> Vec<Duration> {
        self.0
    }

    /// Returns a summary of the times.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        self.0.iter().for_each(|&time| summary.add(time));
        summary
    }
}

impl<T> Collector<T> for Times {
    fn record(&mut self, time: Duration, _: T) {
        self.0.push(time);
    }
}

/// Time and result of every call. COST: 16 bytes and a value per call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls<T> {
    /// The times.
    pub times: Times,
    /// The results, one for each time.
    pub values: Vec<T>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { times: Times::default(), values: Vec::new() }
    }
}

impl<T> Collector<T> for Calls<T> {
    fn record(&mut self, time: Duration, value: T) {
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
    fn a_summary_has_count_mean_deviation_and_extremes() {
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
