//! Confidence interval of a figure.

use serde::Serialize;

/// A figure with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The point estimate.
    pub value: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
}

impl Interval {
    /// Returns the interval widened by `factor` on a logarithmic scale. Only for positive values.
    pub fn widened(self, factor: f64) -> Self {
        let away = |end: f64| self.value * (end / self.value).powf(factor);
        Self { value: self.value, low: away(self.low), high: away(self.high) }
    }

    /// Returns the interval of the inverse ratio. Only for positive values.
    pub fn inverse(self) -> Self {
        Self { value: 1.0 / self.value, low: 1.0 / self.high, high: 1.0 / self.low }
    }

    /// Returns whether the value lies outside of the interval.
    pub fn excludes(self, value: f64) -> bool {
        value < self.low || self.high < value
    }
}
