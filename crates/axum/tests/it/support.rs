//! Helpers of the tests: a supervised server, and clients.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use purlin::Process;
use purlin::supervisor::{SupervisorRef, SupervisorSpec};
use purlin_axum::Server;
pub(crate) use purlin_polling::HANG;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub(crate) type Any = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Client = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Starts a server of `app` under a supervisor, with more settings.
pub(crate) async fn serve<M: Send + 'static>(
    me: &Process<M>,
    app: Router,
    more: impl FnOnce(Server) -> Server,
) -> (SupervisorRef, SocketAddr) {
    let server = more(Server::bind(([127, 0, 0, 1], 0), app).expect("a port is free"));
    let tree = SupervisorSpec::one_for_one().child(server.child_spec("web"));
    (tree.start_link(me).await.expect("it starts"), server.local_addr())
}

/// An HTTP connection, driven by a tokio task.
pub(crate) struct Http(SendRequest<Empty<Bytes>>);

impl Http {
    pub(crate) async fn connect(at: SocketAddr) -> Result<Self, Any> {
        let io = TokioIo::new(TcpStream::connect(at).await?);
        let (client, connection) = hyper::client::conn::http1::handshake(io).await?;
        tokio::spawn(connection);
        Ok(Self(client))
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<(StatusCode, String), Any> {
        let request = Request::get(path).header("host", "localhost").body(Empty::new())?;
        self.0.ready().await?;
        let response = self.0.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8(body.to_vec())?))
    }
}

/// Makes one request over a new connection.
pub(crate) async fn get(at: SocketAddr, path: &str) -> Result<(StatusCode, String), Any> {
    Http::connect(at).await?.get(path).await
}

pub(crate) async fn websocket(at: SocketAddr, path: &str) -> Result<Client, Any> {
    let (client, _) = tokio_tungstenite::connect_async(format!("ws://{at}{path}")).await?;
    Ok(client)
}

/// Returns the next frame; `None` at the end of the connection.
pub(crate) async fn next(client: &mut Client) -> Result<Option<Message>, Any> {
    Ok(timeout(HANG, client.next()).await?.transpose()?)
}
