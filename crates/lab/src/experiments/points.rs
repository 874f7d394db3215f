//! The words in which the experiments say what is sampled. Pure.

use serde_json::Value;

use super::{Params, Point, Scaled};

/// Parameters from numbers.
pub(super) fn params<const N: usize>(pairs: [(&str, u64); N]) -> Params {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

/// n by time, from `start` to `cap`.
pub(super) fn counted(start: u64, cap: u64, share: f64) -> Scaled {
    Scaled { param: "n", start, cap, share, stepped: false }
}

/// The repetitions by time, from `start` on.
pub(super) fn repeated(start: u64, share: f64) -> Scaled {
    Scaled { param: "reps", start, cap: 1_000_000, share, stepped: false }
}

/// One point with nothing swept, and a number by time.
pub(super) fn timed(params: Params, scaled: Scaled) -> Vec<Point> {
    vec![Point { x: None, params, scaled: Some(scaled) }]
}

/// A point for each x, with its parameters and a number that is scaled, each to its share of the time.
pub(super) fn sweep(xs: Vec<u64>, of: impl Fn(u64, f64) -> (Params, Scaled)) -> Vec<Point> {
    let share = 1.0 / xs.len() as f64;
    let point = |x| {
        let (params, scaled) = of(x, share);
        Point { x: Some(x), params, scaled: Some(scaled) }
    };
    xs.into_iter().map(point).collect()
}

/// `count` whole numbers from `first` to `last`, evenly spread.
pub(super) fn evenly(first: u64, last: u64, count: u64) -> Vec<u64> {
    (0..count).map(|step| first + (last - first) * step / (count - 1).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn evenly_spread_numbers_hold_both_ends() {
        assert_eq!(evenly(0, 10_000, 5), [0, 2500, 5000, 7500, 10_000]);
        assert_eq!(evenly(100, 1000, 10)[9], 1000);
    }
}
