//! Routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::time::timeout;

#[cfg(feature = "metrics")]
use super::api::metrics::metrics;
use super::api::{cluster, live, process, processes, servers, trace, tree, warnings};
use super::assets;
use super::guard::guard;
use super::refusal::Refusal;
use super::state::Site;

/// Largest request body, in bytes.
const BODY: usize = 8 << 10;
/// Timeout of a request including its arrival, apart from the two periods that it may wait for a snapshot. For a stream
/// only the time until the response begins counts.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// Builds the router.
pub(crate) fn routes(site: Arc<Site>) -> Router {
    let longest = LONGEST + 2 * site.settings.period;
    Router::new()
        .route("/", get(assets::page))
        .route("/page/{name}", get(assets::file))
        .route("/api/about", get(live::about))
        .route("/api/overview", get(live::overview))
        .route("/api/live", get(live::live))
        .route("/api/processes", get(processes::processes))
        .route("/api/process", get(process::process))
        .route("/api/process/exit", post(process::exit))
        .route("/api/tree", get(tree::tree))
        .route("/api/cluster", get(cluster::cluster))
        .route("/api/servers", get(servers::servers))
        .route("/api/warnings", get(warnings::warnings))
        .route("/api/trace", get(trace::trace))
        .route("/api/trace/start", post(trace::start))
        .route("/api/trace/stop", post(trace::stop))
        .route("/api/trace/chrome", get(trace::file))
        .route("/metrics", get(metrics))
        .fallback(async || Refusal::gone("there is nothing there"))
        .method_not_allowed_fallback(async || {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "that cannot be done there")
        })
        .layer(from_fn(move |request, next| in_time(longest, request, next)))
        .layer(DefaultBodyLimit::max(BODY))
        .layer(from_fn_with_state(Arc::clone(&site), guard))
        .with_state(site)
}

#[cfg(not(feature = "metrics"))]
async fn metrics() -> Refusal {
    Refusal::gone("this program was built without the feature `metrics` of purlin-observer")
}

async fn in_time(longest: Duration, request: Request, next: Next) -> Response {
    timeout(longest, next.run(request)).await.unwrap_or_else(|_| {
        Refusal::new(StatusCode::REQUEST_TIMEOUT, "that took too long").into_response()
    })
}
