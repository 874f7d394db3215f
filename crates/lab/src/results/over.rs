//! `call-deep`, `reply-deep`: time of an operation at the last point divided by that at the first.

use super::above::{pairs, times};
use super::frame::{Frame, finite};
use super::schema::ResultEntry;

/// Returns the ratio per round, which is the primary metric, and the times at all points, with these
/// names.
pub(super) fn results(frame: &Frame<'_>, names: &[&'static str]) -> Vec<ResultEntry> {
    let points = frame.lane.points.as_slice();
    let [plain, .., burdened] = points else { return Vec::new() };
    let ratio = |(round, plain, burdened)| (round, burdened / plain);
    let ratios = finite(pairs(plain, burdened).into_iter().map(ratio));
    let primary = (frame.experiment.metric, frame.experiment.unit, burdened, ratios);
    let others = names.iter().zip(points).map(|(name, point)| (*name, "ns", point, times(point)));
    frame.costs(std::iter::once(primary).chain(others))
}
