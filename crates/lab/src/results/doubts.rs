//! Reasons to doubt figures that samples themselves show: outliers, and drift over the rounds.
//!
//! No sample is dropped: medians and intervals stay unchanged, and the reader is warned. Only
//! primary metrics with enough samples are checked.

use super::schema::ResultEntry;
use crate::profile::FEWEST;
use crate::stats;
use crate::warning::{OutlierCount, Warning};

/// False discovery rate of the reported drifts.
const CHANCE: f64 = 0.05;

/// Minimum change over a run that is reported: two runs of the same program differ by 1 %.
const LEAST: f64 = 0.02;

/// Returns a warning for the figures of one experiment that have outliers.
#[must_use]
pub fn outliers(results: &[ResultEntry]) -> Option<Warning> {
    let counts = judged(results).filter_map(|result| {
        let count = stats::outliers(&result.samples).len();
        let (contender, of) = (result.contender.clone(), result.samples.len());
        (count > 0).then_some(OutlierCount { contender, count, of })
    });
    let counts: Vec<_> = counts.collect();
    let experiment = results.first()?.experiment.clone();
    (!counts.is_empty()).then_some(Warning::Outliers { experiment, counts })
}

/// Returns a warning for each figure of a run that drifted, controlling the false discovery rate
/// (Benjamini and Hochberg).
#[must_use]
pub fn drifts(results: &[ResultEntry]) -> Vec<Warning> {
    let trends: Vec<_> = judged(results)
        .filter_map(|result| Some((result, stats::trend(&result.samples)?)))
        .collect();
    let probabilities: Vec<_> = trends.iter().map(|(_, trend)| trend.probability).collect();
    let found = trends.iter().zip(stats::discoveries(&probabilities, CHANCE));
    let told = found.filter(|((_, trend), found)| *found && trend.change.abs() >= LEAST);
    told.map(|((result, trend), _)| Warning::Drift {
        experiment: result.experiment.clone(),
        contender: result.contender.clone(),
        percent: 100.0 * trend.change,
        rounds: result.samples.len(),
    })
    .collect()
}

fn judged(results: &[ResultEntry]) -> impl Iterator<Item = &ResultEntry> {
    results.iter().filter(|result| result.primary && result.samples.len() >= FEWEST)
}
