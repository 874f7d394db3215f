//! `signals`: throughput, as measured here and as OTP's suite computes it.

use super::frame::{Draft, Frame, finite, number};
use super::schema::ResultEntry;
use crate::contender::Reply;
use crate::experiments::signals::{graph, is_primary, receives};
use crate::sampling::Taken;

/// Returns two figures per point; one of all points is the primary metric.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let mut results = Vec::new();
    for point in &frame.lane.points {
        let [metric, theirs] = if receives(&point.params) {
            ["receive throughput", "receive throughput, as OTP computes it"]
        } else {
            ["send throughput", "send throughput, as OTP computes it"]
        };
        let ours = |reply: &Reply| Some(reply.operations_per_second());
        let as_otp = |reply: &Reply| as_otp(point, reply);
        results.extend(at(frame, point, metric, is_primary(&point.params), &ours));
        results.extend(at(frame, point, theirs, false, &as_otp));
    }
    results
}

fn at(
    frame: &Frame<'_>,
    point: &Taken,
    metric: &str,
    primary: bool,
    figure: &dyn Fn(&Reply) -> Option<f64>,
) -> Option<ResultEntry> {
    let value = |(round, reply): &(usize, Reply)| Some((*round, figure(reply)?));
    let samples = finite(point.replies.iter().filter_map(value));
    let result = frame.result(Draft { metric, primary, ..frame.draft(point, samples) })?;
    Some(ResultEntry { graph: Some(graph(&point.params)), ..result })
}

/// Returns the number of sent signals divided by the configured duration; for receive throughput,
/// the time from the last sender's report to the receiver's is added. Returns `None` if senders
/// ended early.
fn as_otp(point: &Taken, reply: &Reply) -> Option<f64> {
    if reply.extra("cut") != Some(0) {
        return None;
    }
    let drain = if receives(&point.params) { reply.extra("drain_ns")? } else { 0 };
    let elapsed = number(&point.params, "ms") as f64 * 1e6 + drain as f64;
    Some(reply.sent as f64 * 1e9 / elapsed)
}
