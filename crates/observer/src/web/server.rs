//! The thread that serves the page.
//!
//! It has a tokio runtime of its own, of this one thread and one more for what takes long (sorting a million
//! rows), so it takes no time of the node's workers and none of the thread for their sockets. It ends when
//! [`Running`] is dropped, with every connection.
//!
//! Whoever can connect can be anybody, so all that they can make it keep is bounded: how many connections there
//! are, how long a request may take to arrive, how long an answer may wait to be taken, how large a request's head
//! and its body are, and how many follow live.

use std::io;
use std::net::{SocketAddr, TcpListener as Listening};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

use super::routes::routes;
use super::site::Site;
use super::warnings::lint;

/// How many connections there may be at a time. A browser opens six.
const CONNECTIONS: usize = 64;
/// How long the head of a request may take to arrive, and how long a connection may rest between two.
const HEAD: Duration = Duration::from_secs(15);
/// How long a client may take nothing of what is written to it.
const UNREAD: Duration = Duration::from_secs(30);
/// How large the head of a request may be, in bytes and in fields.
const HEAD_BYTES: usize = 16 << 10;
const FIELDS: usize = 64;
/// How long to wait when the operating system has no descriptor left.
const SHORTAGE: Duration = Duration::from_millis(100);
/// How long what takes long may take when the node ends.
const LAST_MOMENT: Duration = Duration::from_millis(500);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A page that is served for as long as this is kept.
pub(crate) struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Listens, and begins to serve.
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
            runtime.shutdown_timeout(LAST_MOMENT);
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
            // It has said on the standard error why it panicked, if it did.
            let _ = thread.join();
        }
    }
}

async fn serve(listening: Listening, site: Arc<Site>) {
    let listener = match TcpListener::from_std(listening) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the observer's page cannot be served"),
    };
    tokio::spawn({
        let site = Arc::clone(&site);
        async move { tokio::join!(site.linger(), lint(&site)) }
    });
    let (routes, room) = (routes(site), Arc::new(Semaphore::new(CONNECTIONS)));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(SHORTAGE).await;
            continue;
        };
        match Arc::clone(&room).try_acquire_owned() {
            Ok(permit) => {
                let routes = routes.clone();
                tokio::spawn(async move {
                    converse(stream, routes, UNREAD).await;
                    drop(permit);
                });
            }
            Err(_) => turn_away(stream).await,
        }
    }
}

/// Serves one connection to its end, which has come when the client takes nothing for so long.
async fn converse(stream: TcpStream, routes: Router, unread: Duration) {
    give_up_after(&stream, unread);
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD);
    server.max_buf_size(HEAD_BYTES).max_headers(FIELDS);
    let served = server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection to the observer's page ended");
    }
}

/// Has the operating system end the connection when the client takes nothing for so long. Where that cannot be set it
/// gives up in its own time.
fn give_up_after(stream: &TcpStream, time: Duration) {
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(time));
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, time);
}

/// Says that there is no room. What does not fit into the socket's buffer at once is not said.
async fn turn_away(mut stream: TcpStream) {
    let _ = timeout(Duration::from_millis(10), stream.write_all(FULL)).await;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Duration;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::runtime::Builder;
    use tokio::time::timeout;

    use super::converse;

    #[test]
    fn a_client_that_reads_nothing_loses_its_place() {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
            let address = listener.local_addr().expect("it listens");
            let mut deaf = TcpStream::connect(address).await.expect("it listens");
            let request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
            deaf.write_all(request).await.expect("there is room");
            let (stream, _) = listener.accept().await.expect("it has connected");
            // More than the operating system keeps for one who does not read.
            let routes = Router::new().route("/", get(async || vec![0_u8; 64 << 20]));
            // WHY real time: it loses its place however late that is noticed; the other is a guard against hanging.
            let served = converse(stream, routes, Duration::from_millis(50));
            timeout(Duration::from_secs(60), served).await.expect("it ends");
        });
    }
}
