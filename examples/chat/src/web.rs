//! Routes of the web server.

use std::io;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use purlin::{Node, Overflow, SpawnOptions};
use purlin_axum::{Connection, Readiness, probes};
use purlin_observer::Observer;
use serde::Deserialize;

use crate::session::{Visit, session};

/// Name of the application.
pub(crate) const APPLICATION: &str = "chat";
/// Longest name of a room and of a person, in bytes.
const MAX_NAME: usize = 64;
/// Largest frame of a client, in bytes.
const MAX_FRAME: usize = 8 << 10;
/// Number of lines that may wait for a slow client.
const BOUND: usize = 1000;

const PAGE: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/chat.js");
const STYLE: &str = include_str!("page/chat.css");
const ICON: &str = include_str!("page/icon.svg");
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Query of a WebSocket.
#[derive(Deserialize)]
struct Client {
    who: String,
    #[serde(default)]
    after: u64,
}

/// Builds the router, with the observer's page if there is a token.
pub(crate) fn router(
    node: &Node,
    readiness: &Readiness,
    observer_token: Option<&str>,
) -> io::Result<Router> {
    let file = |kind: &'static str, text: &'static str| {
        get(async move || {
            let fields = [
                (CONTENT_TYPE, kind),
                (CONTENT_SECURITY_POLICY, POLICY),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (fields, text)
        })
    };
    let mut app = Router::new()
        .route("/", file("text/html; charset=utf-8", PAGE))
        .route("/chat.js", file("text/javascript; charset=utf-8", SCRIPT))
        .route("/chat.css", file("text/css; charset=utf-8", STYLE))
        .route("/icon.svg", file("image/svg+xml", ICON))
        .route("/rooms/{room}", get(visit))
        .merge(probes(APPLICATION, readiness));
    if let Some(token) = observer_token {
        app = app.nest_service("/observer", Observer::mounted(token).router(node)?);
    }
    Ok(app)
}

async fn visit(
    connection: Connection,
    Path(room): Path<String>,
    Query(Client { who, after }): Query<Client>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let is_name =
        |name: &str| (1..=MAX_NAME).contains(&name.len()) && !name.contains(char::is_control);
    if !is_name(&room) || !is_name(&who) {
        let why = format!("a name has 1 to {MAX_NAME} bytes and no control characters\n");
        return (StatusCode::BAD_REQUEST, why).into_response();
    }
    let upgrade = upgrade.max_message_size(MAX_FRAME).max_frame_size(MAX_FRAME);
    let options = SpawnOptions::new().bound(BOUND, Overflow::Reject);
    connection.websocket(upgrade, options, move |me, socket| {
        session(me, socket, Visit { room, who, after })
    })
}
