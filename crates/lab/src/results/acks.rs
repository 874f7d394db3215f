//! `ack-sync-or-async`: messages per second, in one graph per number of cores and connections.

use super::frame::{Draft, Frame, finite};
use super::schema::ResultEntry;
use crate::contender::Reply;
use crate::experiments::acks::{graph, is_primary};

/// Returns one figure per point; one of all points is the primary metric.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let rates = frame.lane.points.iter().filter_map(|point| {
        let samples =
            point.replies.iter().map(|(_, reply): &(_, Reply)| reply.operations_per_second());
        let result = frame.result(Draft {
            metric: frame.experiment.metric,
            unit: frame.experiment.unit,
            better: frame.experiment.better,
            params: point.params.clone(),
            x: point.x,
            samples: finite(samples),
            primary: is_primary(&point.params),
        })?;
        Some(ResultEntry { graph: Some(graph(&point.params)), ..result })
    });
    rates.collect()
}
