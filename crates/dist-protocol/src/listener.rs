//! Listener for incoming connections over TCP or TLS, with one handshake for each.
//!
//! Handshakes run concurrently, each in a task, and end within seven seconds. Their number is bounded; silent ones give
//! way to new ones (`handshakes.rs`). A failed handshake writes one line to the log, up to [`MAX_LINES`] per second.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs, lookup_host};
use tokio::time::{sleep, timeout};
use tracing::warn;

use crate::connect::{HANDSHAKE_TIMEOUT, NoConnection, answer, prepare};
use crate::cookie::Cookie;
use crate::handshake::{Caller, Established, LocalNode, Verdict};
use crate::handshakes::Handshakes;
use crate::log_limit::LogLimit;
use crate::name::NodeName;
use crate::stream::{Stream, Transport};

/// Maximum number of log lines per second about failed handshakes.
const MAX_LINES: u32 = 10;

/// Backlog of the listening socket.
const BACKLOG: i32 = 1024;

/// Pause after a failed `accept`, which happens when the process has no file descriptors left.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Decides the status sent to a caller and the cookie it has to prove.
type Decide = dyn Fn(&Caller) -> (Verdict, Cookie) + Send + Sync;

/// Outcome of an incoming connection.
#[derive(Debug)]
pub enum Accepted {
    /// The peer has proven knowledge of the cookie; the connection is established.
    Up(Stream, Established),
    /// The handshake with this node failed after a status other than a refusal.
    Failed(NodeName),
}

/// Accepts connections of other nodes. Dropping it cancels the handshakes in progress.
pub struct Listener {
    socket: TcpListener,
    local: LocalNode,
    decide: Arc<Decide>,
    transport: Transport,
    handshakes: Handshakes<Option<Accepted>>,
    log: Arc<Mutex<LogLimit>>,
}

impl Listener {
    /// Creates a listener. `local` needs the name and the creation before the first caller, and epmd assigns the
    /// creation only after it knows the port, so the socket comes first ([`Listener::bind`]).
    #[must_use]
    pub fn new(
        socket: TcpListener,
        local: LocalNode,
        decide: impl Fn(&Caller) -> (Verdict, Cookie) + Send + Sync + 'static,
    ) -> Self {
        let (decide, transport) = (Arc::new(decide), Transport::Tcp);
        let log = Arc::new(Mutex::new(LogLimit::new(MAX_LINES)));
        Self { socket, local, decide, transport, handshakes: Handshakes::new(), log }
    }

    /// Sets the transport of all callers. Default: TCP.
    #[must_use]
    pub fn over(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// Binds a listening socket and returns it with its address. Port 0 selects any free port.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<(TcpListener, SocketAddr)> {
        let mut failed = io::ErrorKind::InvalidInput.into();
        for address in lookup_host(address).await? {
            match listen(address) {
                Err(error) => failed = error,
                listening => return listening,
            }
        }
        Err(failed)
    }

    /// Binds a listening socket on all addresses of this machine, IPv6 included, and this port or, for 0, any free one.
    ///
    /// # Errors
    /// No port is free, or the process has no file descriptors left.
    pub fn everywhere(port: u16) -> io::Result<(TcpListener, SocketAddr)> {
        // The second one is for machines with IPv4 only.
        listen((Ipv6Addr::UNSPECIFIED, port).into())
            .or_else(|_| listen((Ipv4Addr::UNSPECIFIED, port).into()))
    }

    /// Returns the outcome of the next incoming connection that was not refused. Connections are accepted only while
    /// this future is polled.
    ///
    /// *Cancellation*: no connection is lost.
    pub async fn next(&mut self) -> Accepted {
        loop {
            tokio::select! {
                ended = self.handshakes.next() => match ended {
                    Ok(Some(accepted)) => return accepted,
                    Err(Some(caller)) => return Accepted::Failed(caller),
                    Ok(None) | Err(None) => {}
                },
                came = self.socket.accept(), if self.handshakes.has_place() => match came {
                    Ok((socket, from)) => self.start(socket, from),
                    Err(error) => {
                        warn!("cannot accept a connection: {error}");
                        sleep(ACCEPT_RETRY).await;
                    }
                },
            }
        }
    }

    fn start(&mut self, socket: TcpStream, from: SocketAddr) {
        let (local, decide) = (self.local.clone(), Arc::clone(&self.decide));
        let (transport, log) = (self.transport.clone(), Arc::clone(&self.log));
        let dropped = self.handshakes.start(from.ip(), move |welcome| {
            one(socket, transport, from, local, decide, welcome, log)
        });
        if dropped && let Some(handshakes) = count(&self.log) {
            warn!(%from, handshakes, "too many handshakes: the oldest was dropped for a new one");
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        // WHY: otherwise the system's configuration decides whether IPv4 is included.
        socket.set_only_v6(false)?;
    }
    // As `std` does: a restarted node can bind its port at once.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let socket = TcpListener::from_std(socket.into())?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}

/// Counts a failed handshake. If it may be logged, returns the number since the last line.
fn count(log: &Mutex<LogLimit>) -> Option<u64> {
    log.lock().unwrap_or_else(PoisonError::into_inner).count()
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// Performs a handshake. Sets `welcome` to the name of a peer that is not refused.
async fn one(
    socket: TcpStream,
    transport: Transport,
    from: SocketAddr,
    local: LocalNode,
    decide: Arc<Decide>,
    welcome: Arc<OnceLock<NodeName>>,
    log: Arc<Mutex<LogLimit>>,
) -> Option<Accepted> {
    let answered = async {
        prepare(&socket)?;
        let (mut stream, lengths) = transport.answer(socket).await?;
        let decide = |caller: &Caller| {
            let (verdict, cookie) = decide(caller);
            if !matches!(verdict, Verdict::Nok | Verdict::NotAllowed) {
                welcome.get_or_init(|| caller.name.clone());
            }
            (verdict, cookie)
        };
        let established = answer(&mut stream, lengths, local, decide).await?;
        Ok((stream, established))
    };
    let error = match timeout(HANDSHAKE_TIMEOUT, answered).await {
        Ok(Ok((stream, established))) => return Some(Accepted::Up(stream, established)),
        Ok(Err(error)) => error,
        Err(_) => NoConnection::Slow,
    };
    if let Some(handshakes) = count(&log) {
        match error {
            NoConnection::Refused(refused) => {
                warn!(%from, handshakes, "a handshake was refused: {refused}");
            }
            error => warn!(%from, handshakes, "a handshake came to nothing: {error}"),
        }
    }
    welcome.get().cloned().map(Accepted::Failed)
}
