//! epmd server, for machines without one.
//!
//! BEAM nodes register and look up nodes with it as with OTP's epmd. A name is registered for as
//! long as the connection that registered it is open. Only nodes on this machine may register; any
//! host may query. `KILL_REQ`, `STOP_REQ` and `DUMP_REQ` are not supported: the server closes the
//! connection.
//!
//! Limits for peers, which are not authenticated: [`TIMEOUT`] for each to send its request, 2048 bytes per request
//! ([`MOST_REQUEST`](crate::epmd::codec::MOST_REQUEST)), and the number of connections without a request, of which the
//! oldest gives way to a new one (`handshakes.rs`). [`MAX_NODES`] nodes can be registered.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use crate::epmd::client::TIMEOUT;
use crate::epmd::codec::{Alive, Request, write_alive, write_names, write_port};
use crate::handshakes::Handshakes;
use crate::listener::Listener;
use crate::log_limit::LogLimit;

/// Maximum number of registered nodes.
const MAX_NODES: usize = 1024;

/// Pause after a failed `accept`, such as for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// An epmd that runs until dropped. Dropping it closes all connections.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// use purlin_dist_protocol::epmd::{PORT, Server};
///
/// // An epmd may be running already, which is sufficient.
/// let epmd = Server::start(("127.0.0.1", PORT)).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    task: AbortHandle,
}

impl Server {
    /// Starts a server. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be bound, usually because an epmd is running.
    pub async fn start(address: impl ToSocketAddrs) -> io::Result<Self> {
        let (socket, address) = Listener::bind(address).await?;
        let names = Names::new(getrandom::u32().unwrap_or_default());
        let task = tokio::spawn(serve(socket, Arc::new(Mutex::new(names)))).abort_handle();
        Ok(Self { address, task })
    }

    /// Returns the address that the server listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Table of registered nodes.
#[derive(Debug)]
struct Names {
    /// The nodes by the part of their name before the `@`.
    known: BTreeMap<String, Alive>,
    /// The creation given last. It starts at random, so that a restarted server is unlikely to
    /// repeat one.
    creation: u32,
}

/// Lowest creation given to a node. WHY not lower: 0 to 3 are the creations of old nodes, which had
/// two bits.
const FIRST_CREATION: u32 = 4;

impl Names {
    fn new(creation: u32) -> Self {
        Self { known: BTreeMap::new(), creation }
    }

    /// Registers a node. Returns its creation, or `None` if the name is taken.
    fn register(&mut self, node: Alive) -> Option<u32> {
        if self.known.contains_key(&node.alive) {
            return None;
        }
        self.creation = self.creation.wrapping_add(1).max(FIRST_CREATION);
        self.known.insert(node.alive.clone(), node);
        Some(self.creation)
    }
}

type Shared = Arc<Mutex<Names>>;

fn lock(names: &Shared) -> MutexGuard<'_, Names> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts connections, each handled by a task that ends with this function.
async fn serve(socket: TcpListener, names: Shared) {
    let own_port = socket.local_addr().map_or(0, |address| address.port());
    let (mut requests, mut registered) = (Handshakes::new(), JoinSet::new());
    let mut strangers = LogLimit::new(1);
    loop {
        tokio::select! {
            Some(_) = registered.join_next() => {}
            ended = requests.next() => match ended {
                Ok(Some((stream, node))) if !is_here(&stream) => {
                    drop(stream);
                    if let Some(times) = strangers.count() {
                        let Alive { alive, .. } = node;
                        warn!(alive, times, "a node of another machine wants to register with epmd");
                    }
                }
                Ok(Some((stream, node))) if registered.len() < MAX_NODES => {
                    registered.spawn(register(stream, node, Arc::clone(&names)));
                }
                _ => {}
            },
            came = socket.accept(), if requests.has_place() => match came {
                Ok((stream, from)) => {
                    let names = Arc::clone(&names);
                    requests.start(from.ip(), move |_| request(stream, own_port, names));
                }
                Err(error) => {
                    warn!("epmd cannot accept a connection: {error}");
                    sleep(PAUSE).await;
                }
            },
        }
    }
}

/// Reads the request of a connection, and answers a query. Returns the connection of a node that registers.
async fn request(
    mut stream: TcpStream,
    own_port: u16,
    names: Shared,
) -> Option<(TcpStream, Alive)> {
    let request = timeout(TIMEOUT, read(&mut stream)).await.ok()??;
    let mut out = Vec::new();
    match request {
        Request::Alive(node) => return Some((stream, node)),
        Request::PortPlease(alive) => write_port(lock(&names).known.get(&alive), &mut out),
        Request::Names => write_names(own_port, lock(&names).known.values(), &mut out),
    }
    finish(stream, &out).await;
    None
}

/// Registers a node until it closes the connection, without a timeout.
async fn register(mut stream: TcpStream, node: Alive, names: Shared) {
    let alive = node.alive.clone();
    let creation = lock(&names).register(node);
    let mut out = Vec::new();
    write_alive(creation, &mut out);
    if creation.is_none() {
        return finish(stream, &out).await;
    }
    info!(alive, "registered");
    let _kept = Kept { names, alive };
    if stream.write_all(&out).await.is_ok() {
        let mut byte = [0];
        while stream.read(&mut byte).await.is_ok_and(|count| count > 0) {}
    }
}

/// Guard of a registration: removes it when dropped.
struct Kept {
    names: Shared,
    alive: String,
}

impl Drop for Kept {
    fn drop(&mut self) {
        lock(&self.names).known.remove(&self.alive);
    }
}

/// Reads the request. Returns `None` if it is invalid, or if the connection ends before it is
/// complete.
async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        match Request::read(&bytes) {
            Ok(Some((request, _))) => return Some(request),
            Ok(None) => {}
            Err(_) => return None,
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Sends the answer and closes the connection. WHY close: in the epmd protocol the end of the
/// connection is the end of the answer.
async fn finish(mut stream: TcpStream, out: &[u8]) {
    let written = async {
        stream.write_all(out).await?;
        stream.shutdown().await
    };
    // WHY errors are ignored: the client has gone or is too slow.
    let _ = timeout(TIMEOUT, written).await;
}

/// Returns whether the peer is on this machine: it connected from a loopback address, or from the
/// address it connected to.
fn is_here(stream: &TcpStream) -> bool {
    let (Ok(from), Ok(own)) = (stream.peer_addr(), stream.local_addr()) else { return false };
    from.ip().to_canonical().is_loopback() || own.ip() == from.ip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epmd::Kind;

    fn node(alive: &str) -> Alive {
        Alive { alive: alive.to_owned(), port: 1, kind: Kind::Normal }
    }

    #[test]
    fn creations_are_distinct_and_never_those_of_old_nodes() {
        let mut names = Names::new(u32::MAX - 1);
        let first = names.register(node("a"));
        assert_eq!((first, names.register(node("a"))), (Some(u32::MAX), None));
        names.known.remove("a");
        assert_eq!(names.register(node("a")), Some(FIRST_CREATION));
    }
}
