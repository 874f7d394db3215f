//! An epmd, for machines that have none.
//!
//! Nodes of the BEAM register in it and are found in it as in OTP's. A name is kept as long
//! as the connection over which it came; only nodes of this machine may register, anybody
//! may ask. What can end or change another node's name is not served.
//!
//! Strangers: at most [`MOST_CONNECTIONS`] at once, each with [`PATIENCE`] for its
//! question, which is at most two kilobytes.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use crate::epmd::client::PATIENCE;
use crate::epmd::codec::{Alive, Request, write_alive, write_names, write_port};

/// How many connections there may be, those of nodes included.
const MOST_CONNECTIONS: usize = 1024;

/// How long to wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// An epmd that runs until this is dropped.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// use purlin_dist::epmd::{PORT, Server};
///
/// // Another one may be there already, which does as well.
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
    /// Starts one; must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be had, which mostly means that an epmd is there.
    pub async fn start(address: impl ToSocketAddrs) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        let names = Names::new(getrandom::u32().unwrap_or_default());
        let task = tokio::spawn(serve(socket, Arc::new(Mutex::new(names)))).abort_handle();
        Ok(Self { address, task })
    }

    /// Where it listens.
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

/// The nodes that are there.
#[derive(Debug)]
struct Names {
    known: BTreeMap<String, Alive>,
    creation: u32,
}

/// Below it are those of nodes of old, which had two bits.
const FIRST_CREATION: u32 = 4;

impl Names {
    fn new(creation: u32) -> Self {
        Self { known: BTreeMap::new(), creation }
    }

    /// Keeps a node; says its creation, unless there is another of its name.
    fn keep(&mut self, node: Alive) -> Option<u32> {
        if self.known.contains_key(&node.alive) {
            return None;
        }
        self.creation = self.creation.wrapping_add(1).max(FIRST_CREATION);
        self.known.insert(node.alive.clone(), node);
        Some(self.creation)
    }

    fn forget(&mut self, alive: &str) {
        self.known.remove(alive);
    }
}

type Shared = Arc<Mutex<Names>>;

fn lock(names: &Shared) -> MutexGuard<'_, Names> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(socket: TcpListener, names: Shared) {
    let own_port = socket.local_addr().map_or(0, |address| address.port());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            came = socket.accept(), if connections.len() < MOST_CONNECTIONS => match came {
                Ok((stream, from)) => {
                    connections.spawn(one(stream, from.ip(), own_port, Arc::clone(&names)));
                }
                Err(error) => {
                    warn!("epmd cannot accept a connection: {error}");
                    sleep(PAUSE).await;
                }
            },
        }
    }
}

async fn one(mut stream: TcpStream, from: IpAddr, own_port: u16, names: Shared) {
    let Ok(Some(request)) = timeout(PATIENCE, read(&mut stream)).await else { return };
    let mut out = Vec::new();
    let node = match request {
        Request::Alive(node) => node,
        Request::PortPlease(alive) => {
            write_port(lock(&names).known.get(&alive), &mut out);
            return finish(stream, &out).await;
        }
        Request::Names => {
            write_names(own_port, lock(&names).known.values(), &mut out);
            return finish(stream, &out).await;
        }
    };
    if !is_here(from, &stream) {
        warn!(%from, "a node of another machine wants to register with epmd");
        return;
    }
    let alive = node.alive.clone();
    let creation = lock(&names).keep(node);
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

/// A name, as long as it is kept.
struct Kept {
    names: Shared,
    alive: String,
}

impl Drop for Kept {
    fn drop(&mut self) {
        lock(&self.names).forget(&self.alive);
    }
}

/// The request; `None` if there is none.
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

/// Writes the answer and closes the connection, which is its end.
async fn finish(mut stream: TcpStream, out: &[u8]) {
    let written = async {
        stream.write_all(out).await?;
        stream.shutdown().await
    };
    // WHY whatever comes of it: who asked is gone, or slow.
    let _ = timeout(PATIENCE, written).await;
}

/// Whether the other end of a connection is on this machine.
fn is_here(from: IpAddr, stream: &TcpStream) -> bool {
    from.is_loopback() || stream.local_addr().is_ok_and(|own| own.ip() == from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epmd::Kind;

    fn node(alive: &str) -> Alive {
        Alive { alive: alive.to_owned(), port: 1, kind: Kind::Normal }
    }

    #[test]
    fn each_node_has_a_creation_of_its_own_which_is_never_one_of_old() {
        let mut names = Names::new(u32::MAX - 1);
        let first = names.keep(node("a"));
        assert_eq!((first, names.keep(node("a"))), (Some(u32::MAX), None));
        names.forget("a");
        assert_eq!(names.keep(node("a")), Some(FIRST_CREATION));
    }
}
