//! Compact formatting of durations and ratios. Pure.

use std::time::Duration;

/// Formats a duration in its two largest units, as `3 h 20 min`.
pub(super) fn time(nanoseconds: u64) -> String {
    let seconds = Duration::from_nanos(nanoseconds).as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// Formats a ratio, as `12 %`.
pub(super) fn percent(part: f64) -> String {
    format!("{:.0} %", if part.is_finite() { part * 100.0 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::{percent, time};

    #[test]
    fn durations_are_formatted_in_their_two_largest_units() {
        let seconds = [5, 65, 3725, 90_000];
        let texts = seconds.map(|seconds| time(seconds * 1_000_000_000));
        assert_eq!(texts, ["5 s", "1 min 5 s", "1 h 2 min", "1 d 1 h"]);
        assert_eq!(percent(0.123), "12 %");
    }
}
