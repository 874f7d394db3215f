//! Ack servers: counters, from which the page computes rates, and recent latency.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use purlin_ack::server::{Counts, Latency};
use serde::Serialize;

use super::values::ns;
use crate::web::refusal::Refusal;
use crate::web::state::Site;

/// Response of `/api/servers`.
#[derive(Serialize)]
pub(crate) struct Answer {
    /// Node uptime at which the counters were read.
    at_ns: u64,
    servers: Vec<Shown>,
}

/// One ack server.
#[derive(Serialize)]
struct Shown {
    name: String,
    address: String,
    #[serde(with = "Counted")]
    counts: Counts,
    /// `None` if there is no recent earlier reading.
    latency: Option<Took>,
}

/// Ack latency of the last few seconds.
#[derive(Serialize)]
struct Took {
    span_ns: u64,
    acks: u64,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

impl Took {
    fn of(span: Duration, latency: &Latency) -> Self {
        let [p50_ns, p90_ns, p99_ns, max_ns] =
            [0.5, 0.9, 0.99, 1.0].map(|part| latency.quantile(part).map(ns));
        Self { span_ns: ns(span), acks: latency.count(), p50_ns, p90_ns, p99_ns, max_ns }
    }
}

/// Serialized form of the server's counters.
#[derive(Serialize)]
#[serde(remote = "Counts")]
struct Counted {
    connections: u64,
    connections_ever: u64,
    messages: u64,
    acks: u64,
    refusals: u64,
    too_large: u64,
    idle_timeout: u64,
    slow_reader: u64,
    insecure: u64,
    failed: u64,
    over_address: u64,
    gave_way: u64,
    over_budget: u64,
    sessions_refused: u64,
    sessions_evicted: u64,
    resource_exhausted: u64,
    buffer_bytes: u64,
}

pub(crate) async fn servers(State(site): State<Arc<Site>>) -> Result<Json<Answer>, Refusal> {
    let (at_ns, now) = (ns(site.node()?.uptime()), Instant::now());
    let servers = site.settings.board.read().servers.into_iter().map(|(name, server)| {
        let address = server.local_addr();
        let recent = site.latency.read(&name, address, now, server.latency());
        Shown {
            name,
            address: address.to_string(),
            counts: server.counts(),
            latency: recent.map(|(span, latency)| Took::of(span, &latency)),
        }
    });
    Ok(Json(Answer { at_ns, servers: servers.collect() }))
}
