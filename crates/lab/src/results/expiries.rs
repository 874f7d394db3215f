//! `timer-expiry`: time per expiry, and lateness of timers.

use super::frame::{Draft, Frame, field, number};
use super::schema::ResultEntry;

/// Field of the answer and name of the figure, in µs.
const LATENESS: [(&str, &str); 3] =
    [("p50_ns", "lateness p50"), ("p99_ns", "lateness p99"), ("max_ns", "lateness max")];

/// Returns the time per expiry of timers with one due time, which is the primary metric, and the
/// lateness of timers with spread ones.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let mut results = Vec::new();
    for point in &frame.lane.points {
        if number(&point.params, "spread_ms") == 0 {
            results.extend(frame.at(point, true, |reply| reply.ns_per_operation()));
            continue;
        }
        for (name, metric) in LATENESS {
            results.extend(frame.result(Draft {
                metric,
                unit: "µs",
                ..frame.draft(point, field(point, name, 1000.0))
            }));
        }
    }
    results
}
