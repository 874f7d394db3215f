//! Ratios of the contenders' primary metrics to purlin's.

use super::schema::{Ratio, ResultEntry};
use super::verdict::{Moved, Rounds, judge};

/// Compares the primary metrics, experiment by experiment, each followed by the same figure in the
/// contender's other variants. All comparisons are judged together.
///
/// The reference is purlin's primary metric, or that of the first contender that has one. A ratio
/// above 1 means that the reference is better, for either direction of the metric. A figure has no
/// ratio if it cannot be distinguished from 0, or shares fewer than
/// [`FEWEST`](crate::profile::FEWEST) rounds with the reference.
pub fn ratios(results: &[ResultEntry]) -> Vec<Ratio> {
    let mut pairs = Vec::new();
    let primary: Vec<&ResultEntry> = results.iter().filter(|result| result.primary).collect();
    for group in primary.chunk_by(|a, b| a.experiment == b.experiment) {
        let Some(base) = base(group) else { continue };
        for result in group.iter().filter(|result| result.contender != base.contender) {
            pairs.push((base, *result));
            pairs.extend(result.in_other_variants(results).map(|other| (base, other)));
        }
    }
    let moved = judge(&pairs, Rounds::Shared);
    pairs
        .into_iter()
        .zip(moved)
        .filter_map(|((base, one), moved)| ratio(base, one, moved))
        .collect()
}

/// Returns the ratio of a figure to the reference.
pub(super) fn ratio(base: &ResultEntry, result: &ResultEntry, moved: Moved) -> Option<Ratio> {
    let interval = moved.ratio?;
    Some(Ratio {
        experiment: result.experiment.clone(),
        contender: result.contender.clone(),
        variant: result.variant.clone().filter(|_| !result.primary),
        against: base.contender.clone(),
        ratio: interval.value,
        low: interval.low,
        high: interval.high,
        rounds: moved.rounds,
        verdict: moved.verdict,
    })
}

fn base<'a>(group: &[&'a ResultEntry]) -> Option<&'a ResultEntry> {
    let ours = |label: &str| label == "purlin" || label.starts_with("purlin:");
    let found = group.iter().find(|result| ours(&result.contender));
    found.or_else(|| group.first()).copied()
}
