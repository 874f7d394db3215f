//! Other people's libraries inside processes, without adapters: sockets, timers, files, tasks,
//! hyper.

use std::net::SocketAddr;

use crate::common::{HANG, node};
use crate::waiting::MS;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use purlin::{ExitReason, Process, Reply, spawn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Any = Box<dyn std::error::Error + Send + Sync>;

/// Binds a free local port.
async fn port() -> Result<(TcpListener, SocketAddr), std::io::Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let at = listener.local_addr()?;
    Ok((listener, at))
}

// P1: one process per connection
#[purlin::test]
async fn a_process_can_serve_each_connection_of_a_socket() -> Result<(), Any> {
    let (listener, at) = port().await?;
    spawn(async move |_: Process<()>| -> std::io::Result<()> {
        loop {
            let (mut socket, _) = listener.accept().await?;
            spawn(async move |_: Process<()>| -> std::io::Result<()> {
                let (mut from, mut to) = socket.split();
                tokio::io::copy(&mut from, &mut to).await?;
                Ok(())
            });
        }
    });
    let clients: Vec<_> = (0..20u8)
        .map(|n| {
            spawn(async move |_: Process<()>| -> std::io::Result<()> {
                let mut socket = TcpStream::connect(at).await?;
                for round in 0..20 {
                    let sent = vec![n ^ round; 1 + usize::from(n) * 400];
                    socket.write_all(&sent).await?;
                    let mut back = vec![0; sent.len()];
                    socket.read_exact(&mut back).await?;
                    assert_eq!(back, sent);
                }
                Ok(())
            })
        })
        .collect();
    for client in clients {
        assert_eq!(client.ended().await, ExitReason::Normal);
    }
    Ok(())
}

// R3, R7: tokio's timers together with purlin's mailbox
#[purlin::test]
async fn tokio_s_timers_work_inside_a_process(mut me: Process<u8>) {
    // WHY real time: tokio's timers use the machine's clock. No upper bound is asserted.
    let began = std::time::Instant::now();
    let first = tokio::time::Instant::now() + 5 * MS;
    let mut ticks = tokio::time::interval_at(first, MS);
    for _ in 0..3 {
        ticks.tick().await;
    }
    assert!(began.elapsed() >= 7 * MS);
    let late = tokio::time::timeout(MS, me.receive()).await;
    assert!(late.is_err());
    me.pid().send(3);
    let timely = tokio::time::timeout(HANG, me.receive()).await;
    assert_eq!(timely.ok(), Some(3));
}

// R2: a message, a timer and a socket in one `select!`
#[purlin::test]
async fn one_process_can_select_over_a_message_a_timer_and_a_socket() -> Result<(), Any> {
    let (listener, at) = port().await?;
    let pid = spawn(async move |mut me: Process<Reply<()>>| {
        // WHY real time: a socket is real too. The process waits for all three events.
        let mut ticks = tokio::time::interval(MS);
        let (mut asked, mut ticked, mut connected) = (None, false, false);
        while asked.is_none() || !ticked || !connected {
            tokio::select! {
                reply = me.receive() => asked = Some(reply),
                _ = ticks.tick() => ticked = true,
                socket = listener.accept() => {
                    let (mut socket, _) = socket.expect("a connection");
                    socket.write_all(b"!").await.expect("the client reads");
                    connected = true;
                }
            }
        }
        asked.into_iter().for_each(|reply| reply.send(()));
    });
    let mut socket = TcpStream::connect(at).await?;
    assert_eq!(socket.read_u8().await?, b'!');
    pid.call(|reply| reply).await?;
    Ok(())
}

// P1: files and blocking work, which tokio runs on its blocking threads
#[purlin::test]
async fn files_and_blocking_work_can_be_awaited_in_a_process() -> Result<(), Any> {
    let this = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/with_tokio.rs");
    let text = tokio::fs::read_to_string(this).await?;
    assert!(text.starts_with("//! Other people's libraries"));
    let sum = tokio::task::spawn_blocking(|| (1..=100).sum::<u32>()).await?;
    assert_eq!(sum, 5050);
    Ok(())
}

// P1: a tokio task started by a process, and its error when it panics
#[purlin::test]
async fn a_process_can_spawn_tokio_tasks(mut me: Process<u32>) {
    let pid = me.pid();
    let task = tokio::spawn(async move {
        pid.send(1);
        tokio::task::yield_now().await;
        pid.send(2);
        3
    });
    assert_eq!(task.await.ok(), Some(3));
    assert_eq!(me.flush(), [1, 2]);
    let lost = tokio::spawn(async { std::panic::resume_unwind(Box::new("in the task")) });
    let lost: Result<(), _> = lost.await;
    assert!(lost.expect_err("it panics").is_panic());
}

/// Answers `POST /double` with the body twice.
async fn double(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let known = request.uri().path() == "/double";
    let body = request.into_body().collect().await?.to_bytes();
    let mut response = Response::new(Full::new(Bytes::from([&body[..], &body[..]].concat())));
    if !known {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    Ok(response)
}

/// Makes one HTTP request over one connection, which is driven by a separate process.
async fn ask(at: SocketAddr, path: &str, body: &'static str) -> Result<(StatusCode, Bytes), Any> {
    let io = TokioIo::new(TcpStream::connect(at).await?);
    let (mut client, connection) = hyper::client::conn::http1::handshake(io).await?;
    let carrier = spawn(async move |_: Process<()>| connection.await);
    let request =
        Request::post(path).header("host", "localhost").body(Full::new(Bytes::from(body)))?;
    let response = client.send_request(request).await?;
    let status = response.status();
    let answer = response.into_body().collect().await?.to_bytes();
    drop(client);
    assert_eq!(carrier.ended().await, ExitReason::Normal);
    Ok((status, answer))
}

// P1: hyper's server and client, with one process per connection
#[purlin::test]
async fn hyper_servers_and_clients_run_inside_processes() -> Result<(), Any> {
    let (listener, at) = port().await?;
    spawn(async move |_: Process<()>| -> std::io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            spawn(async move |_: Process<()>| {
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(socket), hyper::service::service_fn(double))
                    .await
            });
        }
    });
    for _ in 0..20 {
        let (status, answer) = ask(at, "/double", "hello ").await?;
        assert_eq!((status, &answer[..]), (StatusCode::OK, &b"hello hello "[..]));
    }
    let (status, _) = ask(at, "/other", "").await?;
    assert_eq!(status, StatusCode::NOT_FOUND);
    Ok(())
}

// E1, C1: a node inside a tokio program, from its start to its end
#[tokio::test]
async fn a_node_can_run_inside_a_tokio_program() {
    let node = node(2);
    let pid = node.spawn(async |mut me: Process<Reply<u8>>| {
        loop {
            me.receive().await.send(7);
        }
    });
    assert_eq!(pid.call(|reply| reply).await, Ok(7));
    let asker = pid.clone();
    let task = tokio::spawn(async move { asker.call(|reply| reply).await });
    assert_eq!(task.await.ok(), Some(Ok(7)));
    assert!(node.stop().await.hogs.is_empty());
    assert_eq!(pid.ended().await, ExitReason::Shutdown);
}

// E1: the last handle of a node, dropped in a task
#[tokio::test]
async fn a_node_can_be_dropped_inside_a_tokio_program() {
    let node = node(2);
    let pid = node.spawn(async |mut me: Process<()>| me.receive().await);
    drop(node);
    assert_eq!(pid.ended().await, ExitReason::Shutdown);
}
