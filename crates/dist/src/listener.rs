//! Waits for nodes that call us over TCP, and goes through the handshake with each.
//!
//! Handshakes run beside each other, each in a task, at most [`MOST_AT_ONCE`]; who comes
//! then waits in the kernel's queue. Each ends within seven seconds, so strangers who say
//! nothing hold up the others for no longer. A handshake that comes to nothing is a line
//! in the log.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tracing::warn;

use crate::connect::{Lengths, NoConnection, answer, prepare};
use crate::cookie::Cookie;
use crate::handshake::{Called, Caller, Established, Local, Verdict};
use crate::name::NodeName;

/// How many handshakes there may be at once.
const MOST_AT_ONCE: usize = 128;

/// How long to wait when no connection can be accepted, which is when the program has no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// Says what becomes of a caller, and which cookie it has to know.
type Decide = dyn Fn(&Caller) -> (Verdict, Cookie) + Send + Sync;

/// What became of a call.
#[derive(Debug)]
pub enum Came {
    /// The node knows the cookie, and is connected.
    Up(TcpStream, Established),
    /// With the node of that name, which was not refused, the handshake came to nothing.
    Failed(NodeName),
}

/// Waits for nodes that call us. Dropped, it gives up the handshakes that are under way.
pub struct Listener {
    socket: TcpListener,
    local: Local,
    decide: Arc<Decide>,
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
        Self { socket, local, decide: Arc::new(decide), handshakes: JoinSet::new() }
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
                        self.handshakes.spawn(one(stream, from, local, decide));
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
    mut stream: TcpStream,
    from: SocketAddr,
    local: Local,
    decide: Arc<Decide>,
) -> Option<Came> {
    let mut welcome = None;
    let answered = async {
        prepare(&stream)?;
        let decide = |caller: &Caller| {
            let (verdict, cookie) = decide(caller);
            let refused = matches!(verdict, Verdict::Nok | Verdict::NotAllowed);
            if let (Called::Name(name), false) = (&caller.called, refused) {
                welcome = Some(name.clone());
            }
            (verdict, cookie)
        };
        answer(&mut stream, Lengths::Two, local, decide).await
    };
    match answered.await {
        Ok(established) => return Some(Came::Up(stream, established)),
        Err(NoConnection::Refused(refused)) => {
            warn!(%from, "a handshake was refused: {refused}");
        }
        Err(error) => {
            warn!(%from, "a handshake came to nothing: {error}");
        }
    }
    welcome.map(Came::Failed)
}
