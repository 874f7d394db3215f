//! Values that lie apart: B. Iglewicz and D. C. Hoaglin, *How to Detect and Handle Outliers*,
//! ASQC 1993, by distance from the median in medians of such distances.
//!
//! They are told of, never dropped: something else that ran in between is part of what a user meets.

use super::median;

/// So many medians of distances make a standard deviation of what is normal.
const OF_NORMAL: f64 = 0.6745;

/// From so many of those on a value lies apart. Of two thousand normal ones it is one.
const APART: f64 = 3.5;

/// The places of the values that lie apart. COST: two sorts.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(middle) = median(values) else { return Vec::new() };
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let usual = median(&distances).unwrap_or(0.0);
    // WHY: where more than half are the same, no distance is usual and none can be told apart.
    if usual <= 0.0 {
        return Vec::new();
    }
    let far = |&place: &usize| OF_NORMAL * distances[place] / usual > APART;
    (0..values.len()).filter(far).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_lies_apart_is_told_by_its_place() {
        assert_eq!(outliers(&[10.0, 10.2, 9.9, 30.0, 10.1, 9.8, 1.0]), [3, 6]);
        // Median 3, median distance 1: the score of 8.3 is 3.57, that of 8.1 is 3.44.
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 8.3]), [4]);
        assert!(outliers(&[1.0, 2.0, 3.0, 4.0, 8.1]).is_empty());
    }

    #[test]
    fn where_most_are_the_same_or_there_are_none_nothing_lies_apart() {
        assert!(outliers(&[5.0, 5.0, 5.0, 9.0]).is_empty());
        assert!(outliers(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn fewer_than_half_lie_apart_whatever_the_unit(
            samples in prop::collection::vec(-1e6f64..1e6, 1..40)
        ) {
            let apart = outliers(&samples);
            prop_assert!(2 * apart.len() < samples.len().max(1));
            let doubled: Vec<_> = samples.iter().map(|sample| sample * 2.0).collect();
            prop_assert_eq!(outliers(&doubled), apart);
        }
    }
}
