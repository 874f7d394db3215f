//! The figures of the node as Prometheus reads them, with the same token as everything else.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::answer::Refusal;
use super::processes::aside;
use super::site::Site;
use super::warnings::latest;
use crate::metrics::CONTENT_TYPE as TEXT;

pub(crate) async fn metrics(State(site): State<Arc<Site>>) -> Result<Response, Refusal> {
    let census = site.measured().await?;
    let found = latest(&site, census.number).await?;
    let own = Arc::clone(&site);
    let text = aside(&site, move || {
        let shown = own.board.read().servers.into_iter();
        let servers: Vec<_> = shown.map(|(name, server)| (name, server.counts())).collect();
        own.exporter.scrape(&census, found.warnings(), &servers)
    });
    Ok(([(CONTENT_TYPE, TEXT)], text.await?).into_response())
}
