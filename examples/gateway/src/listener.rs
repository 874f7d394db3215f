//! Listener: the acceptor, and the supervisor of the connections.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use purlin::supervisor::{
    ChildSpec, ChildTemplate, DynamicSupervisorRef, DynamicSupervisorSpec, Shutdown, SupervisorSpec,
};
use purlin::{Overflow, Pid, Process, SpawnOptions};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;

use crate::connection::{Mail, Shared, connection};

/// Name of the supervisor of the connections.
const CONNECTIONS: &str = "connections";
/// Bound of a connection's mailbox: the socket, and the changes of the store that wait for a slow client.
const BOUND: usize = 16;
/// Bytes that the kernel keeps for a client that does not read, and from one that is not read from. WHY set: the kernel
/// would let each grow to megabytes.
const BUFFER: u32 = 64 << 10;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// Pause after a failed `accept`, such as when the program is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

type Connections = DynamicSupervisorRef<(), Pid<Mail>>;

/// A port that is bound. Clients can connect from now on.
#[derive(Clone)]
pub(crate) struct Port {
    address: SocketAddr,
    /// The socket, for the first start of the acceptor.
    listener: Arc<Mutex<Option<TcpListener>>>,
}

impl Port {
    /// Binds an address; port 0 chooses a free port.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = listen(address)?;
        let address = listener.local_addr()?;
        Ok(Self { address, listener: Arc::new(Mutex::new(Some(listener))) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the child spec of the acceptor, which closes the socket when it ends.
    pub(crate) fn acceptor(&self) -> ChildSpec<Pid<()>> {
        let port = self.clone();
        ChildSpec::worker("acceptor", move |me| port.accept(me))
    }

    /// Process function of the acceptor.
    async fn accept(self, _me: Process<()>) -> Result<(), Failure> {
        let first = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let listener = first.map_or_else(|| listen(self.address), Ok)?;
        let connections = Connections::whereis(CONNECTIONS)?;
        loop {
            match listener.accept().await {
                Ok((socket, _peer)) => start(&connections, socket).await,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// Starts the process of a client, and gives it the socket.
async fn start(connections: &Connections, mut socket: TcpStream) {
    // A reply must not wait for the acknowledgement of the one before it.
    let _ = socket.set_nodelay(true);
    match connections.start_child(()).await {
        // It may have been stopped already.
        Ok(connection) => drop(connection.try_send(Mail::Socket(socket))),
        // This does not wait for the client: the kernel's buffer of a new socket is empty.
        Err(_) => drop(socket.write_all(b"BYE too many clients: try again later\n").await),
    }
}

/// Returns the supervisor of the connections, of which there are at most `most`. Each has this time to end.
pub(crate) fn connections(
    shared: Arc<Shared>,
    most: usize,
    time: Duration,
) -> DynamicSupervisorSpec<(), Pid<Mail>> {
    let template = ChildTemplate::temporary("connection", move |me, ()| connection(me, shared))
        .options(SpawnOptions::new().bound(BOUND, Overflow::Reject))
        .shutdown(Shutdown::Timeout(time));
    SupervisorSpec::simple_one_for_one(template).name(CONNECTIONS).max_children(most)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listen = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        socket.set_reuseaddr(true)?;
        // Accepted sockets inherit the sizes.
        socket.set_send_buffer_size(BUFFER)?;
        socket.set_recv_buffer_size(BUFFER)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"))
    })
}

/// Error of the acceptor.
type Failure = Box<dyn std::error::Error + Send + Sync>;
