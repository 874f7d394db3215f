//! The nodes that this one is connected to.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use purlin_dist::cluster::Cluster;
use serde::Serialize;

use super::site::Site;

#[derive(Serialize)]
pub(crate) struct Answer {
    /// Nothing if the program shows none, or the node has left it.
    cluster: Option<Shown>,
}

#[derive(Serialize)]
struct Shown {
    name: String,
    undecoded: u64,
    nodes: Vec<Peer>,
}

/// A connected node. Of the time that a message takes nothing is known: the protocol has no answer that says it.
#[derive(Serialize)]
struct Peer {
    name: String,
    bytes_in: u64,
    bytes_out: u64,
    waiting_bytes: usize,
}

impl Shown {
    fn of(cluster: &Cluster) -> Self {
        let nodes = cluster.traffic().into_iter().map(|(name, traffic)| Peer {
            name: name.to_string(),
            bytes_in: traffic.bytes_in,
            bytes_out: traffic.bytes_out,
            waiting_bytes: traffic.waiting,
        });
        Self {
            name: cluster.name().to_string(),
            undecoded: cluster.undecoded(),
            nodes: nodes.collect(),
        }
    }
}

pub(crate) async fn cluster(State(site): State<Arc<Site>>) -> Json<Answer> {
    let cluster = site.board.read().cluster.and_then(|cluster| cluster.upgrade());
    Json(Answer { cluster: cluster.as_ref().map(Shown::of) })
}
