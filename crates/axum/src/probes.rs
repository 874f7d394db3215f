//! Endpoints of liveness and readiness, as Kubernetes and load balancers probe them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use purlin::Node;

use crate::connection::Connection;

/// Whether an application accepts requests; clones share the state.
///
/// A server is started after the processes it needs, so the state is *ready* at first. Set it to
/// `false` in [`prep_stop`](purlin::application::ApplicationSpec::prep_stop), or while something is
/// missing that the application needs, such as a database.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<AtomicBool>);

impl Default for Readiness {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl Readiness {
    /// Returns a state that is ready.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the application accepts requests.
    pub fn set(&self, ready: bool) {
        // ORDER: relaxed, here and below: the value publishes no other data.
        self.0.store(ready, Ordering::Relaxed);
    }

    /// Returns whether the application accepts requests.
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns the routes of the two probes of an application.
///
/// | route | status 200 | otherwise |
/// |---|---|---|
/// | `/livez` | the node runs processes: the answer comes from one | no answer |
/// | `/readyz` | the application of this name runs, [`Readiness`] is `true`, and the server does not stop | 503, and the reason as text |
///
/// A probe is a connection of its server. At the limit
/// ([`Server::max_connections`](crate::Server::max_connections)) it waits until another one ends, and
/// Kubernetes restarts a program whose `/livez` does not answer in time. If clients may hold all
/// connections, as with WebSockets, serve the probes on another port, by a second server.
///
/// ```
/// use axum::Router;
/// use purlin_axum::{Readiness, probes};
///
/// let readiness = Readiness::new();
/// let app: Router = Router::new().merge(probes("shop", &readiness));
/// # let _ = app;
/// ```
pub fn probes(application: &str, readiness: &Readiness) -> Router {
    let (application, readiness) = (Arc::<str>::from(application), readiness.clone());
    let ready = async move |connection: Connection| match obstacle(&application, &readiness) {
        None if connection.is_draining() => (StatusCode::SERVICE_UNAVAILABLE, "the server stops\n"),
        None => (StatusCode::OK, "ready\n"),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    };
    Router::new().route("/livez", get(async || "live\n")).route("/readyz", get(ready))
}

/// Returns why the application accepts no requests.
fn obstacle(application: &str, readiness: &Readiness) -> Option<&'static str> {
    let Some(node) = Node::current() else { return Some("the node stops\n") };
    if !node.applications().iter().any(|name| **name == *application) {
        return Some("the application is not running\n");
    }
    (!readiness.is_ready()).then_some("the application is not ready\n")
}
