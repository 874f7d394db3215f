//! Compact formatting of numbers. Pure.

use std::time::Duration;

const THOUSANDS: [&str; 5] = ["", " k", " M", " G", " T"];
const BYTES: [&str; 5] = [" B", " KiB", " MiB", " GiB", " TiB"];

/// Formats a number with three digits, as `1.23 M`. Below a thousand it has at most one decimal.
pub(super) fn number(value: f64) -> String {
    scaled(value, 1000.0, &THOUSANDS)
}

/// Formats bytes, as `1.23 MiB`.
pub(super) fn bytes(value: u64) -> String {
    scaled(value as f64, 1024.0, &BYTES)
}

fn scaled(value: f64, step: f64, units: &[&str; 5]) -> String {
    let (mut value, mut unit) = (if value.is_finite() { value.max(0.0) } else { 0.0 }, 0);
    // WHY not 1000 or 1024: a value that rounds up to it uses the next unit.
    while value >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let digits = match value {
        whole if whole.fract() == 0.0 && unit == 0 => 0,
        small if small < 9.995 && unit > 0 => 2,
        small if small < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{}", units[unit])
}

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
    use super::{bytes, number, percent, time};
    use proptest::prelude::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        for (value, due) in [
            (0.0, "0"),
            (7.0, "7"),
            (7.25, "7.2"),
            (999.0, "999"),
            (999.6, "1.00 k"),
            (1234.0, "1.23 k"),
            (12_345.0, "12.3 k"),
            (123_456.0, "123 k"),
            (1e6, "1.00 M"),
            (f64::NAN, "0"),
        ] {
            assert_eq!(number(value), due);
        }
        assert_eq!(
            [1023, 1024, 3 << 19, u64::MAX].map(bytes).join(", "),
            "1023 B, 1.00 KiB, 1.50 MiB, 16777216 TiB"
        );
        assert_eq!(percent(0.123), "12 %");
    }

    #[test]
    fn durations_are_formatted_in_their_two_largest_units() {
        let seconds = [5, 65, 3725, 90_000];
        let told = seconds.map(|seconds| time(seconds * 1_000_000_000));
        assert_eq!(told, ["5 s", "1 min 5 s", "1 h 2 min", "1 d 1 h"]);
    }

    proptest! {
        #[test]
        fn every_number_fits_into_six_columns(value in 0.0_f64..1e14) {
            prop_assert!(number(value).len() <= 6, "{}", number(value));
        }
    }
}
