//! Stop of a server.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{Message as Frame, WebSocketUpgrade};
use axum::routing::get as route;
use futures_util::SinkExt;
use purlin::{Exit, ExitReason, Process, SpawnOptions};
use purlin_axum::{Connection, Socket};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Any, HANG, Http, next, serve, websocket};

/// Semaphores by which a test and its handlers wait for each other.
#[derive(Clone)]
struct Gate {
    reached: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Gate {
    fn new() -> Self {
        Self { reached: Arc::new(Semaphore::new(0)), open: Arc::new(Semaphore::new(0)) }
    }

    async fn pass(&self) {
        self.reached.add_permits(1);
        self.open.acquire().await.expect("it is never closed").forget();
    }

    async fn is_reached(&self) {
        self.reached.acquire().await.expect("it is never closed").forget();
    }
}

/// Answers each frame after the gate has been opened.
async fn answer(_me: Process<()>, mut socket: Socket, gate: Gate) -> Result<(), axum::Error> {
    while let Some(frame) = socket.recv().await.transpose()? {
        if let Frame::Text(text) = frame {
            gate.pass().await;
            socket.send(Frame::Text(text)).await?;
        }
    }
    Ok(())
}

fn app(gate: &Gate) -> Router {
    let (http, ws) = (gate.clone(), gate.clone());
    Router::new()
        .route("/", route(async || "fine"))
        .route(
            "/slow",
            route(async move || {
                http.pass().await;
                "slow"
            }),
        )
        .route(
            "/ws",
            route(async move |connection: Connection, upgrade: WebSocketUpgrade| {
                let answer = move |me, socket| answer(me, socket, ws);
                connection.websocket(upgrade, SpawnOptions::new(), answer)
            }),
        )
}

async fn refuses(at: std::net::SocketAddr) {
    while TcpStream::connect(at).await.is_ok() {
        purlin::yield_now().await;
    }
}

#[purlin::test]
async fn requests_and_frames_that_were_received_are_answered_before_the_end(
    me: Process<Exit>,
) -> Result<(), Any> {
    me.trap_exit(true);
    let gate = Gate::new();
    let (web, at) = serve(&me, app(&gate), |server| server.drain_timeout(HANG)).await;
    let mut idle = Http::connect(at).await?;
    assert_eq!(idle.get("/").await?.1, "fine");
    let mut client = websocket(at, "/ws").await?;
    client.send(Message::text("a frame")).await?;
    gate.is_reached().await;
    let slow = tokio::spawn(crate::support::get(at, "/slow"));
    gate.is_reached().await;

    let stop = tokio::spawn(async move { web.stop(ExitReason::Shutdown).await });
    refuses(at).await;
    assert!(idle.get("/").await.is_err(), "an idle connection is closed");
    assert!(!stop.is_finished());
    gate.open.add_permits(2);
    assert_eq!(slow.await??.1, "slow");
    assert_eq!(next(&mut client).await?, Some(Message::text("a frame")));
    let Some(Message::Close(Some(close))) = next(&mut client).await? else {
        panic!("it is closed")
    };
    assert_eq!(u16::from(close.code), 1001);
    assert_eq!(next(&mut client).await?, None);
    assert_eq!(timeout(HANG, stop).await??, ExitReason::Shutdown);
    Ok(())
}

#[purlin::test]
async fn every_client_of_many_gets_a_close_frame_and_no_reset(
    me: Process<Exit>,
) -> Result<(), Any> {
    me.trap_exit(true);
    const CLIENTS: usize = 100;
    let gate = Gate::new();
    gate.open.add_permits(1_000_000);
    let (web, at) = serve(&me, app(&gate), |server| server.drain_timeout(HANG)).await;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            tokio::spawn(async move {
                let mut client = websocket(at, "/ws").await?;
                // Frames are under way when the server stops.
                while client.send(Message::text("a frame")).await.is_ok() {
                    match next(&mut client).await? {
                        Some(Message::Text(_)) => {}
                        Some(Message::Close(Some(close))) => {
                            assert_eq!(u16::from(close.code), 1001);
                            break;
                        }
                        other => panic!("{other:?}"),
                    }
                }
                assert_eq!(next(&mut client).await?, None);
                Ok::<_, Any>(())
            })
        })
        .collect();
    for _ in 0..10 * CLIENTS {
        gate.is_reached().await;
    }
    assert_eq!(timeout(HANG, web.stop(ExitReason::Shutdown)).await?, ExitReason::Shutdown);
    for client in clients {
        client.await??;
    }
    Ok(())
}

#[purlin::test]
async fn clients_that_answer_nothing_are_closed_after_the_time_limit(
    me: Process<Exit>,
) -> Result<(), Any> {
    me.trap_exit(true);
    let gate = Gate::new();
    // WHY real time: the sockets are real. The connections are closed however late the time limit is noticed.
    let limit = Duration::from_millis(20);
    let (web, at) = serve(&me, app(&gate), |server| server.drain_timeout(limit)).await;
    // It never reads, so it never answers the Close frame.
    let _mute = websocket(at, "/ws").await?;
    // Its response never ends.
    let slow = tokio::spawn(crate::support::get(at, "/slow"));
    gate.is_reached().await;
    assert_eq!(timeout(HANG, web.stop(ExitReason::Shutdown)).await?, ExitReason::Shutdown);
    assert!(slow.await?.is_err());
    Ok(())
}

#[purlin::test]
async fn a_session_that_does_not_receive_is_killed_after_the_time_limit(
    me: Process<Exit>,
) -> Result<(), Any> {
    me.trap_exit(true);
    let gate = Gate::new();
    let reached = gate.clone();
    let app = Router::new().route(
        "/ws",
        route(async move |connection: Connection, upgrade: WebSocketUpgrade| {
            let wait = async move |_me: Process<()>, _socket: Socket| reached.pass().await;
            connection.websocket(upgrade, SpawnOptions::new(), wait)
        }),
    );
    // WHY real time: as above.
    let limit = Duration::from_millis(20);
    let (web, at) = serve(&me, app, |server| server.drain_timeout(limit)).await;
    let _client = websocket(at, "/ws").await?;
    gate.is_reached().await;
    assert_eq!(timeout(HANG, web.stop(ExitReason::Shutdown)).await?, ExitReason::Shutdown);
    Ok(())
}
