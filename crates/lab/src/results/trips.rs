//! `hog`: round-trip latency, by open and closed loop.

use super::frame::{Draft, Frame, field};
use super::schema::ResultEntry;

/// Metrics of each loop; one value per sample, in µs.
const FIGURES: [(&str, &str, &str); 3] = [
    ("p50_ns", "median round trip, open loop", "median round trip, closed loop"),
    ("p99_ns", "99th percentile, open loop", "99th percentile, closed loop"),
    ("max_ns", "longest of a sample, open loop", "longest of a sample, closed loop"),
];

/// Returns three figures per loop; the median of the open loop is the primary metric.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let mut results = Vec::new();
    for point in &frame.lane.points {
        let open = point.params.get("loop").is_some_and(|pace| pace == "open");
        for (name, of_open, of_closed) in FIGURES {
            results.extend(frame.result(Draft {
                metric: if open { of_open } else { of_closed },
                primary: open && name == "p50_ns",
                ..frame.draft(point, field(point, name, 1000.0))
            }));
        }
    }
    results
}
