//! Outliers by modified z-score, the distance from the median relative to the median absolute
//! deviation: B. Iglewicz and D. C. Hoaglin, *How to Detect and Handle Outliers*, ASQC 1993.
//!
//! Outliers are reported, never dropped: interference by other programs is part of what a user
//! experiences.

use super::median;

/// Ratio of the median absolute deviation to the standard deviation of a normal distribution.
const OF_NORMAL: f64 = 0.6745;

/// Modified z-score above which a value is an outlier; exceeded by 1 of 2000 normally distributed
/// values.
const LIMIT: f64 = 3.5;

/// Returns the indices of the outliers. COST: two sorts.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(middle) = median(values) else { return Vec::new() };
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let usual = median(&distances).unwrap_or(0.0);
    // WHY: if more than half of the values are equal, the median absolute deviation is 0 and gives
    // no scale.
    if usual <= 0.0 {
        return Vec::new();
    }
    let far = |&index: &usize| OF_NORMAL * distances[index] / usual > LIMIT;
    (0..values.len()).filter(far).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn outliers_are_reported_by_index() {
        assert_eq!(outliers(&[10.0, 10.2, 9.9, 30.0, 10.1, 9.8, 1.0]), [3, 6]);
        // Median 3, median distance 1: the score of 8.3 is 3.57, that of 8.1 is 3.44.
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 8.3]), [4]);
        assert!(outliers(&[1.0, 2.0, 3.0, 4.0, 8.1]).is_empty());
    }

    #[test]
    fn mostly_equal_values_and_no_values_have_no_outliers() {
        assert!(outliers(&[5.0, 5.0, 5.0, 9.0]).is_empty());
        assert!(outliers(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn outliers_are_a_minority_and_independent_of_the_unit(
            samples in prop::collection::vec(-1e6f64..1e6, 1..40)
        ) {
            let found = outliers(&samples);
            prop_assert!(2 * found.len() < samples.len().max(1));
            let doubled: Vec<_> = samples.iter().map(|sample| sample * 2.0).collect();
            prop_assert_eq!(outliers(&doubled), found);
        }
    }
}
