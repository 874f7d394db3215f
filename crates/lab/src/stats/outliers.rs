//! Samples that lie apart: B. Iglewicz and D. C. Hoaglin, *How to Detect and Handle Outliers*,
//! ASQC 1993, by the modified z-score, whose scale is the median distance from the median.

use super::median;

/// What makes the median distance of normal samples their standard deviation.
const NORMAL: f64 = 0.6745;

/// The score from which on the book calls a sample an outlier.
const FAR: f64 = 3.5;

/// How many samples lie apart from the others; none where more than half are the same, for then
/// there is no scale.
#[must_use]
pub fn outliers(samples: &[f64]) -> usize {
    let Some(middle) = median(samples) else { return 0 };
    let distances: Vec<f64> = samples.iter().map(|sample| (sample - middle).abs()).collect();
    let scale = median(&distances).unwrap_or(0.0);
    let far = |distance: &&f64| scale > 0.0 && NORMAL * **distance / scale > FAR;
    distances.iter().filter(far).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_lies_apart_is_counted_on_both_sides() {
        // Median 3, median distance 1: the score of 8.3 is 3.57, that of 8.1 is 3.44.
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 8.3]), 1);
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 8.1]), 0);
        assert_eq!(outliers(&[-9.0, 2.0, 3.0, 4.0, 2.5, 3.5, 19.0]), 2);
        assert_eq!(outliers(&[5.0, 5.0, 5.0, 9.0]), 0);
        assert_eq!(outliers(&[]), 0);
    }

    proptest! {
        #[test]
        fn fewer_than_half_lie_apart_whatever_the_unit(
            samples in prop::collection::vec(-1e6f64..1e6, 1..40)
        ) {
            let count = outliers(&samples);
            prop_assert!(2 * count < samples.len().max(1));
            let doubled: Vec<_> = samples.iter().map(|sample| sample * 2.0).collect();
            prop_assert_eq!(outliers(&doubled), count);
        }
    }
}
