//! HTTP connections as processes.

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::StatusCode;
use axum::routing::get as route;
use purlin::application::ApplicationSpec;
use purlin::supervisor::{ChildProcess, SupervisorSpec};
use purlin::{ExitReason, Node, Process, Reply, register, spawn, whereis};
use purlin_axum::{Connection, Readiness, Server, probes};
use std::future::IntoFuture;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::{Any, Http, get, serve};

#[purlin::test]
async fn a_handler_runs_in_a_process_and_finds_names(me: Process<()>) -> Result<(), Any> {
    let echo = spawn(async |mut me: Process<Reply<&'static str>>| {
        loop {
            me.receive().await.send("hello");
        }
    });
    register("echo", &echo)?;
    let app = Router::new()
        .route(
            "/call",
            route(async || {
                let echo = whereis::<Reply<&'static str>>("echo").expect("it lives");
                echo.call(|reply| reply).await.expect("it answers")
            }),
        )
        .route(
            "/functions",
            route(async || {
                let processes = Node::current().expect("this is a process").processes();
                processes.iter().map(|it| it.function).collect::<Vec<_>>().join("\n")
            }),
        )
        .route(
            "/peer",
            route(async |ConnectInfo(peer): ConnectInfo<SocketAddr>, connection: Connection| {
                assert_eq!(peer, connection.peer());
                peer.ip().to_string()
            }),
        );
    let (_web, at) = serve(&me, app, |server| server).await;
    assert_eq!(get(at, "/call").await?, (StatusCode::OK, "hello".into()));
    assert_eq!(get(at, "/peer").await?.1, "127.0.0.1");
    let (_, functions) = get(at, "/functions").await?;
    assert!(functions.contains("purlin_axum"), "{functions}");
    Ok(())
}

#[purlin::test]
async fn axum_serve_in_a_task_is_stopped_by_a_message_to_its_process(
    mut me: Process<&'static str>,
) -> Result<(), Any> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let at = listener.local_addr()?;
    let app = Router::new().route("/", route(async || "fine"));
    let (stop, stopped) = oneshot::channel::<()>();
    let served = axum::serve(listener, app).with_graceful_shutdown(async { drop(stopped.await) });
    let serving = tokio::spawn(served.into_future());
    assert_eq!(get(at, "/").await?.1, "fine");
    me.pid().send("stop");
    assert_eq!(me.receive().await, "stop");
    drop(stop);
    serving.await??;
    Ok(())
}

#[purlin::test]
async fn a_panic_in_a_handler_ends_only_its_connection(me: Process<()>) -> Result<(), Any> {
    let app = Router::new()
        .route("/", route(async || "fine"))
        .route("/panic", route(async || -> &'static str { panic!("in the handler") }));
    let (_web, at) = serve(&me, app, |server| server).await;
    let mut other = Http::connect(at).await?;
    assert_eq!(other.get("/").await?.1, "fine");
    assert!(get(at, "/panic").await.is_err(), "the connection is closed");
    assert_eq!(other.get("/").await?.1, "fine");
    assert_eq!(get(at, "/").await?.1, "fine");
    Ok(())
}

#[purlin::test]
async fn a_restarted_server_has_the_same_address_and_a_killed_one_ends_its_connections(
    me: Process<()>,
) -> Result<(), Any> {
    let app = Router::new().route(
        "/",
        route(async |connection: Connection| {
            assert!(!connection.is_draining());
            "fine"
        }),
    );
    let (web, at) = serve(&me, app, |server| server).await;
    let mut client = Http::connect(at).await?;
    assert_eq!(client.get("/").await?.1, "fine");
    let ChildProcess::Running(first) = web.which_children().await?[0].process else {
        panic!("it runs")
    };
    purlin::exit_process(first, ExitReason::Kill);
    while client.get("/").await.is_ok() {}
    // The supervisor starts the next one after it has received the exit signal.
    while get(at, "/").await.is_err() {}
    Ok(())
}

#[purlin::test]
async fn an_address_in_use_is_an_error_that_names_it() {
    let first = Server::bind(([127, 0, 0, 1], 0), Router::new()).expect("a port is free");
    let error = Server::bind(first.local_addr(), Router::new()).expect_err("it is in use");
    let said = error.to_string();
    assert!(
        said.contains("cannot listen at") && said.contains(&first.local_addr().to_string()),
        "{said}"
    );
}

#[purlin::test]
async fn readiness_follows_the_application_and_its_setting() -> Result<(), Any> {
    let readiness = Readiness::new();
    let server = Server::bind(([127, 0, 0, 1], 0), probes("shop", &readiness))?;
    let at = server.local_addr();
    let node = Node::current().expect("this is a process");
    let tree = SupervisorSpec::one_for_one().child(server.child_spec("web"));
    let shop = node.start_application(ApplicationSpec::new("shop", tree)).await?;
    assert_eq!(get(at, "/livez").await?, (StatusCode::OK, "live\n".into()));
    assert_eq!(get(at, "/readyz").await?, (StatusCode::OK, "ready\n".into()));
    readiness.set(false);
    let (status, why) = get(at, "/readyz").await?;
    assert_eq!(
        (status, &*why),
        (StatusCode::SERVICE_UNAVAILABLE, "the application is not ready\n")
    );
    assert_eq!(get(at, "/livez").await?.0, StatusCode::OK);
    assert_eq!(shop.stop().await, ExitReason::Normal);
    assert!(get(at, "/livez").await.is_err(), "it no longer listens");
    Ok(())
}

#[purlin::test]
async fn another_application_is_not_ready(me: Process<()>) -> Result<(), Any> {
    let (_web, at) = serve(&me, probes("shop", &Readiness::new()), |server| server).await;
    let (status, why) = get(at, "/readyz").await?;
    assert_eq!(
        (status, &*why),
        (StatusCode::SERVICE_UNAVAILABLE, "the application is not running\n")
    );
    Ok(())
}
