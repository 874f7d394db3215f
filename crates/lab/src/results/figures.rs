//! Computes the results of one lane: a contender, or a variant of one, in one experiment.

use super::frame::{Draft, Frame, Samples, number, per_repetition};
use super::schema::ResultEntry;
use super::{above, acks, beside, over, over_perfect, signals, slope, trips};
use crate::contender::Reply;
use crate::experiments::{Better, Experiment, Figure, SamplingMode};
use crate::sampling::{Lane, Taken};

/// Returns the results of a lane.
///
/// Exactly one result of the natural variant's lane is the primary metric. Returns no results if it
/// cannot be computed because every sample it needs is invalid.
///
/// `ticks_per_ns` is the rate of the time stamp counter, if there is one.
pub fn figures(
    experiment: &Experiment,
    lane: &Lane,
    ticks_per_ns: Option<f64>,
) -> Vec<ResultEntry> {
    let frame = Frame { experiment, lane };
    let each = |primary: &dyn Fn(&Taken) -> bool, figure: &dyn Fn(&Reply) -> f64| {
        let points = lane.points.iter();
        points.filter_map(|point| frame.at(point, primary(point), figure)).collect()
    };
    let mut results: Vec<ResultEntry> = match experiment.figure {
        Figure::PerOperation(x) => {
            each(&|point| x.is_none() || point.x == x, &Reply::ns_per_operation)
        }
        Figure::Whole => each(&|_| true, &|reply| reply.elapsed_ns as f64 / 1e6),
        Figure::Micros => each(&|_| true, &|reply| reply.ns_per_operation() / 1000.0),
        Figure::Rate(x) => {
            each(&|point| x.is_none() || point.x == x, &Reply::operations_per_second)
        }
        Figure::Slope(over) => slope::results(&frame, over),
        Figure::Bandwidth => bandwidth(&frame),
        Figure::Above => above::results(&frame, ticks_per_ns),
        Figure::Over => over::results(&frame),
        Figure::OverPerfect(x) => over_perfect::results(&frame, x),
        Figure::Trips => trips::results(&frame),
        Figure::Signals => signals::results(&frame),
        Figure::SyncOrAsync => acks::results(&frame),
        Figure::Footprint => each(&|_| true, &|reply| {
            let resident = |name| reply.extra(name).unwrap_or(0) as f64;
            (resident("resident_after") - resident("resident_before")) / reply.ops as f64
        }),
    };
    if lane.natural && !results.iter().any(|result| result.primary) {
        return Vec::new();
    }
    // WHY not for `SyncOrAsync`: its results belong to graphs, which secondary figures do not name.
    let listed = matches!(
        experiment.mode,
        SamplingMode::Watched | SamplingMode::Served | SamplingMode::Paired
    );
    if listed && experiment.figure != Figure::SyncOrAsync {
        results.extend(beside::results(&frame));
    }
    results
}

/// Returns n·s divided by the time the messages add to the same round without messages; the peak is
/// the primary metric.
///
/// A point with a round that took no longer than the work alone has no figure: the rate of that
/// round is unbounded, and without it the median would be too low.
fn bandwidth(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let lane = frame.lane;
    let Some(idle) = lane.points.iter().find(|point| point.x.is_none()) else {
        return Vec::new();
    };
    let time = |point: &Taken| -> Samples {
        let replies = point.replies.iter();
        replies.map(|(round, reply)| (*round, per_repetition(point, reply))).collect()
    };
    let bare = time(idle);
    let mut results: Vec<ResultEntry> = lane
        .points
        .iter()
        .filter(|point| point.x.is_some())
        .filter_map(|point| {
            let elements = (number(&point.params, "n") * number(&point.params, "s")) as f64;
            let rates = time(point).into_iter().filter_map(|(round, ns)| {
                let (_, alone) = bare.iter().find(|(other, _)| *other == round)?;
                Some((round, elements * 1e9 / (ns - alone)))
            });
            let rates: Samples = rates.collect();
            let bounded = rates.iter().all(|(_, rate)| *rate > 0.0 && rate.is_finite());
            bounded.then(|| frame.result(frame.draft(point, rates)))?
        })
        .collect();
    let peak = results.iter_mut().max_by(|a, b| a.median.total_cmp(&b.median));
    if let Some(peak) = peak {
        peak.primary = lane.natural;
    }
    results.extend(frame.result(Draft {
        metric: "time with no messages",
        unit: "ns",
        better: Better::Lower,
        ..frame.draft(idle, bare)
    }));
    results
}
