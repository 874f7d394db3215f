//! Computes the results of one lane: a contender, or a variant of one, in one experiment.

use super::frame::{Frame, number};
use super::schema::ResultEntry;
use super::{above, acks, beside, expiries, over, over_perfect, signals, slope, trips};
use crate::contender::Reply;
use crate::experiments::{Experiment, Figure, SamplingMode};
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
        Figure::Elements(x) => elements(&frame, x),
        Figure::Above => above::results(&frame, ticks_per_ns),
        Figure::Over(names) => over::results(&frame, names),
        Figure::OverPerfect(x) => over_perfect::results(&frame, x),
        Figure::Trips => trips::results(&frame),
        Figure::Expiries => expiries::results(&frame),
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

/// Returns the elements received per second and direction.
fn elements(frame: &Frame<'_>, x: u64) -> Vec<ResultEntry> {
    let points = frame.lane.points.iter();
    let figures = points.filter_map(|point| {
        let s = number(&point.params, "s") as f64;
        frame.at(point, point.x == Some(x), |reply| s * reply.operations_per_second())
    });
    figures.collect()
}
