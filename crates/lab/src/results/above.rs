//! `call-vs-send`: cost of a send above a local call, and related figures.

use super::frame::{Frame, finite};
use super::schema::ResultEntry;
use crate::contender::Reply;
use crate::sampling::Taken;

/// Returns the difference, which is the primary metric, the ratio, both times, ticks and the peak
/// queue length.
pub(super) fn results(frame: &Frame<'_>, ticks_per_ns: Option<f64>) -> Vec<ResultEntry> {
    let mode = |wanted: &str| {
        let mut points = frame.lane.points.iter();
        points.find(|point| point.params.get("mode").is_some_and(|mode| mode == wanted))
    };
    let (Some(local), Some(remote)) = (mode("local"), mode("remote")) else {
        return Vec::new();
    };
    let pairs = pairs(local, remote);
    let paired = |figure: &dyn Fn(f64, f64) -> f64| {
        finite(pairs.iter().map(|(local, remote)| figure(*local, *remote)))
    };
    let peak = |reply: &Reply| reply.extra("queue_peak").unwrap_or(0) as f64;
    let above = paired(&|local, remote| remote - local);
    let mut drafts = vec![
        (frame.experiment.metric, frame.experiment.unit, remote, above.clone()),
        ("remote over local", "×", remote, paired(&|local, remote| remote / local)),
        ("time per local call", "ns", local, times(local)),
        ("time per call with a send", "ns", remote, times(remote)),
        (
            "peak of the receiver's queue",
            "messages",
            remote,
            finite(remote.replies.iter().map(|(_, reply)| peak(reply))),
        ),
    ];
    if let Some(pace) = ticks_per_ns {
        let ticks = above.iter().map(|ns| ns * pace).collect();
        drafts.push((
            "ticks of the time stamp counter per send above a local call",
            "ticks",
            remote,
            ticks,
        ));
    }
    frame.costs(drafts)
}

/// Returns the times per operation of the rounds in which both samples are valid.
pub(super) fn pairs(local: &Taken, remote: &Taken) -> Vec<(f64, f64)> {
    let mut pairs = Vec::new();
    for (round, with) in &remote.replies {
        let same = local.replies.iter().find(|(other, _)| other == round);
        if let Some((_, without)) = same {
            pairs.push((without.ns_per_operation(), with.ns_per_operation()));
        }
    }
    pairs
}

pub(super) fn times(point: &Taken) -> Vec<f64> {
    finite(point.replies.iter().map(|(_, reply)| reply.ns_per_operation()))
}
