//! Value parsers of command-line options. An error states what to give instead.

use std::net::SocketAddr;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use purlin_ack::session::Level;

/// Names of the ack levels.
pub(crate) const LEVELS: [(&str, Level); 3] =
    [("received", Level::Received), ("handled", Level::Handled), ("durable", Level::Durable)];

/// Parses one of these names; the help lists them.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    names: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names.map(|(name, _)| name)).try_map(move |given| {
        let known = names.iter().find(|(name, _)| given == *name);
        known.map(|(_, value)| *value).ok_or("unknown name")
    })
}

/// Parses a count from 1 to 1000000.
pub(crate) fn count(text: &str) -> Result<u32, String> {
    within(text, 1..=1_000_000, "give a whole number from 1 to 1000000")
}

/// Parses a count from 0 to 1000000.
pub(crate) fn count_or_zero(text: &str) -> Result<u32, String> {
    within(text, 0..=1_000_000, "give a whole number from 0 to 1000000")
}

/// Parses a count without an upper limit.
pub(crate) fn large_count(text: &str) -> Result<u64, String> {
    within(text, 1.., "give a whole number from 1")
}

/// Parses a seed. It has 53 bits, which every JSON parser preserves exactly.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    within(text, ..1 << 53, "give a whole number from 0 to 9007199254740991")
}

/// Parses a positive number up to a million.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
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

/// Parses an address and a port.
pub(crate) fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an address and a port, such as 127.0.0.1:4369".into())
}

fn within<T: FromStr + PartialOrd>(
    text: &str,
    range: impl RangeBounds<T>,
    expected: &str,
) -> Result<T, String> {
    let value = text.parse().ok().filter(|value| range.contains(value));
    value.ok_or_else(|| expected.to_owned())
}
