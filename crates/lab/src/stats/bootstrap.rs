//! Percentile bootstrap intervals: B. Efron and R. J. Tibshirani, *An Introduction to the
//! Bootstrap*, Chapman & Hall 1993, chapter 13.
//!
//! The ratio of two medians of a dozen timings each has no known distribution; resampling estimates
//! it from the samples. The intervals are conservative: they contain the true ratio in 96 or 97 of
//! 100 cases (`crates/lab/tests/it/coverage.rs`).

use super::interval::Interval;
use super::order::{median, middle};

/// Number of resamples per interval: its bounds are the 50th values from either end.
const RESAMPLES: usize = 2000;

/// Returns the ratio of the median of `over` to that of `under`, with its confidence interval.
///
/// Returns `None` unless the median of every resample of both is positive: a figure that cannot be
/// distinguished from 0 has no ratio.
///
/// COST: 2000 resamples of each set, each of which is sorted.
pub fn ratio_of_medians(over: &[f64], under: &[f64], seed: u64) -> Option<Interval> {
    let value = median(over)? / median(under)?;
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut drawn = Vec::with_capacity(over.len().max(under.len()));
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let above = resampled_median(over, &mut drawn, &mut dice)?;
        let below = resampled_median(under, &mut drawn, &mut dice)?;
        if above <= 0.0 || below <= 0.0 {
            return None;
        }
        ratios.push(above / below);
    }
    (value > 0.0 && value.is_finite()).then(|| bounded(value, ratios))
}

/// Returns the median of a resample of the same size, drawn with replacement into `drawn`.
fn resampled_median(values: &[f64], drawn: &mut Vec<f64>, dice: &mut fastrand::Rng) -> Option<f64> {
    drawn.clear();
    drawn.extend(values.iter().map(|_| values[dice.usize(..values.len())]));
    drawn.sort_unstable_by(f64::total_cmp);
    middle(drawn)
}

fn bounded(value: f64, mut resamples: Vec<f64>) -> Interval {
    resamples.sort_unstable_by(f64::total_cmp);
    let cut = resamples.len() / 40;
    let low = resamples.get(cut).copied().unwrap_or(value);
    let high = resamples.iter().rev().nth(cut).copied().unwrap_or(value);
    // WHY: with very few values the interval may not contain the point estimate.
    Interval { value, low: low.min(value), high: high.max(value) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn same_seed_gives_the_same_interval() {
        let values: Vec<f64> = (0..11).map(|step| 100.0 + f64::from(step * step % 7)).collect();
        let others = [3.0, 9.0, 1.0, 10.0, 4.0];
        assert_eq!(ratio_of_medians(&values, &others, 7), ratio_of_medians(&values, &others, 7));
    }

    #[test]
    fn figure_that_may_be_zero_has_no_ratio() {
        assert_eq!(ratio_of_medians(&[3.0, 4.0, 5.0], &[-1.0, 0.5, 1.0], 1), None);
        assert_eq!(ratio_of_medians(&[3.0], &[0.0], 1), None);
        assert_eq!(ratio_of_medians(&[], &[1.0], 1), None);
    }

    #[test]
    fn ratio_of_constants_is_exact() {
        let ratio = ratio_of_medians(&[6.0; 9], &[2.0; 9], 1).unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (3.0, 3.0, 3.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn ratio_scales_with_the_samples(
            values in prop::collection::vec(1.0f64..1e6, 3..20), factor in 0.1f64..10.0
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let ratio = ratio_of_medians(&scaled, &values, 3).unwrap();
            prop_assert!((ratio.value / factor - 1.0).abs() < 1e-9);
        }
    }
}
