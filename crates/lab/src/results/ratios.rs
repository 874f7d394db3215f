//! How many times worse each contender is than purlin.

use super::schema::{Ratio, ResultEntry};
use crate::stats;

/// Compares the principal figures, experiment by experiment.
///
/// With purlin; where it has no figure, with the first contender that has one.
/// Above 1 always says that the one compared with is better, whichever way the
/// metric goes. A figure that cannot be told from zero has no ratio.
#[must_use]
pub fn ratios(results: &[ResultEntry], seed: u64) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    let principal: Vec<&ResultEntry> = results.iter().filter(|result| result.principal).collect();
    for group in principal.chunk_by(|a, b| a.experiment == b.experiment) {
        let Some(base) = base(group) else { continue };
        for result in group.iter().filter(|result| result.contender != base.contender) {
            let (over, under) =
                if result.better == "higher" { (base, *result) } else { (*result, base) };
            if let Some(interval) = stats::ratio_of_medians(&over.samples, &under.samples, seed) {
                ratios.push(Ratio {
                    experiment: result.experiment.clone(),
                    contender: result.contender.clone(),
                    against: base.contender.clone(),
                    ratio: interval.value,
                    low: interval.low,
                    high: interval.high,
                });
            }
        }
    }
    ratios
}

fn base<'a>(group: &[&'a ResultEntry]) -> Option<&'a ResultEntry> {
    let ours = |label: &str| label == "purlin" || label.starts_with("purlin:");
    let found = group.iter().find(|result| ours(&result.contender));
    found.or_else(|| group.first()).copied()
}
