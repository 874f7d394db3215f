//! Server: its settings, and the acceptor process.
//!
//! The acceptor traps exits and is linked to the process of each connection, so that the end of the
//! acceptor ends them. A permit of a semaphore belongs to each connection; a WebSocket keeps that of
//! the HTTP connection it was made of. All permits are free when no connection is left.

use std::collections::HashSet;
use std::io;
use std::net::{SocketAddr, TcpListener as Listening};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use purlin::supervisor::{ChildSpec, InitAck, Shutdown};
use purlin::{Exit, ExitReason, Pid, Process, ProcessId, exit_process};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::sleep;

use crate::connection::{Connection, serve_connection};

/// Default limit of connections.
const MAX_CONNECTIONS: usize = 10_000;
/// Default time limit of draining.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after the time limit of draining at which connections are killed.
const KILL_AFTER: Duration = Duration::from_secs(1);
/// Time the supervisor gives the server beyond the time limit of draining.
const MARGIN: Duration = Duration::from_secs(5);
/// Pause after a failed `accept`, such as when the program is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// HTTP server of an axum application, to be run under a supervisor.
///
/// A request's head and the idle time between two requests may take 60 seconds. The time of bodies and
/// handlers is not limited; tower's timeout layers do that.
#[derive(Clone, Debug)]
#[must_use = "a server serves nothing until its child spec is started"]
pub struct Server {
    address: SocketAddr,
    /// The socket of [`Server::bind`], for the first start.
    listening: Arc<Mutex<Option<Listening>>>,
    app: Router,
    max_connections: usize,
    drain_timeout: Duration,
}

/// Message of a server's process; has no public content.
pub struct ServerMail(pub(crate) Mail);

pub(crate) enum Mail {
    Exit(Exit),
    /// Spawns the process of a WebSocket.
    Upgraded(Box<SpawnFn>),
}

type SpawnFn = dyn FnOnce(&Process<ServerMail>) -> Option<ProcessId> + Send;

impl From<Exit> for ServerMail {
    fn from(exit: Exit) -> Self {
        Self(Mail::Exit(exit))
    }
}

impl std::fmt::Debug for ServerMail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerMail").finish_non_exhaustive()
    }
}

impl Server {
    /// Binds an address; port 0 chooses a free port. Clients can connect from now on and are served
    /// when the server has been started.
    ///
    /// # Errors
    /// Returns an error with the address if it is in use or not of this machine.
    pub fn bind(address: impl Into<SocketAddr>, app: Router) -> io::Result<Self> {
        let listening = listen(address.into())?;
        Ok(Self {
            address: listening.local_addr()?,
            listening: Arc::new(Mutex::new(Some(listening))),
            app,
            max_connections: MAX_CONNECTIONS,
            drain_timeout: DRAIN_TIMEOUT,
        })
    }

    /// Returns the address at which the server listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Sets the largest number of open connections, WebSockets included; the default is 10,000.
    /// At the limit the server accepts no connection until one has ended. Values outside of 1 to
    /// 1,000,000 are changed to the nearest of these.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, 1_000_000);
        self
    }

    /// Sets how long a connection may take to end when the server stops; the default is 10 seconds.
    /// A process that has not ended one second later, for example because it awaits something else
    /// than its [`Socket`](crate::Socket), is killed.
    pub fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.drain_timeout = timeout;
        self
    }

    /// Returns the child spec of the server. The supervisor waits for its stop until the time limit
    /// of draining is exceeded by 5 seconds. A restarted server binds the same address.
    pub fn child_spec(&self, id: &str) -> ChildSpec<Pid<ServerMail>> {
        let server = self.clone();
        let shutdown = Shutdown::Timeout(self.drain_timeout.saturating_add(MARGIN));
        ChildSpec::worker_with_ack(id, move |me, ack| server.run(me, ack)).shutdown(shutdown)
    }

    /// Process function of the acceptor.
    async fn run(self, mut me: Process<ServerMail>, ack: InitAck) -> io::Result<ExitReason> {
        me.trap_exit(true);
        let bound = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        let listening = bound.map_or_else(|| listen(self.address), Ok)?;
        let listener = TcpListener::from_std(listening)?;
        ack.ok();
        let permits = Arc::new(Semaphore::new(self.max_connections));
        let (draining, _) = watch::channel(false);
        let mut connections = HashSet::new();
        let reason = loop {
            tokio::select! {
                mail = me.receive() => {
                    if let Some(reason) = handle(mail, &me, &mut connections) {
                        break reason;
                    }
                }
                (stream, peer, permit) = accept(&listener, &permits) => {
                    let connection = Connection {
                        server: me.pid(),
                        peer,
                        _permit: Arc::new(permit),
                        draining: draining.subscribe(),
                        drain_timeout: self.drain_timeout,
                    };
                    let app = self.app.clone();
                    let serve = move |_: Process<()>| serve_connection(stream, app, connection);
                    connections.insert(me.spawn_link(serve).id());
                }
            }
        };
        drop(listener);
        draining.send_replace(true);
        let all = u32::try_from(self.max_connections).expect("at most a million");
        let mut ended = pin!(permits.acquire_many(all));
        let mut overdue = pin!(sleep(self.drain_timeout.saturating_add(KILL_AFTER)));
        loop {
            tokio::select! {
                _ = &mut ended => return Ok(reason),
                mail = me.receive() => { handle(mail, &me, &mut connections); }
                () = &mut overdue, if !overdue.is_elapsed() => {
                    let left = connections.len();
                    tracing::warn!(left, "connections are killed: they did not end when the server stopped");
                    for connection in &connections {
                        exit_process(*connection, ExitReason::Kill);
                    }
                }
            }
        }
    }
}

/// Handles a message. Returns the reason of an exit signal that is not a connection's.
fn handle(
    ServerMail(mail): ServerMail,
    me: &Process<ServerMail>,
    connections: &mut HashSet<ProcessId>,
) -> Option<ExitReason> {
    match mail {
        Mail::Upgraded(spawn) => {
            connections.extend(spawn(me));
            None
        }
        Mail::Exit(exit) => {
            let ended = exit.from.is_some_and(|from| connections.remove(&from));
            (!ended).then_some(exit.reason)
        }
    }
}

/// Waits for a permit and then for a connection.
///
/// *Cancellation*: loses no connection.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    let permit = Arc::clone(permits).acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<Listening> {
    let listening = Listening::bind(address).map_err(|error| {
        io::Error::new(error.kind(), format!("the web server cannot listen at {address}: {error}"))
    })?;
    listening.set_nonblocking(true)?;
    Ok(listening)
}
