//! `call-deep`: time of an operation at the second point divided by that at the first.

use super::above::{pairs, times};
use super::frame::{Frame, finite};
use super::schema::ResultEntry;

/// Returns the ratio per round, which is the primary metric, and both times.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let [plain, burdened] = frame.lane.points.as_slice() else { return Vec::new() };
    let ratio = |(round, plain, burdened)| (round, burdened / plain);
    let ratios = finite(pairs(plain, burdened).into_iter().map(ratio));
    let drafts = [
        (frame.experiment.metric, frame.experiment.unit, burdened, ratios),
        ("time per call with nothing waiting", "ns", plain, times(plain)),
        ("time per call with all of it waiting", "ns", burdened, times(burdened)),
    ];
    frame.costs(drafts)
}
