//! Value parsers of command-line options. An error states what to give instead.

use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// Parses a count from 1 to 1000000.
///
/// # Errors
///
/// Returns what to give instead; so do all of these.
pub fn count(text: &str) -> Result<u32, String> {
    within(text, 1..=1_000_000, "give a whole number from 1 to 1000000")
}

/// Parses a count from 0 to 1000000.
pub(crate) fn count_or_zero(text: &str) -> Result<u32, String> {
    within(text, 0..=1_000_000, "give a whole number from 0 to 1000000")
}

/// Parses a seed. It has 53 bits, which every JSON parser preserves exactly.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    within(text, ..1 << 53, "give a whole number from 0 to 9007199254740991")
}

/// Parses a positive number up to a million.
pub fn positive(text: &str) -> Result<f64, String> {
    let range = (Bound::Excluded(0.0), Bound::Included(1e6));
    within(text, range, "give a number above 0, at most 1000000")
}

/// Parses a percentage, including 0.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    within(text, 0.0..=1e6, "give a percentage from 0 to 1000000")
}

/// Parses a rate per second, including 0.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    within(text, 0.0..=1e12, "give a number from 0 to 1e12")
}

/// Parses a number in this range; the error is `expected`.
pub fn within<T: FromStr + PartialOrd>(
    text: &str,
    range: impl RangeBounds<T>,
    expected: &str,
) -> Result<T, String> {
    let value = text.parse().ok().filter(|value| range.contains(value));
    value.ok_or_else(|| expected.to_owned())
}
