//! Online mean and standard deviation by B. P. Welford, *Technometrics* 4, 1962.
//!
//! Sums of values and squares lose all precision when the deviation is small relative to the mean,
//! as that of times is; this algorithm does not. The lab's statistics use it too, and are verified
//! with it against the certified data sets of NIST.

/// Count, mean and standard deviation of values, without storing them. COST: 24 bytes.
///
/// ```
/// let moments: purlin_timing::Moments = [2.0, 4.0, 9.0].into_iter().collect();
/// assert_eq!((moments.count(), moments.mean()), (3, Some(5.0)));
/// assert_eq!(moments.deviation(), Some(13f64.sqrt()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    count: u64,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Moments {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(self) -> u64 {
        self.count
    }

    /// Returns the mean, or `None` without values.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Returns the sample standard deviation (divisor n - 1), or `None` for fewer than two values.
    #[must_use]
    pub fn deviation(self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

impl Extend<f64> for Moments {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        moments.extend(values);
        moments
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_values_have_no_mean_and_one_value_has_no_deviation() {
        assert_eq!(Moments::default().mean(), None);
        let one = Moments::from_iter([7.0]);
        assert_eq!((one.mean(), one.deviation()), (Some(7.0), None));
    }

    #[test]
    fn a_small_deviation_at_a_large_mean_is_precise() {
        let far = Moments::from_iter([1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        assert_eq!((far.mean(), far.deviation()), (Some(1e9 + 10.0), Some(30f64.sqrt())));
    }

    proptest! {
        #[test]
        fn the_mean_is_between_the_values_and_a_shift_keeps_the_deviation(
            values in prop::collection::vec(-1e6f64..1e6, 2..50), shift in -1e6f64..1e6
        ) {
            let own: Moments = values.iter().copied().collect();
            let shifted: Moments = values.iter().map(|value| value + shift).collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mean = own.mean().unwrap();
            prop_assert!(least - 1e-6 <= mean && mean <= most + 1e-6);
            prop_assert!((shifted.mean().unwrap() - mean - shift).abs() < 1e-6);
            prop_assert!((shifted.deviation().unwrap() - own.deviation().unwrap()).abs() < 1e-6);
        }
    }
}
