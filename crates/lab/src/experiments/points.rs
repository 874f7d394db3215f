//! Default values of experiments, and building blocks of their points. Pure.

use std::thread::available_parallelism;

use serde_json::Value;

use super::checks::one_each;
use super::experiment::{Better, Experiment, Figure, Params, Point, SamplingMode, Scaled};

/// Default values: the time per operation in ns, with a calibrated n, without a sweep and without variants.
pub(super) const TIME_PER_OPERATION: Experiment = Experiment {
    id: "",
    title: "",
    what: "",
    notes: &[],
    metric: "",
    unit: "ns",
    better: Better::Lower,
    x: None,
    y: None,
    figure: Figure::PerOperation(None),
    variants: false,
    mode: SamplingMode::Usual,
    points: |_| timed(Params::new(), counted(1000, 1_000_000_000, 1.0)),
    check: one_each,
};

/// Creates parameters from numbers.
pub(super) fn params<const N: usize>(pairs: [(&str, u64); N]) -> Params {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

/// Returns the number of cores.
pub(crate) fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// A calibrated n, from `start` to `cap`.
pub(super) fn counted(start: u64, cap: u64, share: f64) -> Scaled {
    Scaled { param: "n", start, cap, share, stepped: false }
}

/// A calibrated number of repetitions, from `start` on.
pub(super) fn repeated(start: u64, share: f64) -> Scaled {
    Scaled { param: "reps", start, cap: 1_000_000, share, stepped: false }
}

/// Returns one point without a swept parameter, with a calibrated one.
pub(super) fn timed(params: Params, scaled: Scaled) -> Vec<Point> {
    vec![Point { x: None, params, scaled: Some(scaled) }]
}

/// Returns one point per x, each with a calibrated parameter and an equal share of the time.
pub(super) fn sweep(xs: Vec<u64>, of: impl Fn(u64, f64) -> (Params, Scaled)) -> Vec<Point> {
    let share = 1.0 / xs.len() as f64;
    let point = |x| {
        let (params, scaled) = of(x, share);
        Point { x: Some(x), params, scaled: Some(scaled) }
    };
    xs.into_iter().map(point).collect()
}

/// Returns `count` evenly spaced integers from `first` to `last`.
pub(super) fn evenly(first: u64, last: u64, count: u64) -> Vec<u64> {
    (0..count).map(|step| first + (last - first) * step / (count - 1).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn evenly_spaced_numbers_include_both_ends() {
        assert_eq!(evenly(0, 10_000, 5), [0, 2500, 5000, 7500, 10_000]);
        assert_eq!(evenly(100, 1000, 10)[9], 1000);
    }
}
