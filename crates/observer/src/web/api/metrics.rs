//! Metrics endpoint for Prometheus, behind the same token.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use purlin_dist::NodeName;

use crate::metrics::CONTENT_TYPE as TEXT;
use crate::web::refusal::Refusal;
use crate::web::state::Site;

pub(crate) async fn metrics(State(site): State<Arc<Site>>) -> Result<Response, Refusal> {
    // WHY twice: a node probed now has most likely answered when the snapshot is ready.
    round_trips(&site);
    let snapshot = site.measured().await?;
    let found = site.warnings_of(snapshot.number).await?;
    let (own, round_trips) = (Arc::clone(&site), round_trips(&site));
    let text = site.run_blocking(move || {
        own.exporter.scrape(|recording| {
            recording.record(&snapshot, &found.warnings);
            for (node, took) in round_trips {
                recording.record_round_trip(node.as_str(), took);
            }
            for (name, server) in own.settings.board.read().servers {
                recording.record_server(&name, &server.counts(), &server.latency());
            }
        })
    });
    Ok(([(CONTENT_TYPE, TEXT)], text.await?).into_response())
}

/// Returns the round-trip times of connected nodes that answer, and sends the probes that are due.
fn round_trips(site: &Site) -> Vec<(NodeName, Duration)> {
    let Some(cluster) = site.settings.board.read().cluster.and_then(|cluster| cluster.upgrade())
    else {
        return Vec::new();
    };
    let every = site.round_trips.every;
    let peers = site.round_trips.peers(&cluster).into_iter();
    peers.filter_map(|(node, _, round_trip)| Some((node, round_trip.of_now(every)?))).collect()
}
