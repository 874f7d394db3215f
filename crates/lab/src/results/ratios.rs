//! Ratios of the contenders' primary metrics to purlin's.

use super::schema::{Ratio, ResultEntry, Verdict};
use crate::stats::{self, Interval};

/// Compares the primary metrics, experiment by experiment, each followed by the same figure in the
/// contender's other variants.
///
/// The reference is purlin's primary metric, or that of the first contender that has one. A ratio
/// above 1 means that the reference is better, for either direction of the metric. A figure that
/// cannot be distinguished from 0 has no ratio. A ratio whose interval contains 1 is
/// *indistinguishable*: the samples do not show which contender is better.
pub fn ratios(results: &[ResultEntry], seed: u64) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    let primary: Vec<&ResultEntry> = results.iter().filter(|result| result.primary).collect();
    for group in primary.chunk_by(|a, b| a.experiment == b.experiment) {
        let Some(base) = base(group) else { continue };
        for result in group.iter().filter(|result| result.contender != base.contender) {
            ratios.extend(ratio(result, base, seed));
            let others = result.in_other_variants(results);
            ratios.extend(others.filter_map(|other| ratio(other, base, seed)));
        }
    }
    ratios
}

fn ratio(result: &ResultEntry, base: &ResultEntry, seed: u64) -> Option<Ratio> {
    let (over, under) = if result.better == "higher" { (base, result) } else { (result, base) };
    let interval = stats::ratio_of_medians(&over.samples, &under.samples, seed)?;
    Some(Ratio {
        experiment: result.experiment.clone(),
        contender: result.contender.clone(),
        variant: result.variant.clone().filter(|_| !result.primary),
        against: base.contender.clone(),
        ratio: interval.value,
        low: interval.low,
        high: interval.high,
        verdict: verdict(interval),
    })
}

fn base<'a>(group: &[&'a ResultEntry]) -> Option<&'a ResultEntry> {
    let ours = |label: &str| label == "purlin" || label.starts_with("purlin:");
    let found = group.iter().find(|result| ours(&result.contender));
    found.or_else(|| group.first()).copied()
}

fn verdict(ratio: Interval) -> Verdict {
    if ratio.low > 1.0 {
        Verdict::Worse
    } else if ratio.high < 1.0 {
        Verdict::Better
    } else {
        Verdict::Indistinguishable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_that_contains_one_is_indistinguishable() {
        let of = |low, high| verdict(Interval { value: 1.05, low, high });
        assert_eq!(of(1.01, 1.1), Verdict::Worse);
        assert_eq!(of(0.9, 0.99), Verdict::Better);
        for (low, high) in [(0.9, 1.1), (1.0, 1.1), (0.9, 1.0), (1.0, 1.0)] {
            assert_eq!(of(low, high), Verdict::Indistinguishable);
        }
        let stored = serde_json::to_value(of(0.9, 1.1)).unwrap();
        assert_eq!(stored, "indistinguishable");
    }
}
