//! WebSockets as processes.

use std::io::Write;
use std::thread;

use axum::Router;
use axum::extract::ws::{Message as Frame, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get as route;
use futures_util::SinkExt;
use purlin::{ExitReason, Node, Overflow, Process, SpawnOptions, whereis, yield_now};
use purlin_axum::{Connection, Socket};
use tokio::time::timeout;
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Any, HANG, Http, get, next, serve, websocket};

/// Sends each message of the mailbox to the client, and each frame of the client back to it.
async fn session(mut me: Process<String>, mut socket: Socket) -> Result<(), axum::Error> {
    loop {
        tokio::select! {
            line = me.receive() => socket.send(Frame::Text(line.into())).await?,
            frame = socket.recv() => match frame.transpose()? {
                Some(Frame::Text(text)) if text == "panic" => panic!("at the client's request"),
                Some(Frame::Text(text)) if text == "close" => {
                    socket.close(4000, "as you wish").await;
                    return Ok(());
                }
                Some(frame) => socket.send(frame).await?,
                None => return Ok(()),
            },
        }
    }
}

async fn upgrade(connection: Connection, upgrade: WebSocketUpgrade) -> Response {
    let options = SpawnOptions::new().name("session").bound(100, Overflow::Reject);
    connection.websocket(upgrade, options, session)
}

/// Ends with the first message, and drops the frames of the client.
async fn sink(mut me: Process<()>, mut socket: Socket) -> Result<(), axum::Error> {
    loop {
        tokio::select! {
            () = me.receive() => return Ok(()),
            frame = socket.recv() => if frame.transpose()?.is_none() {
                return Ok(());
            },
        }
    }
}

async fn upgrade_to_sink(connection: Connection, upgrade: WebSocketUpgrade) -> Response {
    connection.websocket(upgrade, SpawnOptions::new().name("sink"), sink)
}

fn app() -> Router {
    Router::new().route("/ws", route(upgrade)).route("/sink", route(upgrade_to_sink))
}

#[purlin::test]
async fn a_websocket_is_a_process_with_a_mailbox_and_options(me: Process<()>) -> Result<(), Any> {
    let (_web, at) = serve(&me, app(), |server| server).await;
    let mut client = websocket(at, "/ws").await?;
    client.send(Message::text("hello")).await?;
    assert_eq!(next(&mut client).await?, Some(Message::text("hello")));
    let session = whereis::<String>("session")?;
    session.send("from a process".into());
    assert_eq!(next(&mut client).await?, Some(Message::text("from a process")));
    let processes = Node::current().expect("this is a process").processes();
    let info = processes.iter().find(|it| it.id == session.id()).expect("it is listed");
    assert_eq!(info.bound.as_ref().map(|bound| bound.limit), Some(100));
    client.close(None).await?;
    while next(&mut client).await.is_ok_and(|frame| frame.is_some()) {}
    session.ended().await;
    Ok(())
}

// Frames that are always ready would keep the session in one turn.
#[purlin::test]
async fn a_session_receives_although_its_client_never_stops_sending(
    me: Process<()>,
) -> Result<(), Any> {
    let (_web, at) = serve(&me, app(), |server| server).await;
    let client = websocket(at, "/sink").await?;
    let MaybeTlsStream::Plain(socket) = client.into_inner() else { unreachable!("no TLS") };
    let mut socket = socket.into_std()?;
    socket.set_nonblocking(false)?;
    let begins = async {
        loop {
            match whereis::<()>("sink") {
                Ok(sink) => return sink,
                Err(_) => yield_now().await,
            }
        }
    };
    let sink = timeout(HANG, begins).await?;
    let flood = thread::spawn(move || {
        // Empty binary frames with a mask of zeros.
        let frames = [0x82, 0x80, 0, 0, 0, 0].repeat(10_000);
        while socket.write_all(&frames).is_ok() {}
    });
    let receives = async {
        while sink.info().reductions < 10_000 {
            yield_now().await;
        }
        sink.send(());
        sink.ended().await
    };
    assert_eq!(timeout(HANG, receives).await?, ExitReason::Normal);
    flood.join().expect("it ends with the connection");
    Ok(())
}

