//! Connected nodes of the cluster.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use purlin_dist::cluster::Cluster;
use serde::Serialize;

use super::values::ns;
use crate::web::state::Site;

/// Response of `/api/cluster`.
#[derive(Serialize)]
pub(crate) struct Answer {
    /// `None` if the program shows no cluster, or the node has left it.
    cluster: Option<Shown>,
}

/// The cluster of the node.
#[derive(Serialize)]
struct Shown {
    name: String,
    undecoded: u64,
    /// Probe interval. An unanswered probe means nothing before it has passed.
    asked_every_ns: u64,
    nodes: Vec<Peer>,
}

/// A connected node.
#[derive(Serialize)]
struct Peer {
    name: String,
    bytes_in: u64,
    bytes_out: u64,
    waiting_bytes: usize,
    dropped: u64,
    round_trip_ns: Option<u64>,
    round_trip_age_ns: Option<u64>,
    unanswered_ns: Option<u64>,
}

impl Shown {
    fn of(cluster: &Cluster, site: &Site) -> Self {
        let nodes =
            site.round_trips.peers(cluster).into_iter().map(|(name, traffic, round_trip)| Peer {
                name: name.to_string(),
                bytes_in: traffic.bytes_in,
                bytes_out: traffic.bytes_out,
                waiting_bytes: traffic.waiting,
                dropped: traffic.dropped,
                round_trip_ns: round_trip.took.map(ns),
                round_trip_age_ns: round_trip.age.map(ns),
                unanswered_ns: round_trip.unanswered.map(ns),
            });
        Self {
            name: cluster.name().to_string(),
            undecoded: cluster.undecoded(),
            asked_every_ns: ns(site.round_trips.every),
            nodes: nodes.collect(),
        }
    }
}

pub(crate) async fn cluster(State(site): State<Arc<Site>>) -> Json<Answer> {
    let cluster = site.settings.board.read().cluster.and_then(|cluster| cluster.upgrade());
    Json(Answer { cluster: cluster.as_ref().map(|cluster| Shown::of(cluster, &site)) })
}
