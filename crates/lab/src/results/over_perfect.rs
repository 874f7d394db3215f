//! `spread`: time divided by that of the computing alone on all cores.

use super::frame::{Frame, number};
use super::schema::ResultEntry;
use crate::contender::Reply;
use crate::experiments::{Params, spread};
use crate::sampling::Taken;
use crate::stats;

/// Returns the quotient at each point; that at x = `primary` is the primary metric.
///
/// The number of steps that a sample computed is known exactly. The time of a step is the median of all calibrations of
/// the lane, so a calibration that another program disturbed does not change the result of its sample.
pub(super) fn results(frame: &Frame<'_>, primary: u64) -> Vec<ResultEntry> {
    let replies = frame.lane.points.iter().flat_map(|point| &point.replies);
    let calibrations: Vec<f64> = replies
        .filter_map(|(_, reply)| reply.extra("calibration_ns").map(|ns| ns as f64))
        .collect();
    let Some(calibration_ns) = stats::median(&calibrations) else {
        return Vec::new();
    };
    let step_ns = calibration_ns / spread::TIMED_STEPS as f64;
    let at = |point: &Taken| {
        let over =
            |reply: &Reply| reply.elapsed_ns as f64 / (step_ns * steps(&point.params, reply));
        frame.at(point, point.x == Some(primary), over)
    };
    frame.lane.points.iter().filter_map(at).collect()
}

/// Returns the number of steps that each core computes if they are evenly distributed.
fn steps(params: &Params, reply: &Reply) -> f64 {
    let processes = number(params, "processes");
    let all = processes * number(params, "n") * reply.extra("steps").unwrap_or(0);
    all as f64 / spread::cores().min(processes).max(1) as f64
}
