//! Drift of samples: Mann-Kendall test (H. B. Mann, *Econometrica* 13, 1945) with M. G. Kendall's
//! exact distribution (*Biometrika* 30, 1938), and slope by P. K. Sen, *J. Am. Stat. Assoc.* 63,
//! 1968.
//!
//! Both depend only on pairwise comparisons or their median, so both are robust against outliers.

use statrs::distribution::{ContinuousCDF, Normal};

use super::order::{median, sorted};

/// Maximum number of samples for the exact distribution; beyond it, and with ties, the normal
/// approximation is used.
const COUNTED: usize = 50;

/// A drift in a series of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The p-value: the probability of so steady a rise or fall in samples without order.
    pub probability: f64,
    /// Change from the first sample to the last by the median slope, relative to the median.
    pub change: f64,
}

/// Returns the trend of samples in their order; `None` for fewer than two samples, or if their
/// median is 0.
///
/// COST: one slope per pair of samples.
pub fn trend(samples: &[f64]) -> Option<Trend> {
    let middle = median(samples).filter(|&middle| middle != 0.0)?;
    let (mut rises, mut ties, mut slopes) = (0i64, false, Vec::new());
    for (index, &earlier) in samples.iter().enumerate() {
        for (distance, &later) in (1..).zip(&samples[index + 1..]) {
            let slope = (later - earlier) / f64::from(distance);
            rises += i64::from(slope > 0.0) - i64::from(slope < 0.0);
            ties |= slope == 0.0;
            slopes.push(slope);
        }
    }
    let change = median(&slopes)? * (samples.len() - 1) as f64 / middle;
    let probability = if ties || samples.len() > COUNTED {
        near_normal(samples, rises)?
    } else {
        counted(samples.len(), rises)
    };
    Some(Trend { probability, change })
}

/// Returns the share of all orders of n samples with at least this difference between rises and
/// falls.
fn counted(n: usize, rises: i64) -> f64 {
    let pairs = n * (n - 1) / 2;
    // Distribution of the number of falls, extended by one sample per iteration: the new sample
    // falls below any number of the earlier ones.
    let mut shares = vec![1.0];
    for before in 1..n {
        let mut next = vec![0.0; shares.len() + before];
        for (falls, share) in shares.iter().enumerate() {
            for more in 0..=before {
                next[falls + more] += share / (before + 1) as f64;
            }
        }
        shares = next;
    }
    let as_extreme = |falls: usize| (pairs as i64 - 2 * falls as i64).abs() >= rises.abs();
    let share =
        shares.iter().enumerate().filter(|(falls, _)| as_extreme(*falls)).map(|(_, one)| one);
    share.sum::<f64>().min(1.0)
}

fn near_normal(samples: &[f64], rises: i64) -> Option<f64> {
    let size = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let sorted = sorted(samples);
    let tied: f64 = sorted.chunk_by(|a, b| a == b).map(|equal| size(equal.len() as f64)).sum();
    let variance = (size(samples.len() as f64) - tied) / 18.0;
    let away = rises.abs() as f64 - 1.0;
    if away <= 0.0 || variance <= 0.0 {
        return Some(1.0);
    }
    Some((2.0 * Normal::new(0.0, 1.0).ok()?.sf(away / variance.sqrt())).min(1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of the 720 orders of six samples one only rises and one only falls; of the 120 orders of
    /// five, four more in each direction have a single exchange of neighbours.
    #[test]
    fn p_values_are_exact_for_few_samples() {
        let rising = trend(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert!((rising.probability - 2.0 / 720.0).abs() < 1e-12);
        let exchanged = trend(&[1.0, 3.0, 2.0, 4.0, 5.0]).unwrap();
        assert!((exchanged.probability - 10.0 / 120.0).abs() < 1e-12, "{exchanged:?}");
        let none = trend(&[2.0, 4.0, 1.0, 3.0]).unwrap();
        assert!((none.probability - 1.0).abs() < 1e-12);
    }

    #[test]
    fn normal_approximation_is_close_to_the_exact_distribution() {
        let mut dice = fastrand::Rng::with_seed(1);
        for _ in 0..50 {
            let samples: Vec<f64> = (0..30).map(|_| 1.0 + dice.f64()).collect();
            let exact = trend(&samples).unwrap().probability;
            let rises = samples.iter().enumerate().flat_map(|(index, earlier)| {
                samples[index + 1..].iter().map(move |later| if later > earlier { 1 } else { -1 })
            });
            let near = near_normal(&samples, rises.sum()).unwrap();
            assert!((exact - near).abs() < 0.01, "{exact} {near}");
        }
    }

    #[test]
    fn change_is_relative_to_the_median_and_robust_against_outliers() {
        let mut steady: Vec<f64> = (0..11).map(|step| 100.0 + f64::from(step)).collect();
        assert!((trend(&steady).unwrap().change - 10.0 / 105.0).abs() < 1e-12);
        steady[5] = 1e6;
        assert!((trend(&steady).unwrap().change - 0.095).abs() < 0.01);
        assert_eq!(trend(&[5.0; 8]).unwrap(), Trend { probability: 1.0, change: 0.0 });
        assert_eq!((trend(&[1.0]), trend(&[0.0, 0.0])), (None, None));
    }

    proptest! {
        #[test]
        fn reversed_samples_have_the_opposite_trend(
            samples in prop::collection::vec(1u8..20, 2..14)
        ) {
            let there: Vec<_> = samples.iter().copied().map(f64::from).collect();
            let back: Vec<_> = there.iter().rev().copied().collect();
            let (there, back) = (trend(&there).unwrap(), trend(&back).unwrap());
            prop_assert!((there.probability - back.probability).abs() < 1e-9);
            prop_assert!((there.change + back.change).abs() < 1e-9);
            prop_assert!(there.probability > 0.0 && there.probability <= 1.0);
        }
    }
}
