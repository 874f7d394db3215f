//! Waits for nodes that call us over TCP, or TLS over it, and goes through the handshake with each.
//!
//! Handshakes run beside each other, each in a task, at most [`MOST_AT_ONCE`]; who comes
//! then waits in the kernel's queue. Each ends within seven seconds, so strangers who say
//! nothing hold up the others for no longer. A handshake that comes to nothing is a line
//! in the log.

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

use crate::connect::{Lengths, NoConnection, PATIENCE, answer, prepare};
use crate::cookie::Cookie;
use crate::handshake::{Called, Caller, Established, Local, Verdict};
use crate::name::NodeName;
use crate::stream::Stream;
use crate::tls::Tls;

/// How many handshakes there may be at once.
const MOST_AT_ONCE: usize = 128;

/// How many connections wait in the kernel's queue.
const QUEUE: i32 = 1024;

/// How long to wait when no connection can be accepted, which is when the program has no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// Says what becomes of a caller, and which cookie it has to know.
type Decide = dyn Fn(&Caller) -> (Verdict, Cookie) + Send + Sync;

/// What became of a call.
#[derive(Debug)]
pub enum Came {
    /// The node knows the cookie, and is connected.
    Up(Stream, Established),
    /// With the node of that name, which was not refused, the handshake came to nothing.
    Failed(NodeName),
}

/// Waits for nodes that call us. Dropped, it gives up the handshakes that are under way.
pub struct Listener {
    socket: TcpListener,
    local: Local,
    decide: Arc<Decide>,
    tls: Option<Tls>,
    handshakes: JoinSet<Option<Came>>,
}

impl Listener {
    /// Listens. The name and the creation in `local` are needed before anybody calls, and epmd says the creation
    /// only when it knows the port: so the socket comes first ([`Listener::bind`]).
    #[must_use]
    pub fn new(
        socket: TcpListener,
        local: Local,
        decide: impl Fn(&Caller) -> (Verdict, Cookie) + Send + Sync + 'static,
    ) -> Self {
        Self { socket, local, decide: Arc::new(decide), tls: None, handshakes: JoinSet::new() }
    }

    /// Lets in only who speaks TLS.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(self, tls: Tls) -> Self {
        self.over(Some(tls))
    }

    /// Over TLS, if there is some.
    pub(crate) fn over(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }

    /// A socket to listen on, and its address. Port 0 is any that is free.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<(TcpListener, SocketAddr)> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok((socket, address))
    }

    /// A socket on all addresses of this machine, and any port that is free.
    pub(crate) fn everywhere() -> io::Result<(TcpListener, SocketAddr)> {
        let both = Socket::new(Domain::IPV6, Type::STREAM, None).and_then(|socket| {
            // WHY: otherwise it depends on the system whether those for IPv4 are among them.
            socket.set_only_v6(false)?;
            socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)).into())?;
            socket.listen(QUEUE)?;
            Ok(socket.into())
        });
        let socket = match both {
            Ok(socket) => socket,
            // This machine knows IPv4 only.
            Err(_) => std::net::TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?,
        };
        socket.set_nonblocking(true)?;
        let socket = TcpListener::from_std(socket)?;
        let address = socket.local_addr()?;
        Ok((socket, address))
    }

    /// What became of the next call that was not refused. Connections are accepted only while somebody waits here.
    /// Cancelled, it loses nobody.
    pub async fn next(&mut self) -> Came {
        loop {
            tokio::select! {
                Some(done) = self.handshakes.join_next() => {
                    if let Ok(Some(came)) = done {
                        return came;
                    }
                }
                came = self.socket.accept(), if self.handshakes.len() < MOST_AT_ONCE => match came {
                    Ok((stream, from)) => {
                        let (local, decide) = (self.local.clone(), Arc::clone(&self.decide));
                        let tls = self.tls.clone();
                        self.handshakes.spawn(one(stream, tls, from, local, decide));
                    }
                    Err(error) => {
                        warn!("cannot accept a connection: {error}");
                        sleep(PAUSE).await;
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
    tls: Option<Tls>,
    from: SocketAddr,
    local: Local,
    decide: Arc<Decide>,
) -> Option<Came> {
    let mut welcome = None;
    let answered = async {
        prepare(&socket)?;
        let (mut stream, lengths): (Stream, _) = match tls {
            None => (Box::new(socket), Lengths::Two),
            Some(tls) => (tls.answer(socket).await?, Lengths::Four),
        };
        let decide = |caller: &Caller| {
            let (verdict, cookie) = decide(caller);
            let refused = matches!(verdict, Verdict::Nok | Verdict::NotAllowed);
            if let (Called::Name(name), false) = (&caller.called, refused) {
                welcome = Some(name.clone());
            }
            (verdict, cookie)
        };
        let established = answer(&mut stream, lengths, local, decide).await?;
        Ok((stream, established))
    };
    match timeout(PATIENCE, answered).await.unwrap_or(Err(NoConnection::Slow)) {
        Ok((stream, established)) => return Some(Came::Up(stream, established)),
        Err(NoConnection::Refused(refused)) => {
            warn!(%from, "a handshake was refused: {refused}");
        }
        Err(error) => {
            warn!(%from, "a handshake came to nothing: {error}");
        }
    }
    welcome.map(Came::Failed)
}
