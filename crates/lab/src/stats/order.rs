//! Medians with confidence intervals by order statistics: T. P. Hettmansperger and S. J. Sheather,
//! *Statistics & Probability Letters* 4, 1986.
//!
//! The number of samples below the true median follows a binomial distribution with p = 1/2,
//! whatever the distribution of the samples. The d-th values from either end therefore enclose the
//! median with a known probability. The bounds are interpolated between the two d whose
//! probabilities are next to 95 %. On noise that is normal, skewed or bimodal the interval contains
//! the median in 95 of 100 cases, the percentiles of resampled medians in 92 or 93
//! (`crates/lab/tests/it/coverage.rs`).

use statrs::distribution::{Binomial, DiscreteCDF};

use super::interval::Interval;

/// Probability that the interval misses the median on one side.
const OUTSIDE: f64 = 0.025;

/// Returns the median; for an even number of values, the mean of the two middle ones.
///
/// Returns `None` for no values. COST: a sorted copy.
pub fn median(values: &[f64]) -> Option<f64> {
    middle(&sorted(values))
}

/// Returns the median with its 95 % confidence interval; `None` for no values.
///
/// For fewer than six values the interval is their range, which contains the median with less than
/// 95 % probability. COST: a sorted copy.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let values = sorted(values);
    let value = middle(&values)?;
    let count = values.len();
    let coins = Binomial::new(0.5, count as u64).ok()?;
    let depth = match coins.cdf(0) < OUTSIDE {
        true => usize::try_from(coins.inverse_cdf(OUTSIDE)).ok()?,
        false => 1,
    };
    let inwards = inwards(&coins, depth);
    let end = |outer: f64, inner: f64| outer + inwards * (inner - outer);
    let inner = depth.min(count - 1);
    Some(Interval {
        value,
        low: end(values[depth - 1], values[inner]).min(value),
        high: end(values[count - depth], values[count - 1 - inner]).max(value),
    })
}

/// Returns how far the bounds lie from the values at this depth towards the next, from 0 to 1.
fn inwards(coins: &Binomial, depth: usize) -> f64 {
    // Probability that the true median lies beyond the values at a depth, on one side.
    let beyond = |depth: usize| coins.cdf(depth as u64 - 1);
    let (outer, inner) = (beyond(depth), beyond(depth + 1));
    let (n, d) = (coins.n() as f64, depth as f64);
    if outer >= OUTSIDE || 2.0 * d >= n {
        return 0.0;
    }
    let share = (OUTSIDE - outer) / (inner - outer);
    (n - d) * share / (d + (n - 2.0 * d) * share)
}

pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns the median of sorted values.
pub(super) fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted[half - 1];
    Some(lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_values_have_no_median() {
        assert_eq!(median(&[]), None);
        assert_eq!(median_interval(&[]), None);
    }

    #[test]
    fn median_of_an_even_number_of_values_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 3.0]), Some(3.0));
    }

    /// For 11 values, the second encloses the median in 2024 of 2048 cases and the third in 1914;
    /// the paper's formula puts the bound at 0.7998 of the way between them.
    #[test]
    fn bounds_of_eleven_values_lie_between_the_second_and_the_third() {
        let values: Vec<f64> = (1..=11).map(f64::from).collect();
        let interval = median_interval(&values).unwrap();
        let share = (2024.0 / 2048.0 - 0.95) / (110.0 / 2048.0);
        let inwards = 9.0 * share / (2.0 + 7.0 * share);
        assert_eq!(interval.value, 6.0);
        assert!((interval.low - 2.0 - inwards).abs() < 1e-9, "{}", interval.low);
        assert!((10.0 - interval.high - inwards).abs() < 1e-9, "{}", interval.high);
    }

    #[test]
    fn interval_of_fewer_than_six_values_is_their_range() {
        for count in 1..6 {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let interval = median_interval(&values).unwrap();
            assert_eq!((interval.low, interval.high), (1.0, f64::from(count)));
        }
    }

    #[test]
    fn interval_of_many_values_agrees_with_the_normal_approximation() {
        let values: Vec<f64> = (0..100_001).map(f64::from).collect();
        let interval = median_interval(&values).unwrap();
        let half = 1.96 * 100_001f64.sqrt() / 2.0;
        assert!((interval.low - (50_000.0 - half)).abs() < 3.0, "{}", interval.low);
        assert!((interval.high - (50_000.0 + half)).abs() < 3.0, "{}", interval.high);
    }

    proptest! {
        #[test]
        fn as_many_values_lie_below_the_median_as_above(values in prop::collection::vec(-1e9f64..1e9, 1..60)) {
            let middle = median(&values).unwrap();
            let below = values.iter().filter(|&&value| value < middle).count();
            let above = values.iter().filter(|&&value| value > middle).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
        }

        #[test]
        fn median_does_not_depend_on_the_order(mut values in prop::collection::vec(-1e9f64..1e9, 1..60)) {
            let before = median_interval(&values);
            values.reverse();
            prop_assert_eq!(before, median_interval(&values));
        }

        #[test]
        fn interval_lies_within_the_samples_and_contains_the_median(
            values in prop::collection::vec(-1e9f64..1e9, 1..60)
        ) {
            let interval = median_interval(&values).unwrap();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least <= interval.low && interval.low <= interval.value);
            prop_assert!(interval.value <= interval.high && interval.high <= most);
        }
    }
}
