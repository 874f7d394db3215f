//! What the page is told without asking: the figures of the node, as they are seen.

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

use super::answer::Refusal;
use super::look::{Look, News};
use super::site::Site;
use super::warnings::Found;
use crate::census::{Census, Watching};

/// What never changes of a page.
#[derive(Serialize)]
pub(crate) struct About {
    node: String,
    version: &'static str,
    /// From one census to the next: the page asks as often for what it is not told.
    period_ms: u64,
    rights: Rights,
}

/// What may be done besides looking.
#[derive(Serialize)]
struct Rights {
    exit: bool,
}

pub(crate) async fn about(State(site): State<Arc<Site>>) -> Json<About> {
    let rights = Rights { exit: site.may_exit };
    let period_ms = u64::try_from(site.period.as_millis()).unwrap_or(u64::MAX).max(1);
    Json(About { node: site.name.clone(), version: env!("CARGO_PKG_VERSION"), period_ms, rights })
}

pub(crate) async fn overview(State(site): State<Arc<Site>>) -> Result<Json<News>, Refusal> {
    let census = site.measured().await?;
    Ok(Json(News::of(&site, &census, 0)))
}

/// Somebody who follows, until they go.
struct Follower {
    site: Arc<Site>,
    censuses: Receiver<Arc<Census>>,
    warnings: Receiver<Arc<Found>>,
    /// The last one that this follower was told of.
    told: u64,
    /// Censuses that came while it had not read the last one yet.
    lost: u64,
    /// What is to be told before the next census.
    waiting: Vec<Event>,
    _watching: Watching,
    _place: OwnedSemaphorePermit,
}

/// The node's figures, each time they are seen: first an event `history`, with those of the last minutes, then
/// an event `overview` a census, and an event `warnings` with what looks wrong in it.
///
/// *Cancellation*: the sampler rests when the last follower has gone.
pub(crate) async fn live(
    State(site): State<Arc<Site>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let place = Arc::clone(&site.streams).try_acquire_owned().map_err(|_| {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many pages follow this node already")
    })?;
    let history: Vec<_> = site.sampler.history().iter().map(|seen| Look::of(seen)).collect();
    let follower = Follower {
        censuses: site.sampler.subscribe(),
        warnings: site.warnings.subscribe(),
        _watching: site.sampler.watch(),
        told: 0,
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
            // What is seen comes before what is said of it.
            biased;
            changed = self.censuses.changed() => changed.ok()?,
            changed = self.warnings.changed() => {
                changed.ok()?;
                let found = Arc::clone(&self.warnings.borrow_and_update());
                return Some(event("warnings", &found.shown()));
            }
        }
        let census = Arc::clone(&self.censuses.borrow_and_update());
        if self.told > 0 {
            self.lost += census.number.saturating_sub(self.told + 1);
        }
        self.told = census.number;
        Some(event("overview", &News::of(&self.site, &census, self.lost)))
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    let event = Event::default().event(name);
    // What is told is made of numbers and texts, which JSON can say.
    event.json_data(data).unwrap_or_else(|_| Event::default().comment("left out"))
}
