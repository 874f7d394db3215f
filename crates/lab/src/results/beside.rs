//! Secondary figures from the same samples: latency of single messages and memory.
//!
//! The contender, or the load client for its server, may report latency. The lab reads memory,
//! where the operating system reports it. A missing value gives no result.

use super::frame::{Draft, Frame, field};
use super::schema::ResultEntry;
use crate::experiments::Better;

/// Field of the answer, name of the figure, its unit, and the number of field units per unit.
const FIGURES: [(&str, &str, &str, f64); 5] = [
    ("p50_ns", "latency p50", "µs", 1e3),
    ("p90_ns", "latency p90", "µs", 1e3),
    ("p99_ns", "latency p99", "µs", 1e3),
    ("max_ns", "latency max", "µs", 1e3),
    ("resident_peak", "resident memory", "MB", 1e6),
];

/// Returns the figures of each point; none of them is a primary metric.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let figures = frame.lane.points.iter().flat_map(|point| {
        FIGURES.iter().map(move |(name, metric, unit, size)| {
            let samples = field(point, name, *size);
            let better = Better::Lower;
            frame.result(Draft { metric, unit, better, ..frame.draft(point, samples) })
        })
    });
    figures.flatten().collect()
}
