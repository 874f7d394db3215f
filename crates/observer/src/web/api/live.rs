//! Server-sent events: the figures of the node, pushed with each snapshot.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::watch::Receiver;

use super::overview::{Figures, NodeOverview};
use crate::snapshot::{Snapshot, Watching};
use crate::web::refusal::Refusal;
use crate::web::state::{Found, Site};

/// Constant properties of a page.
#[derive(Serialize)]
pub(crate) struct About {
    node: String,
    version: &'static str,
    /// Sampling period, at which the page also polls for what is not pushed.
    period_ms: u64,
    rights: Rights,
}

/// Permitted actions.
#[derive(Serialize)]
struct Rights {
    exit: bool,
}

pub(crate) async fn about(State(site): State<Arc<Site>>) -> Json<About> {
    let rights = Rights { exit: site.settings.may_exit };
    let period_ms = u64::try_from(site.settings.period.as_millis()).unwrap_or(u64::MAX).max(1);
    Json(About { node: site.name.clone(), version: env!("CARGO_PKG_VERSION"), period_ms, rights })
}

pub(crate) async fn overview(State(site): State<Arc<Site>>) -> Result<Json<NodeOverview>, Refusal> {
    let snapshot = site.measured().await?;
    Ok(Json(NodeOverview::of(&site, &snapshot, 0)))
}

/// A client of the event stream.
struct Follower {
    site: Arc<Site>,
    snapshots: Receiver<Arc<Snapshot>>,
    warnings: Receiver<Arc<Found>>,
    /// Number of the last snapshot sent.
    last_sent: u64,
    /// Number of snapshots skipped because the client had not read the previous one.
    lost: u64,
    /// Events to send before the next snapshot.
    waiting: Vec<Event>,
    _watching: Watching,
    _place: OwnedSemaphorePermit,
}

/// Streams the node's figures: first an event `history` with the last minutes, then per snapshot an event `overview`,
/// and an event `warnings` with its warnings.
///
/// The stream ends when the node stops.
///
/// *Cancellation*: the sampler pauses after the last client has disconnected.
pub(crate) async fn live(
    State(site): State<Arc<Site>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    drop(site.node()?);
    let place = Arc::clone(&site.streams).try_acquire_owned().map_err(|_| {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many pages follow this node already")
    })?;
    let history: Vec<_> = site.sampler.history().iter().map(|seen| Figures::of(seen)).collect();
    let follower = Follower {
        snapshots: site.sampler.subscribe(),
        warnings: site.warnings.subscribe(),
        _watching: site.sampler.watch(),
        last_sent: 0,
        lost: 0,
        waiting: vec![event("history", &history)],
        site,
        _place: place,
    };
    Ok(Sse::new(unfold(follower, async |mut follower| {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    })))
}

impl Follower {
    async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.waiting.pop() {
            return Some(event);
        }
        tokio::select! {
            // A snapshot is sent before its warnings.
            biased;
            () = self.site.closed() => return None,
            changed = self.snapshots.changed() => changed.ok()?,
            changed = self.warnings.changed() => {
                changed.ok()?;
                let found = Arc::clone(&self.warnings.borrow_and_update());
                return Some(event("warnings", &found.shown()));
            }
        }
        let snapshot = Arc::clone(&self.snapshots.borrow_and_update());
        if self.last_sent > 0 {
            self.lost += snapshot.number.saturating_sub(self.last_sent + 1);
        }
        self.last_sent = snapshot.number;
        Some(event("overview", &NodeOverview::of(&self.site, &snapshot, self.lost)))
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    // Unreachable: the data are numbers and strings, which JSON can represent.
    event.json_data(data).unwrap_or_else(|_| Event::default().comment("left out"))
}
