//! Rank-sum test for a difference between two sets of samples: H. B. Mann and D. R. Whitney,
//! *Annals of Mathematical Statistics* 18, 1947, with the usual corrections for ties and
//! continuity.
//!
//! Ranks are robust against outliers but not against drift: autocorrelated samples carry less
//! information than their number suggests, so their variance is multiplied by [`persistence`]. If
//! many figures are compared, [`discoveries`] selects those that may be called different.

use statrs::distribution::{ContinuousCDF, Normal};

use super::order::sorted;

/// Maximum autocorrelation used, so that a steady drift does not remove all evidence.
const MOST: f64 = 0.9;

/// The 95th percentile of the normal distribution.
const ONE_SIDED: f64 = 1.645;

/// Returns the p-value of the rank-sum test: the probability of a difference at least as large if
/// both sets have the same source.
///
/// `inflation` multiplies the variance; 1 for independent samples. Returns `None` if either set is
/// empty. COST: one sort.
pub fn rank_sum(some: &[f64], others: &[f64], inflation: f64) -> Option<f64> {
    let (m, n) = (some.len() as f64, others.len() as f64);
    if some.is_empty() || others.is_empty() {
        return None;
    }
    let together: Vec<f64> = some.iter().chain(others).copied().collect();
    let (ranks, ties) = ranks(&together);
    let all = m + n;
    let sum: f64 = ranks.iter().take(some.len()).sum();
    let away = (sum - m * (all + 1.0) / 2.0).abs() - 0.5;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if away <= 0.0 || variance <= 0.0 {
        return Some(1.0);
    }
    let normal = Normal::new(0.0, 1.0).ok()?;
    Some(2.0 * normal.sf(away / (variance * inflation).sqrt()))
}

/// Returns the factor by which autocorrelation of neighbours inflates the variance of a mean; at
/// least 1.
///
/// Uses the lag-1 autocorrelation of the ranks, pooled over all series, corrected for the bias of
/// short series (M. G. Kendall, *Biometrika* 41, 1954), for a first-order process (M. S. Bartlett,
/// 1946). Only autocorrelation beyond chance counts: the amount that 1 in 20 independent series
/// would show is subtracted, because otherwise a dozen samples could show hardly any difference.
pub fn persistence(all: &[&[f64]]) -> f64 {
    let (mut with_next, mut with_itself) = (0.0, 0.0);
    for series in all {
        let (ranks, _) = ranks(series);
        let middle = (series.len() as f64 + 1.0) / 2.0;
        with_itself += ranks.iter().map(|rank| (rank - middle).powi(2)).sum::<f64>();
        with_next +=
            ranks.windows(2).map(|pair| (pair[0] - middle) * (pair[1] - middle)).sum::<f64>();
    }
    if with_itself <= 0.0 {
        return 1.0;
    }
    let found = with_next / with_itself;
    let length = all.iter().map(|series| series.len()).min().unwrap_or(0);
    let together: usize = all.iter().map(|series| series.len()).sum();
    let corrected = found + (1.0 + 4.0 * found) / length as f64;
    let chance = ONE_SIDED / (together as f64).sqrt();
    let likely = (corrected - chance).clamp(0.0, MOST);
    let lags = (1..length).map(|lag| (1.0 - lag as f64 / length as f64) * likely.powf(lag as f64));
    1.0 + 2.0 * lags.sum::<f64>()
}

/// Returns which hypotheses to reject at this false discovery rate: Y. Benjamini and Y. Hochberg,
/// *J. R. Statist. Soc. B* 57, 1995.
pub fn discoveries(probabilities: &[f64], share: f64) -> Vec<bool> {
    let sorted = sorted(probabilities);
    let count = sorted.len() as f64;
    let bound = |index: usize| share * (index + 1) as f64 / count;
    let last = sorted.iter().enumerate().rev().find(|&(index, &one)| one <= bound(index));
    let limit = last.map_or(-1.0, |(_, &one)| one);
    probabilities.iter().map(|&one| one <= limit).collect()
}

/// Returns the rank of each value from 1, with mean ranks for ties, and the sum of t³ − t over the
/// ties.
fn ranks(values: &[f64]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let (mut below, mut ties) = (0.0, 0.0);
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let size = equal.len() as f64;
        for &index in equal {
            ranks[index] = below + (size + 1.0) / 2.0;
        }
        below += size;
        ties += size.powi(3) - size;
    }
    (ranks, ties)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The approximation is close to the exact probabilities: of the C(12, 6) = 924 ways to place
    /// six among twelve, two are as extreme as complete separation, and four as or more extreme
    /// than one exchange.
    #[test]
    fn p_value_of_separated_sets_is_close_to_the_exact_one() {
        let low = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let high = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
        let separate = rank_sum(&low, &high, 1.0).unwrap();
        assert!((2.0 / 924.0..0.006).contains(&separate), "{separate}");
        let exchanged = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0];
        let rest = [6.0, 8.0, 9.0, 10.0, 11.0, 12.0];
        let nearly = rank_sum(&exchanged, &rest, 1.0).unwrap();
        assert!((4.0 / 924.0..0.01).contains(&nearly) && nearly > separate, "{nearly}");
    }

    #[test]
    fn constants_differ_only_if_unequal() {
        assert_eq!(rank_sum(&[5.0; 8], &[5.0; 8], 1.0), Some(1.0));
        assert!(rank_sum(&[5.0; 8], &[6.0; 8], 1.0).unwrap() < 0.001);
        assert_eq!(rank_sum(&[], &[1.0], 1.0), None);
    }

    #[test]
    fn drift_inflates_the_variance_and_alternation_does_not_reduce_it() {
        let rising: Vec<f64> = (0..11).map(f64::from).collect();
        let shuffled = [3.0, 9.0, 1.0, 10.0, 4.0, 0.0, 7.0, 2.0, 8.0, 5.0, 6.0];
        let alternating: Vec<f64> = (0..11).map(|step| f64::from(step % 2)).collect();
        assert!(persistence(&[&rising, &rising]) > 4.0);
        assert!(persistence(&[&rising]) > 3.0);
        assert!(persistence(&[&shuffled, &shuffled]) < 1.01);
        assert_eq!(persistence(&[&alternating, &alternating]), 1.0);
        assert_eq!(persistence(&[&[4.0; 9], &[5.0; 9]]), 1.0);
        assert_eq!(persistence(&[&[4.0], &[]]), 1.0);
    }

    /// The fifteen p-values of Benjamini and Hochberg's own example, of which their procedure
    /// rejects four at 0.05 (and Bonferroni's three).
    #[test]
    fn example_of_the_paper_gives_its_four_discoveries() {
        let probabilities = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let picked = discoveries(&probabilities, 0.05);
        assert_eq!(picked.iter().filter(|&&one| one).count(), 4);
        assert!(picked[..4].iter().all(|&one| one));
        assert!(discoveries(&[], 0.05).is_empty());
    }

    proptest! {
        #[test]
        fn rank_sum_is_symmetric(
            some in prop::collection::vec(-9i8..9, 1..20), others in prop::collection::vec(-9i8..9, 1..20)
        ) {
            let [some, others] = [some, others].map(|set| set.into_iter().map(f64::from).collect::<Vec<_>>());
            let there = rank_sum(&some, &others, 1.0).unwrap();
            let back = rank_sum(&others, &some, 1.0).unwrap();
            prop_assert!((there - back).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&there));
            prop_assert!(rank_sum(&some, &others, 2.0).unwrap() >= there);
            prop_assert!(persistence(&[&some, &others]) >= 1.0);
        }
    }
}
