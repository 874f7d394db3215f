//! `call-vs-send`: cost of a send above a local call, and related figures.

use super::frame::{Frame, Samples, finite};
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
        finite(pairs.iter().map(|&(round, local, remote)| (round, figure(local, remote))))
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
            finite(remote.replies.iter().map(|(round, reply)| (*round, peak(reply)))),
        ),
    ];
    if let Some(pace) = ticks_per_ns {
        let ticks = above.iter().map(|(round, ns)| (*round, ns * pace)).collect();
        drafts.push((
            "ticks of the time stamp counter per send above a local call",
            "ticks",
            remote,
            ticks,
        ));
    }
    frame.costs(drafts)
}

/// Returns the rounds in which both samples are valid, each with both times per operation.
pub(super) fn pairs(local: &Taken, remote: &Taken) -> Vec<(usize, f64, f64)> {
    let mut pairs = Vec::new();
    for (round, with) in &remote.replies {
        let same = local.replies.iter().find(|(other, _)| other == round);
        if let Some((_, without)) = same {
            pairs.push((*round, without.ns_per_operation(), with.ns_per_operation()));
        }
    }
    pairs
}

pub(super) fn times(point: &Taken) -> Samples {
    finite(point.replies.iter().map(|(round, reply)| (*round, reply.ns_per_operation())))
}
