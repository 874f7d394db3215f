//! HTTP server of the page.
//!
//! It runs on a dedicated thread with a current-thread tokio runtime and one blocking thread for CPU-bound work such as
//! sorting a million rows, so it uses neither the node's workers nor their I/O thread. It ends with all connections
//! when [`Running`] is dropped.
//!
//! Clients are untrusted, so everything they can make the server hold is bounded: the number of connections, the
//! arrival time of a request, the time a response may wait to be read, the size of a request's head and body, and the
//! number of event streams. A connection without the token is [closed for a new one](Connections) at the limit.

use std::io;
use std::net::{SocketAddr, TcpListener as Listening};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::connections::{Connections, Opened};
use super::routes::routes;
use super::state::Site;

/// Largest number of open connections. A browser opens six.
const CONNECTIONS: usize = 64;
/// Timeout of a request's head, which is also the longest idle time between two requests.
const HEAD: Duration = Duration::from_secs(15);
/// Longest time a client may leave written data unacknowledged.
const UNREAD: Duration = Duration::from_secs(30);
/// Largest head of a request, in bytes and in header fields.
const HEAD_BYTES: usize = 16 << 10;
const FIELDS: usize = 64;
/// Pause after a failed `accept`, such as when the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time limit of running blocking work when the node stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A running server. Dropping it stops the server.
pub(crate) struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Binds the address and starts serving.
    pub(crate) fn start(address: SocketAddr, site: Site, node: &str) -> io::Result<Self> {
        let listening = Listening::bind(address).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("the observer cannot listen at {address}: {error}"),
            )
        })?;
        listening.set_nonblocking(true)?;
        let address = listening.local_addr()?;
        let name = format!("{node}-page");
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .thread_name(name.clone())
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(name).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listening, Arc::new(site)) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been reported on standard error.
            let _ = thread.join();
        }
    }
}

async fn serve(listening: Listening, site: Arc<Site>) {
    let listener = match TcpListener::from_std(listening) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the observer's page cannot be served"),
    };
    tokio::spawn(site.background());
    let (routes, connections) = (routes(site), Arc::new(Connections::new(CONNECTIONS)));
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        match connections.open(peer.ip()) {
            Some(opened) => {
                tokio::spawn(serve_connection(stream, opened, routes.clone(), UNREAD));
            }
            None => reject(stream).await,
        }
    }
}

/// Serves one connection until it is closed, until it has to give way to another one, or until the client has
/// acknowledged nothing for `unread`.
async fn serve_connection(stream: TcpStream, opened: Opened, routes: Router, unread: Duration) {
    set_user_timeout(&stream, unread);
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD);
    server.max_buf_size(HEAD_BYTES).max_headers(FIELDS);
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(|mut request: Request<Incoming>| {
        opened.touch();
        request.extensions_mut().insert(Arc::clone(&opened.connection));
        routes.call(request)
    });
    let served = server.serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        served = served => if let Err(error) = served {
            tracing::debug!(%error, "a connection to the observer's page ended");
        },
        () = opened.connection.gives_way() => {
            tracing::debug!("a connection to the observer's page gave way to a new one");
        }
    }
}

/// Sets `TCP_USER_TIMEOUT`, so that the kernel closes a connection whose client does not read. On other systems than
/// Linux the kernel's default timeout applies.
fn set_user_timeout(stream: &TcpStream, time: Duration) {
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(time));
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, time);
}

/// Sends status 503. What does not fit into the socket buffer within 10 ms is not sent.
async fn reject(mut stream: TcpStream) {
    let _ = timeout(Duration::from_millis(10), stream.write_all(FULL)).await;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::runtime::Builder;
    use tokio::time::timeout;

    use super::{Connections, serve_connection};

    #[test]
    fn a_client_that_does_not_read_loses_its_connection() {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
            let address = listener.local_addr().expect("it listens");
            let mut deaf = TcpStream::connect(address).await.expect("it listens");
            let request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
            deaf.write_all(request).await.expect("there is room");
            let (stream, peer) = listener.accept().await.expect("it has connected");
            // More than the socket buffers hold for a client that does not read.
            let routes = Router::new().route("/", get(async || vec![0_u8; 64 << 20]));
            // WHY real time: the connection is closed however late the timeout fires; the outer limit only guards
            // against hanging.
            let opened = Arc::new(Connections::new(1)).open(peer.ip()).expect("it is the first");
            let served = serve_connection(stream, opened, routes, Duration::from_millis(50));
            timeout(Duration::from_secs(60), served).await.expect("it ends");
        });
    }
}
