//! `ack-sync-or-async`: messages per second, in one graph per number of cores and connections.

use super::frame::Frame;
use super::schema::ResultEntry;
use crate::contender::Reply;
use crate::experiments::acks::{graph, is_primary};

/// Returns one figure per point; one of all points is the primary metric.
pub(super) fn results(frame: &Frame<'_>) -> Vec<ResultEntry> {
    let rates = frame.lane.points.iter().filter_map(|point| {
        let result = frame.at(point, is_primary(&point.params), Reply::operations_per_second)?;
        Some(ResultEntry { graph: Some(graph(&point.params)), ..result })
    });
    rates.collect()
}
