//! Percentile bootstrap intervals: B. Efron and R. J. Tibshirani, *An Introduction
//! to the Bootstrap*, Chapman & Hall 1993, chapter 13.
//!
//! A median of a dozen timings has no textbook distribution; resampling asks the
//! samples themselves how far it wanders.

use super::median_in_place;

/// Resamples per interval: the ends are then the 50th from either side.
const RESAMPLES: usize = 2000;

/// A figure with the ends of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The figure itself.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The same, so many times as wide on a scale of ratios. Only for what is above zero.
    #[must_use]
    pub fn widened(self, factor: f64) -> Self {
        let away = |end: f64| self.value * (end / self.value).powf(factor);
        Self { value: self.value, low: away(self.low), high: away(self.high) }
    }

    /// The ratio the other way round. Only for what is above zero.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { value: 1.0 / self.value, low: 1.0 / self.high, high: 1.0 / self.low }
    }

    /// Whether it leaves a value out.
    #[must_use]
    pub fn excludes(self, value: f64) -> bool {
        value < self.low || self.high < value
    }
}

/// The median with its interval; `None` of no values.
///
/// COST: 2000 sorts of the values.
#[must_use]
pub fn median_interval(values: &[f64], seed: u64) -> Option<Interval> {
    let value = super::median(values)?;
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut drawn = Vec::with_capacity(values.len());
    let medians = (0..RESAMPLES).filter_map(|_| resampled(values, &mut drawn, &mut dice));
    Some(bounded(value, medians.collect()))
}

/// The median of `over` divided by that of `under`, with its interval.
///
/// `None` unless every resample of both is above zero: a figure that cannot be
/// told from zero has no ratio.
///
/// COST: 2000 sorts of each.
#[must_use]
pub fn ratio_of_medians(over: &[f64], under: &[f64], seed: u64) -> Option<Interval> {
    let value = super::median(over)? / super::median(under)?;
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut drawn = Vec::with_capacity(over.len().max(under.len()));
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let above = resampled(over, &mut drawn, &mut dice)?;
        let below = resampled(under, &mut drawn, &mut dice)?;
        if above <= 0.0 || below <= 0.0 {
            return None;
        }
        ratios.push(above / below);
    }
    (value > 0.0 && value.is_finite()).then(|| bounded(value, ratios))
}

fn resampled(values: &[f64], drawn: &mut Vec<f64>, dice: &mut fastrand::Rng) -> Option<f64> {
    drawn.clear();
    drawn.extend((0..values.len()).map(|_| values[dice.usize(..values.len())]));
    median_in_place(drawn)
}

fn bounded(value: f64, mut resamples: Vec<f64>) -> Interval {
    resamples.sort_unstable_by(f64::total_cmp);
    let cut = resamples.len() / 40;
    let low = resamples.get(cut).copied().unwrap_or(value);
    let high = resamples.iter().rev().nth(cut).copied().unwrap_or(value);
    // WHY: with very few values the interval can miss the figure it is drawn for.
    Interval { value, low: low.min(value), high: high.max(value) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let values: Vec<f64> = (0..11).map(|step| 100.0 + f64::from(step * step % 7)).collect();
        assert_eq!(median_interval(&values, 7), median_interval(&values, 7));
    }

    #[test]
    fn a_figure_that_cannot_be_told_from_zero_has_no_ratio() {
        assert_eq!(ratio_of_medians(&[3.0, 4.0, 5.0], &[-1.0, 0.5, 1.0], 1), None);
        assert_eq!(ratio_of_medians(&[3.0], &[0.0], 1), None);
        assert_eq!(ratio_of_medians(&[], &[1.0], 1), None);
    }

    #[test]
    fn the_ratio_of_constants_is_exact() {
        let ratio = ratio_of_medians(&[6.0; 9], &[2.0; 9], 1).unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (3.0, 3.0, 3.0));
    }

    #[test]
    fn the_interval_holds_the_true_median_about_as_often_as_it_says() {
        let mut dice = fastrand::Rng::with_seed(42);
        let held = (0..300)
            .filter(|&trial| {
                let values: Vec<f64> = (0..21).map(|_| dice.f64()).collect();
                let interval = median_interval(&values, trial).unwrap();
                interval.low <= 0.5 && 0.5 <= interval.high
            })
            .count();
        assert!((270..=297).contains(&held), "{held} of 300");
    }

    proptest! {
        #[test]
        fn the_interval_lies_within_the_samples_and_holds_the_median(
            values in prop::collection::vec(1.0f64..1e9, 1..30), seed: u64
        ) {
            let interval = median_interval(&values, seed).unwrap();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            prop_assert!(least <= interval.low && interval.low <= interval.value);
            prop_assert!(interval.value <= interval.high && interval.high <= most);
        }

        #[test]
        fn a_ratio_scales_with_what_is_measured(
            values in prop::collection::vec(1.0f64..1e6, 3..20), factor in 0.1f64..10.0
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let ratio = ratio_of_medians(&scaled, &values, 3).unwrap();
            prop_assert!((ratio.value / factor - 1.0).abs() < 1e-9);
        }
    }
}
