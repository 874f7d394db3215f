//! Reasons to doubt figures that samples themselves show: outliers, and drift over the rounds.
//!
//! No sample is dropped: medians and intervals stay unchanged, and the reader is warned. Only
//! primary metrics with enough samples are checked.

use super::schema::ResultEntry;
use crate::profile::FEWEST;
use crate::stats::{self, Trend};
use crate::warning::Warning;

/// False discovery rate of the reported drifts.
const CHANCE: f64 = 0.05;

/// Minimum change over a run that is reported: two runs of the same program differ by 1 %.
const LEAST: f64 = 0.02;

/// Returns a warning for the figures of one experiment that have outliers.
pub fn outliers(results: &[ResultEntry]) -> Option<Warning> {
    let counts = judged(results).filter_map(|result| {
        let (count, of) = (stats::outliers(&result.samples).len(), result.samples.len());
        let contender = result.contender.as_str();
        (count > 0).then(|| (contender, format!("{contender} ({count} of {of})")))
    });
    let (contenders, counts): (Vec<_>, Vec<_>) = counts.unzip();
    let experiment = &results.first()?.experiment;
    let message = format!("{experiment}: outliers: {}", counts.join(", "));
    let advice = "none is dropped, and a few do not move a median; see what else ran";
    let only = contenders.first().copied().filter(|_| contenders.len() == 1);
    (!counts.is_empty()).then(|| Warning::new("outliers", message, advice).about(experiment, only))
}

/// Returns a warning for each figure of a run that drifted, controlling the false discovery rate
/// (Benjamini and Hochberg).
pub fn drifts(results: &[ResultEntry]) -> Vec<Warning> {
    let trends: Vec<_> = judged(results)
        .filter_map(|result| Some((result, stats::trend(&result.samples)?)))
        .collect();
    let probabilities: Vec<_> = trends.iter().map(|(_, trend)| trend.probability).collect();
    let found = trends.into_iter().zip(stats::discoveries(&probabilities, CHANCE));
    let significant = found.filter(|((_, trend), found)| *found && trend.change.abs() >= LEAST);
    let warning = |((result, trend), _): ((&ResultEntry, Trend), bool)| {
        let ResultEntry { experiment, contender, samples, .. } = result;
        let (percent, rounds) = (100.0 * trend.change, samples.len());
        let message =
            format!("{experiment} {contender} drifted by {percent:+.0} % over its {rounds} rounds");
        let advice =
            "ratios of the same rounds still hold; for the figure, measure longer or at rest";
        Warning::new("drift", message, advice).about(experiment, Some(contender))
    };
    significant.map(warning).collect()
}

fn judged(results: &[ResultEntry]) -> impl Iterator<Item = &ResultEntry> {
    results.iter().filter(|result| result.primary && result.samples.len() >= FEWEST)
}
