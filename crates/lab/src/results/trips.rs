//! `hog`: round-trip latency by kind of loop, and lateness of the timers that start the trips.

use super::frame::{Draft, Frame, field, number};
use super::schema::ResultEntry;

/// Field of the answer and name of the figure; one value per sample, in µs.
const FIGURES: [(&str, &str); 5] = [
    ("p50_ns", "round trip p50"),
    ("p99_ns", "round trip p99"),
    ("max_ns", "round trip max"),
    ("late_p50_ns", "timer lateness p50"),
    ("late_p99_ns", "timer lateness p99"),
];

/// Returns the figures of each loop; the 99th percentile of the open loop with hogs is the primary
/// metric.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let mut results = Vec::new();
    for point in &frame.lane.points {
        let open = point.params.get("loop").is_some_and(|pace| pace == "open");
        let hogs = number(&point.params, "hogs") > 0;
        let pace = match (open, hogs) {
            (true, true) => "open loop",
            (true, false) => "open loop without hogs",
            (false, _) => "closed loop",
        };
        // No timers start the trips of a closed loop.
        let figures = FIGURES.iter().filter(|(name, _)| open || !name.starts_with("late"));
        for (name, metric) in figures {
            results.extend(frame.result(Draft {
                metric: &format!("{metric}, {pace}"),
                primary: open && hogs && *name == "p99_ns",
                ..frame.draft(point, field(point, name, 1000.0))
            }));
        }
    }
    results
}
