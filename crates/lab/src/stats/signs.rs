//! Whether differences lie to one side of zero: the sign test, as old as J. Arbuthnot's of 1710, with
//! the probability of what was found counted by half (H. O. Lancaster, *JASA* 56, 1961).
//!
//! It tosses the same coins as the interval of a median does, and so agrees with it. How far away an
//! outlier lies is nothing to it, where a test by signed ranks gives the farthest the most to say:
//! on machines that are late now and then that finds a sixth less.

use statrs::distribution::{Binomial, ContinuousCDF, Discrete, DiscreteCDF, Normal};

/// How probable it is that differences lie as much to one side of zero as these, if neither is likelier.
///
/// Those that are zero say nothing and are left out. `inflation` is what the variance is multiplied
/// by; 1 for independent differences. `None` of no differences.
#[must_use]
pub fn sign_test(differences: &[f64], inflation: f64) -> Option<f64> {
    if differences.is_empty() {
        return None;
    }
    let above = differences.iter().filter(|&&one| one > 0.0).count() as u64;
    let below = differences.iter().filter(|&&one| one < 0.0).count() as u64;
    let fewer = above.min(below);
    let coins = Binomial::new(0.5, above + below).ok()?;
    let found = coins.cdf(fewer) - coins.pmf(fewer) / 2.0;
    let normal = Normal::new(0.0, 1.0).ok()?;
    // WHY: as a normal deviate it can be drawn nearer to the middle for what resembles its neighbour.
    let away = -normal.inverse_cdf(found.min(0.5)) / inflation.sqrt();
    Some(2.0 * normal.sf(away))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of 2^11 ways to give eleven differences their signs, one has none below zero, eleven have one.
    #[test]
    fn differences_to_one_side_have_the_probability_that_counting_gives() {
        let mut differences: Vec<f64> = (1..=11).map(f64::from).collect();
        let all = sign_test(&differences, 1.0).unwrap();
        assert!((all / (2.0 * 0.5 / 2048.0) - 1.0).abs() < 1e-6, "{all}");
        differences[10] = -1000.0;
        let but_one = sign_test(&differences, 1.0).unwrap();
        assert!((but_one / (2.0 * 6.5 / 2048.0) - 1.0).abs() < 1e-6, "{but_one}");
        assert!(sign_test(&differences, 2.0).unwrap() > but_one);
    }

    #[test]
    fn what_does_not_differ_tells_nothing() {
        assert!((sign_test(&[0.0; 9], 1.0).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(sign_test(&[], 1.0), None);
    }

    proptest! {
        #[test]
        fn to_which_side_does_not_matter(differences in prop::collection::vec(-9i8..9, 1..40)) {
            let there: Vec<f64> = differences.iter().copied().map(f64::from).collect();
            let back: Vec<f64> = there.iter().map(|one| -one).collect();
            let probability = sign_test(&there, 1.0).unwrap();
            prop_assert_eq!(Some(probability), sign_test(&back, 1.0));
            prop_assert!((0.0..=1.0 + 1e-9).contains(&probability));
        }
    }
}
