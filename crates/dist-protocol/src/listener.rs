//! Listener for incoming connections over TCP or TLS, with one handshake for each.
//!
//! Handshakes run concurrently, each in a task, at most [`MAX_HANDSHAKES`]. Further connections wait
//! in the kernel's backlog. Each handshake ends within seven seconds, so an unauthenticated peer
//! that stays silent delays the others no longer than that. A failed handshake writes one line to
//! the log.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::warn;

use crate::connect::{HANDSHAKE_TIMEOUT, NoConnection, answer, prepare};
use crate::cookie::Cookie;
use crate::handshake::{Caller, Established, LocalNode, Verdict};
use crate::name::NodeName;
use crate::stream::{Stream, Transport};

/// Maximum number of concurrent handshakes.
const MAX_HANDSHAKES: usize = 128;

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
    handshakes: JoinSet<Option<Accepted>>,
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
        Self {
            socket,
            local,
            decide: Arc::new(decide),
            transport: Transport::Tcp,
            handshakes: JoinSet::new(),
        }
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
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok((socket, address))
    }

    /// Binds a listening socket on all addresses of this machine, IPv6 included, and any free port.
    ///
    /// # Errors
    /// No port is free, or the process has no file descriptors left.
    pub fn everywhere() -> io::Result<(TcpListener, SocketAddr)> {
        let both = Socket::new(Domain::IPV6, Type::STREAM, None).and_then(|socket| {
            // WHY: otherwise the system's configuration decides whether IPv4 is included.
            socket.set_only_v6(false)?;
            socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)).into())?;
            socket.listen(BACKLOG)?;
            Ok(socket.into())
        });
        let socket = match both {
            Ok(socket) => socket,
            // This machine has IPv4 only.
            Err(_) => std::net::TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?,
        };
        socket.set_nonblocking(true)?;
        let socket = TcpListener::from_std(socket)?;
        let address = socket.local_addr()?;
        Ok((socket, address))
    }

    /// Returns the outcome of the next incoming connection that was not refused. Connections are accepted only while
    /// this future is polled.
    ///
    /// *Cancellation*: no connection is lost.
    pub async fn next(&mut self) -> Accepted {
        loop {
            tokio::select! {
                Some(done) = self.handshakes.join_next() => {
                    if let Ok(Some(came)) = done {
                        return came;
                    }
                }
                came = self.socket.accept(), if self.handshakes.len() < MAX_HANDSHAKES => match came {
                    Ok((stream, from)) => {
                        let (local, decide) = (self.local.clone(), Arc::clone(&self.decide));
                        let transport = self.transport.clone();
                        self.handshakes.spawn(one(stream, transport, from, local, decide));
                    }
                    Err(error) => {
                        warn!("cannot accept a connection: {error}");
                        sleep(ACCEPT_RETRY).await;
                    }
                },
            }
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("socket", &self.socket).finish_non_exhaustive()
    }
}

async fn one(
    socket: TcpStream,
    transport: Transport,
    from: SocketAddr,
    local: LocalNode,
    decide: Arc<Decide>,
) -> Option<Accepted> {
    let mut welcome = None;
    let answered = async {
        prepare(&socket)?;
        let (mut stream, lengths) = transport.answer(socket).await?;
        let decide = |caller: &Caller| {
            let (verdict, cookie) = decide(caller);
            let refused = matches!(verdict, Verdict::Nok | Verdict::NotAllowed);
            welcome = (!refused).then(|| caller.name.clone());
            (verdict, cookie)
        };
        let established = answer(&mut stream, lengths, local, decide).await?;
        Ok((stream, established))
    };
    match timeout(HANDSHAKE_TIMEOUT, answered).await.unwrap_or(Err(NoConnection::Slow)) {
        Ok((stream, established)) => return Some(Accepted::Up(stream, established)),
        Err(NoConnection::Refused(refused)) => {
            warn!(%from, "a handshake was refused: {refused}");
        }
        Err(error) => {
            warn!(%from, "a handshake came to nothing: {error}");
        }
    }
    welcome.map(Accepted::Failed)
}
