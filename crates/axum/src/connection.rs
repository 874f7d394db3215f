//! Process of a connection, and the extractor that starts the process of a WebSocket.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use purlin::{Outcome, Pid, Process, SpawnOptions};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::timeout;

use crate::server::{Mail, ServerMail};
use crate::socket::{Socket, drains};

/// Time limit of a request's head, which is also the longest idle time between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Idle time after which the kernel probes whether the client is still there.
const PROBE_AFTER: Duration = Duration::from_secs(60);
/// Time after which a connection is closed whose client has acknowledged nothing: neither data nor a probe.
#[cfg(target_os = "linux")]
const UNREAD: Duration = Duration::from_secs(120);

/// The connection of a request, as an extractor.
///
/// ```
/// use axum::Router;
/// use axum::extract::ws::WebSocketUpgrade;
/// use axum::response::Response;
/// use axum::routing::get;
/// use purlin::{Process, SpawnOptions};
/// use purlin_axum::{Connection, Socket};
///
/// /// Sends each frame back.
/// async fn echo(_me: Process<()>, mut socket: Socket) -> Result<(), axum::Error> {
///     while let Some(frame) = socket.recv().await {
///         socket.send(frame?).await?;
///     }
///     Ok(())
/// }
///
/// async fn upgrade(connection: Connection, upgrade: WebSocketUpgrade) -> Response {
///     connection.websocket(upgrade, SpawnOptions::new(), echo)
/// }
///
/// let app: Router = Router::new().route("/echo", get(upgrade));
/// # let _ = app;
/// ```
///
/// The connection counts for the limit of the server until it has ended and all clones of this value are dropped.
///
/// A request that no [`Server`](crate::Server) received is answered with status 500.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) server: Pid<ServerMail>,
    pub(crate) peer: SocketAddr,
    pub(crate) _permit: Arc<OwnedSemaphorePermit>,
    pub(crate) draining: watch::Receiver<bool>,
    pub(crate) drain_timeout: Duration,
}

impl Connection {
    /// Returns the address of the client. Behind a proxy it is that of the proxy.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns whether the server has begun to stop.
    pub fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Accepts a WebSocket. Its process runs `function` with these options; it is linked to the
    /// server and counts for the limit of connections until it ends.
    ///
    /// `Process::receive` and [`Socket::recv`] can be awaited together by `tokio::select!`. If the
    /// process cannot be spawned, because the bound or the name of the options is invalid or the
    /// node is full, the socket is closed and the log has a warning.
    pub fn websocket<M, F, Fut>(
        self,
        upgrade: WebSocketUpgrade,
        options: SpawnOptions,
        function: F,
    ) -> Response
    where
        M: Send + 'static,
        F: FnOnce(Process<M>, Socket) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        // WHY the server spawns: this callback runs in a tokio task, which cannot link.
        upgrade.on_upgrade(move |socket| {
            let server = self.server.clone();
            let socket = Socket::new(socket, self);
            let spawn = move |me: &Process<ServerMail>| {
                let spawned = options.link(me).spawn(move |me| function(me, socket));
                match spawned {
                    Ok(pid) => Some(pid.id()),
                    Err(error) => {
                        tracing::warn!(%error, "the process of a WebSocket cannot be spawned");
                        // WHY in a tokio task: the error owns `function`, whose destructors may panic
                        // or call `purlin::exit`, which ends the acceptor even if it is caught here.
                        tokio::spawn(async move { drop(error) });
                        None
                    }
                }
            };
            server.send(ServerMail(Mail::Upgraded(Box::new(spawn))));
            ready(())
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Connection {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        let missing = "the request was not received by a purlin_axum::Server";
        parts.extensions.get().cloned().ok_or((StatusCode::INTERNAL_SERVER_ERROR, missing))
    }
}

/// Lets the kernel close the connection of a client that has vanished, or that does not read.
fn detect_loss(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_AFTER / 4);
    let _ = socket.set_tcp_keepalive(&probes);
    // On other systems than Linux the kernel's default applies.
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(UNREAD));
}

/// Process function of a connection: serves its requests until it is closed or upgraded.
pub(crate) async fn serve_connection(stream: TcpStream, app: Router, connection: Connection) {
    let app = TowerToHyperService::new(app);
    let (mut draining, drain_timeout) = (connection.draining.clone(), connection.drain_timeout);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(connection.peer));
        request.extensions_mut().insert(connection.clone());
        let answer = app.call(request);
        async { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
    });
    // A response of small writes, such as a stream of events, must not wait for the client's acknowledgement.
    let _ = stream.set_nodelay(true);
    detect_loss(&stream);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let mut served = pin!(http.serve_connection(TokioIo::new(stream), service).with_upgrades());
    let result = tokio::select! {
        result = served.as_mut() => result,
        () = drains(&mut draining) => {
            served.as_mut().graceful_shutdown();
            match timeout(drain_timeout, served).await {
                Ok(result) => result,
                Err(_) => return tracing::debug!("a connection was closed before its response had ended"),
            }
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended");
    }
}
