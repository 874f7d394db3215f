//! `call-deep`: the time of an operation at the second point over that at the first.

use super::above::{pairs, times};
use super::figures::{Draft, Frame, finite};
use super::schema::ResultEntry;
use crate::experiments::Better;

/// The principal ratio, round by round, and both times.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let [plain, burdened] = frame.lane.points.as_slice() else { return Vec::new() };
    let ratios = finite(pairs(plain, burdened).iter().map(|(plain, burdened)| burdened / plain));
    let drafts = [
        (frame.experiment.metric, frame.experiment.unit, burdened, ratios),
        ("time per call with nothing waiting", "ns", plain, times(plain)),
        ("time per call with all of it waiting", "ns", burdened, times(burdened)),
    ];
    let result = |(index, (metric, unit, point, samples)): (usize, _)| {
        let point: &crate::sampling::Taken = point;
        frame.result(Draft {
            metric,
            unit,
            better: Better::Lower,
            params: point.params.clone(),
            x: None,
            samples,
            principal: index == 0,
        })
    };
    drafts.into_iter().enumerate().filter_map(result).collect()
}
