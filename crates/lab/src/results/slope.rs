//! Sweeps whose primary metric is the slope of the line of best fit.

use std::collections::BTreeMap;

use super::frame::{Draft, Frame, number, per_repetition};
use super::schema::{Fit, ResultEntry};
use crate::experiments::Params;
use crate::sampling::Lane;
use crate::stats;

/// Returns one result per point, and one for the line.
///
/// A line is fitted to each round; the slopes are the samples of the primary metric. The stored
/// line is fitted to all points of all rounds.
pub(super) fn results(frame: &Frame<'_>, over: Option<&str>) -> Vec<ResultEntry> {
    let plotted = frame.experiment.quantity();
    let mut results = Vec::new();
    let mut rounds: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    for point in &frame.lane.points {
        let Some(x) = point.x else { continue };
        let mut samples = Vec::new();
        for (round, reply) in &point.replies {
            let time = per_repetition(point, reply);
            samples.push(time);
            rounds.entry(*round).or_default().push((x as f64, time));
        }
        results.extend(frame.result(Draft {
            metric: plotted.label,
            unit: plotted.unit,
            ..frame.draft(point, samples)
        }));
    }
    let params = shared(frame.lane);
    let divisor = over.map_or(1, |name| number(&params, name).max(1)) as f64;
    let slopes = rounds.values().filter_map(|points| stats::fit(points));
    let samples = slopes.map(|line| line.slope.value / divisor).collect();
    let all: Vec<_> = rounds.into_values().flatten().collect();
    let line = frame.result(Draft {
        metric: frame.experiment.metric,
        unit: frame.experiment.unit,
        better: frame.experiment.better,
        params,
        x: None,
        samples,
        primary: true,
    });
    if let (Some(mut line), Some(fit)) = (line, stats::fit(&all)) {
        line.fit = Some(Fit {
            slope: fit.slope.value,
            slope_low: fit.slope.low,
            slope_high: fit.slope.high,
            intercept: fit.intercept.value,
            intercept_low: fit.intercept.low,
            intercept_high: fit.intercept.high,
            r2: fit.r2,
        });
        results.push(line);
    }
    results
}

/// Returns the parameters that are equal at every point.
fn shared(lane: &Lane) -> Params {
    let Some((first, others)) = lane.points.split_first() else {
        return Params::new();
    };
    let everywhere =
        |name: &String, value| others.iter().all(|point| point.params.get(name) == Some(value));
    let params = first.params.iter();
    params
        .filter(|(name, value)| everywhere(name, value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
