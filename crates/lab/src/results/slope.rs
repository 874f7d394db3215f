//! Sweeps whose primary metric is the slope of the line of best fit.

use std::collections::BTreeMap;

use super::frame::{Draft, Frame, Samples, number, per_repetition};
use super::schema::{Fit, ResultEntry};
use crate::experiments::Params;
use crate::sampling::Lane;
use crate::stats::{self, Line};

/// Returns one result per point, and one for the line.
///
/// A line is fitted to each round in which every point is valid; the slopes are the samples of the
/// primary metric, and the stored line has the medians of the rounds' lines, with the intervals of
/// these medians.
pub(super) fn results(frame: &Frame<'_>, over: Option<&str>) -> Vec<ResultEntry> {
    let plotted = frame.experiment.quantity();
    let mut results = Vec::new();
    let mut rounds: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    let mut swept = 0;
    for point in &frame.lane.points {
        let Some(x) = point.x else { continue };
        swept += 1;
        let mut samples = Samples::new();
        for (round, reply) in &point.replies {
            let time = per_repetition(point, reply);
            samples.push((*round, time));
            rounds.entry(*round).or_default().push((x as f64, time));
        }
        results.extend(frame.result(Draft {
            metric: plotted.label,
            unit: plotted.unit,
            ..frame.draft(point, samples)
        }));
    }
    // WHY: a line through fewer points has another slope wherever the cost is not linear.
    let whole = rounds.into_iter().filter(|(_, points)| points.len() == swept);
    let lines: Vec<(usize, Line)> =
        whole.filter_map(|(round, points)| Some((round, stats::fit(&points)?))).collect();
    let params = shared(frame.lane);
    let divisor = over.map_or(1, |name| number(&params, name).max(1)) as f64;
    let line = frame.result(Draft {
        metric: frame.experiment.metric,
        unit: frame.experiment.unit,
        better: frame.experiment.better,
        params,
        x: None,
        samples: lines.iter().map(|(round, line)| (*round, line.slope / divisor)).collect(),
        primary: true,
    });
    if let (Some(line), Some(fit)) = (line, median_line(&lines)) {
        results.push(ResultEntry { fit: Some(fit), ..line });
    }
    results
}

/// Returns the medians of the rounds' lines.
fn median_line(lines: &[(usize, Line)]) -> Option<Fit> {
    let median = |part: fn(&Line) -> f64| {
        let values: Vec<f64> = lines.iter().map(|(_, line)| part(line)).collect();
        stats::median_interval(&values)
    };
    let slope = median(|line| line.slope)?;
    let intercept = median(|line| line.intercept)?;
    Some(Fit {
        slope: slope.value,
        slope_low: slope.low,
        slope_high: slope.high,
        intercept: intercept.value,
        intercept_low: intercept.low,
        intercept_high: intercept.high,
        r2: median(|line| line.r2)?.value,
    })
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
