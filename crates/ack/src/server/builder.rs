//! Server configuration and start.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use purlin::Node;
use purlin::supervisor::{self, ChildSpec, ChildTemplate, Shutdown, SupervisorSpec};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::Mutex;

use super::acceptor::{Acceptors, acceptor};
use super::connection::connection;
use super::handle::{Door, Listening, Server};
use super::permits::Permits;
use crate::connection::budget::Budget;
use crate::connection::counters::Counters;
use crate::connection::limits::Limits;
use crate::connection::sessions::Sessions;
use crate::connection::shared::Shared;
use crate::handler::{Count, Handler};
use crate::strategy::Strategy;
use crate::tls::server::Tls;
use crate::wire::session::Level;

/// Length of the accept queue; the kernel may cap it.
const BACKLOG: i32 = 4096;
/// Child id of the connection supervisor.
const CONNECTIONS: &str = "connections";

/// Configuration of a server: see [`Server::builder`].
#[derive(Clone)]
#[must_use]
pub struct Builder<F> {
    at: At,
    strategy: Strategy,
    level: Level,
    limits: Limits,
    tls: Option<Tls>,
    acceptors: usize,
    make: F,
}

/// Where to listen.
#[derive(Clone, Debug)]
enum At {
    Address(SocketAddr),
    Listener(Arc<TcpListener>),
}

/// Why a server was not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Listening on the address failed.
    Listen {
        /// The address.
        address: SocketAddr,
        /// Error of the operating system.
        error: io::Error,
    },
    /// The listener passed in cannot be used.
    Listener(io::Error),
    /// A process could not be started.
    Supervisor(supervisor::StartError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, error } if error.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "cannot listen on {address}: another program does, choose another port")
            }
            Self::Listen { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Listener(error) => {
                write!(f, "the listener that was handed over cannot be used: {error}")
            }
            Self::Supervisor(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen { error, .. } | Self::Listener(error) => Some(error),
            Self::Supervisor(error) => Some(error),
        }
    }
}

impl From<supervisor::StartError> for StartError {
    fn from(error: supervisor::StartError) -> Self {
        Self::Supervisor(error)
    }
}

impl Server {
    /// Returns a builder for a server that listens on `address`; port 0 picks a free port.
    pub fn builder(address: SocketAddr) -> Builder<fn(SocketAddr) -> Count> {
        Builder::new(At::Address(address))
    }

    /// Returns a builder for a server that takes over the socket of another: see
    /// [`Server::hand_over`].
    pub fn builder_on(listener: TcpListener) -> Builder<fn(SocketAddr) -> Count> {
        Builder::new(At::Listener(Arc::new(listener)))
    }
}

impl Builder<fn(SocketAddr) -> Count> {
    fn new(at: At) -> Self {
        Self {
            at,
            strategy: Strategy::Best,
            level: Level::Handled,
            limits: Limits::default(),
            tls: None,
            acceptors: 10,
            make: |_| Count,
        }
    }
}

impl<F> Builder<F> {
    /// Sets how the server reads and acknowledges. Defaults to [`Strategy::Best`].
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the acknowledgement level of `best` for clients without a session. Defaults to
    /// [`Level::Handled`]. The other strategies always acknowledge that a message was read.
    ///
    /// If the handler of a connection does not [offer](Handler::offers) this level, the connection
    /// is closed at its first message, with an error in the log, unless that opens a session.
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets the limits of the server.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Accepts TLS connections only. The handshake counts towards the timeout of the first message.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sets the number of acceptor processes, at least 1. Defaults to 10.
    pub fn acceptors(mut self, acceptors: usize) -> Self {
        self.acceptors = acceptors.max(1);
        self
    }

    /// Sets the handler factory: `make` is called for each connection with the address of the
    /// client. By default messages are [counted](Count) and discarded.
    pub fn handler<G, H>(self, make: G) -> Builder<G>
    where
        G: Fn(SocketAddr) -> H + Clone + Send + Sync + 'static,
        H: Handler,
    {
        let Self { at, strategy, level, limits, tls, acceptors, make: _ } = self;
        Builder { at, strategy, level, limits, tls, acceptors, make }
    }
}

impl<F, H> Builder<F>
where
    F: Fn(SocketAddr) -> H + Clone + Send + Sync + 'static,
    H: Handler,
{
    /// Listens, and starts the server's processes on a node, without a parent.
    ///
    /// # Errors
    /// Returns [`StartError`], usually because the address is in use.
    pub async fn start(self, node: &Node) -> Result<Server, StartError> {
        let Listening { tree, door } = self.listen()?;
        Ok(Server { supervisor: tree.start(node).await?, door })
    }

    /// Listens, and returns the server as a supervisor specification for the caller's own tree,
    /// such as an application's. Clients that connect before it is started wait in the accept
    /// queue.
    ///
    /// # Errors
    /// Returns [`StartError`], usually because the address is in use.
    pub fn listen(self) -> Result<Listening, StartError> {
        let Self { at, strategy, level, limits, tls, acceptors, make } = self;
        let listener = match at {
            At::Address(address) => {
                bind(address).map_err(|error| StartError::Listen { address, error })?
            }
            At::Listener(listener) => listener.try_clone().map_err(StartError::Listener)?,
        };
        let address = listener.local_addr().map_err(StartError::Listener)?;
        listener.set_nonblocking(true).map_err(StartError::Listener)?;
        // WHY a number: two servers may listen on the same address, one after the other.
        static SERVERS: AtomicU64 = AtomicU64::new(0);
        // ORDER: relaxed: only uniqueness matters.
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let counters = Arc::new(Counters::new(Budget::new(limits.buffer_bytes)));
        let all = Arc::new(Acceptors {
            listener,
            permits: Arc::new(Permits::new(&limits, Arc::clone(&counters))),
            counters: Arc::clone(&counters),
            makes_room: Mutex::default(),
            connections: format!("ack {strategy} connections {number}"),
        });
        let shared = Arc::new(Shared {
            idle_timeout: limits.idle_timeout.unwrap_or(strategy.idle_timeout()),
            level: if strategy == Strategy::Best { level } else { Level::Received },
            tls,
            sessions: Arc::new(Sessions::new(&limits, Arc::clone(&counters))),
            counters,
            limits,
        });
        let shutdown = Shutdown::Timeout(shared.limits.drain);
        let template = ChildTemplate::temporary("connection", move |me, newcomer| {
            connection(me, newcomer, strategy, shared, make)
        });
        let connections = SupervisorSpec::simple_one_for_one(template.shutdown(shutdown));
        let mut ids = Vec::with_capacity(acceptors);
        let mut tree = SupervisorSpec::rest_for_one()
            .intensity(acceptors)
            .child(ChildSpec::supervisor(CONNECTIONS, connections.name(&all.connections)));
        for number in 0..acceptors {
            let all = Arc::clone(&all);
            ids.push(format!("acceptor {number}"));
            tree = tree.child(ChildSpec::worker(&*ids[number], move |me| acceptor(me, all)));
        }
        Ok(Listening { tree, door: Door { address, acceptors: all, ids } })
    }
}

/// Binds and listens. WHY not the standard library: its backlog is 128, and ten thousand clients
/// may connect simultaneously.
fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

impl<F> fmt::Debug for Builder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("at", &self.at)
            .field("strategy", &self.strategy)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