#[purlin::test]
async fn a_session_may_close_the_connection_with_a_code(me: Process<()>) -> Result<(), Any> {
    let (_web, at) = serve(&me, app(), |server| server).await;
    let mut client = websocket(at, "/ws").await?;
    client.send(Message::text("close")).await?;
    let Some(Message::Close(Some(close))) = next(&mut client).await? else {
        panic!("it is closed")
    };
    assert_eq!((u16::from(close.code), close.reason.as_str()), (4000, "as you wish"));
    assert_eq!(next(&mut client).await?, None);
    Ok(())
}

#[purlin::test]
async fn a_panic_in_a_session_ends_only_that_session(me: Process<()>) -> Result<(), Any> {
    let (web, at) = serve(&me, app(), |server| server).await;
    let server = web.which_children().await?[0].process;
    let mut client = websocket(at, "/ws").await?;
    client.send(Message::text("panic")).await?;
    assert!(next(&mut client).await.is_err(), "there is no Close frame");
    while whereis::<String>("session").is_ok() {
        purlin::yield_now().await;
    }
    let mut client = websocket(at, "/ws").await?;
    client.send(Message::text("again")).await?;
    assert_eq!(next(&mut client).await?, Some(Message::text("again")));
    assert_eq!(web.which_children().await?[0].process, server);
    Ok(())
}

#[purlin::test]
async fn a_session_that_cannot_be_spawned_is_closed(me: Process<()>) -> Result<(), Any> {
    let (_web, at) = serve(&me, app(), |server| server).await;
    let mut first = websocket(at, "/ws").await?;
    first.send(Message::text("hello")).await?;
    assert!(next(&mut first).await?.is_some());
    // The name of its options is taken.
    let mut second = websocket(at, "/ws").await?;
    assert!(next(&mut second).await.is_err());
    Ok(())
}

/// Calls its function when it is dropped.
struct OnDrop(fn());

impl Drop for OnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Requires that a session whose function cannot be spawned ends no other connection, if `destructor`
/// runs when the function is dropped.
async fn require_contained(me: &Process<()>, destructor: fn()) -> Result<(), Any> {
    let upgrade = async move |connection: Connection, upgrade: WebSocketUpgrade| {
        let captured = OnDrop(destructor);
        let session = async move |_me: Process<()>, _socket: Socket| drop(captured);
        connection.websocket(upgrade, SpawnOptions::new().name("taken"), session)
    };
    let app = Router::new().route("/", route(async || "served")).route("/ws", route(upgrade));
    let (web, at) = serve(me, app, |server| server).await;
    let server = web.which_children().await?[0].process;
    let mut earlier = Http::connect(at).await?;
    assert_eq!(earlier.get("/").await?.1, "served");
    me.register("taken")?;
    let mut refused = websocket(at, "/ws").await?;
    assert!(next(&mut refused).await.is_err(), "there is no Close frame");
    // WHY a later connection first: its acceptor has ended the turn in which the spawn failed.
    assert_eq!(get(at, "/").await?.1, "served");
    assert_eq!(earlier.get("/").await?.1, "served");
    assert_eq!(web.which_children().await?[0].process, server);
    Ok(())
}

#[purlin::test]
async fn a_panic_of_a_function_that_is_dropped_ends_no_other_connection(
    me: Process<()>,
) -> Result<(), Any> {
    require_contained(&me, || panic!("in a destructor")).await
}

#[purlin::test]
async fn an_exit_of_a_function_that_is_dropped_ends_no_other_connection(
    me: Process<()>,
) -> Result<(), Any> {
    require_contained(&me, || purlin::exit(ExitReason::error("in a destructor"))).await
}
