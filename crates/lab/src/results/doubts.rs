//! What the samples themselves say against their figures: outliers, and drift over the rounds.
//!
//! Nothing is dropped for it: a median and its interval stand as they are, and
//! the reader is told. Only principal figures are looked at, and only those of
//! enough samples.

use super::schema::ResultEntry;
use crate::profile::FEWEST;
use crate::stats;
use crate::warning::{Apart, Warning};

/// The share of chance among the drifts told.
const CHANCE: f64 = 0.05;

/// The least change over a run that is told: two runs of the same program differ by one percent.
const LEAST: f64 = 0.02;

/// The figures of one experiment some of whose samples lie apart.
#[must_use]
pub fn outliers(results: &[ResultEntry]) -> Option<Warning> {
    let apart = judged(results).filter_map(|result| {
        let count = stats::outliers(&result.samples).len();
        let (contender, of) = (result.contender.clone(), result.samples.len());
        (count > 0).then_some(Apart { contender, count, of })
    });
    let apart: Vec<_> = apart.collect();
    let experiment = results.first()?.experiment.clone();
    (!apart.is_empty()).then_some(Warning::Outliers { experiment, apart })
}

/// The figures of a run that drifted, as many as stand up to their number (Benjamini and Hochberg).
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
    results.iter().filter(|result| result.principal && result.samples.len() >= FEWEST)
}
