//! The limit of connections.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::routing::get as route;
use purlin::{Process, SpawnOptions};
use purlin_axum::{Connection, Socket};
use tokio::time::timeout;

use crate::support::{Any, HANG, Http, get, serve, websocket};

#[purlin::test]
async fn at_the_limit_no_connection_is_accepted_until_one_has_ended(
    me: Process<()>,
) -> Result<(), Any> {
    let hold = async |connection: Connection, upgrade: WebSocketUpgrade| {
        let hold =
            async |_me: Process<()>, mut socket: Socket| while socket.recv().await.is_some() {};
        connection.websocket(upgrade, SpawnOptions::new(), hold)
    };
    let app = Router::new().route("/", route(async || "served")).route("/hold", route(hold));
    let (_web, at) = serve(&me, app, |server| server.max_connections(2)).await;
    // A WebSocket counts as the connection that it was made of.
    let held = websocket(at, "/hold").await?;
    let mut first = Http::connect(at).await?;
    assert_eq!(first.get("/").await?.1, "served");
    let mut waits = pin!(get(at, "/"));
    for _ in 0..100 {
        assert_eq!(first.get("/").await?.1, "served");
        let is_pending = poll_fn(|cx| Poll::Ready(waits.as_mut().poll(cx).is_pending())).await;
        assert!(is_pending, "there are two connections");
    }
    drop(held);
    assert_eq!(timeout(HANG, waits).await??.1, "served");
    Ok(())
}
