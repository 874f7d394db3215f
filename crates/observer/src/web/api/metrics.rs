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
    peers(&site);
    let snapshot = site.measured().await?;
    let found = site.warnings_of(snapshot.number).await?;
    let (own, peers) = (Arc::clone(&site), peers(&site));
    let text = site.run_blocking(move || {
        own.exporter.scrape(|recording| {
            recording.record(&snapshot, &found.warnings);
            for (node, dropped, took) in peers {
                recording.record_dropped(node.as_str(), dropped);
                if let Some(took) = took {
                    recording.record_round_trip(node.as_str(), took);
                }
            }
            for (name, server) in own.settings.board.read().servers {
                recording.record_server(&name, &server.counts(), &server.latency());
            }
        })
    });
    Ok(([(CONTENT_TYPE, TEXT)], text.await?).into_response())
}

/// Returns the connected nodes with the number of their dropped messages, and the round-trip times of those that answer.
/// Sends the probes that are due.
fn peers(site: &Site) -> Vec<(NodeName, u64, Option<Duration>)> {
    let Some(cluster) = site.settings.board.read().cluster.and_then(|cluster| cluster.upgrade())
    else {
        return Vec::new();
    };
    let every = site.round_trips.every;
    let peers = site.round_trips.peers(&cluster).into_iter();
    peers.map(|(node, traffic, trip)| (node, traffic.dropped, trip.of_now(every))).collect()
}
