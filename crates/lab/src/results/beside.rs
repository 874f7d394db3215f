//! What stands beside a figure: how long single messages took, and the memory, of the same samples.
//!
//! Latency is told by the contender, which may leave it out, or by the client of its server; memory
//! is read by the lab and lacks where the operating system does not tell. What is missing gives no
//! result.

use super::figures::{Draft, Frame, finite};
use super::schema::ResultEntry;
use crate::experiments::Better;

/// Which field of an answer becomes which figure, and how much of the field is one of its unit.
const FIGURES: [(&str, &str, &str, f64); 4] = [
    ("p50_ns", "latency p50", "µs", 1e3),
    ("p99_ns", "latency p99", "µs", 1e3),
    ("max_ns", "latency max", "µs", 1e3),
    ("resident_peak", "resident memory", "MB", 1e6),
];

/// The figures of each point; none of them is principal.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let figures = frame.lane.points.iter().flat_map(|point| {
        FIGURES.iter().map(move |(name, metric, unit, size)| {
            let told = point.replies.iter().filter_map(|(_, reply)| reply.extra(name));
            frame.result(Draft {
                metric,
                unit,
                better: Better::Lower,
                params: point.params.clone(),
                x: point.x,
                samples: finite(told.map(|value| value as f64 / size)),
                principal: false,
            })
        })
    });
    figures.flatten().collect()
}
