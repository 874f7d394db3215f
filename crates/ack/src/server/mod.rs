//! Servers: a socket that is listened on, a process for each connection, and the
//! supervisors above them.
//!
//! ```text
//! supervisor, rest for one
//! ├─ connections   supervisor, simple one for one
//! │   └─ connection …        reads, handles, acknowledges; helpers of its own, linked
//! └─ acceptor 0, 1, …        accept, and have connections started
//! ```
//!
//! They stop in the reverse order: first nobody is let in any more, then each
//! connection answers what it has read and closes.
//!
//! | module | role |
//! |---|---|
//! | `builder` | settings, and starting |
//! | `acceptor` | the processes that let clients in |
//! | `permits`, `limits` | how many of them |
//! | `connection` | the process of one connection |
//! | `reader`, `pace`, `socket`, `waiting` | how it reads and waits |
//! | `ending` | why it ends |
//! | `sessions` | whose session is where |
//! | `counts`, `latency` | what has been done so far, and how long acks took |
//!
//! How a connection reads and acknowledges is its [strategy](crate::strategy); what
//! becomes of the messages is its [handler](crate::handler)'s.

mod acceptor;
mod builder;
mod connection;
pub(crate) mod counts;
pub(crate) mod ending;
mod latency;
mod limits;
mod pace;
mod permits;
pub(crate) mod reader;
pub(crate) mod sessions;
pub(crate) mod shared;
mod shortage;
pub(crate) mod socket;
pub(crate) mod waiting;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use purlin::ExitReason;
use purlin::supervisor::{SupervisorRef, SupervisorSpec};

pub use self::builder::{Builder, StartError};
pub use self::counts::{Counts, Watch};
pub use self::latency::Latency;
pub use self::limits::Limits;
use self::shared::Shared;
use crate::handler::Count;
#[cfg(feature = "tls")]
pub use crate::tls::{PemError, server::Tls};

/// A server that runs. Dropping this value does not stop it; [`Server::drain`] does, and the end of its
/// node.
///
/// ```
/// use purlin::Node;
/// use purlin_ack::server::Server;
/// use purlin_ack::strategy::Strategy;
/// use purlin_ack::wire::{Ack, Head, Id, SizeOrder};
/// use std::io::{Read as _, Write as _};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::builder().workers(1).build()?;
/// let on = node.clone();
/// let server = node.block_on(async move |_: purlin::Process<()>| {
///     Server::builder(([127, 0, 0, 1], 0).into()).strategy(Strategy::SyncAck).start(&on).await
/// })?;
///
/// let mut client = std::net::TcpStream::connect(server.local_addr())?;
/// client.write_all(&Head { id: Id::from(0), size: 5 }.to_bytes(SizeOrder::Little))?;
/// client.write_all(b"hello")?;
/// let mut ack = [0; 12];
/// client.read_exact(&mut ack)?;
/// assert_eq!(Ack::from_bytes(ack), Ack { id: Id::from(0), skipped: 0 });
///
/// drop(client);
/// node.block_on(async move |_: purlin::Process<()>| server.drain().await);
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    supervisor: SupervisorRef,
    door: Door,
}

/// A server whose processes are not started yet.
#[derive(Debug)]
pub struct Listening {
    tree: SupervisorSpec,
    door: Door,
}

/// What can be asked of a server, whoever supervises it.
pub struct Door {
    address: SocketAddr,
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
    acceptors: Vec<String>,
}

impl Listening {
    /// The supervisor of the server's processes, and what the server is asked by.
    #[must_use]
    pub fn into_parts(self) -> (SupervisorSpec, Door) {
        (self.tree, self.door)
    }
}

impl Door {
    /// Where it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.counters.read()
    }

    /// How long its acks took: [`Server::latency`].
    #[must_use]
    pub fn latency(&self) -> Latency {
        self.shared.counters.latencies.read()
    }

    /// Reads what it has done for as long as one likes, and keeps nothing else of it.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch::new(self.address, Arc::clone(&self.shared.counters))
    }
}

impl Server {
    /// Settings for a server that listens there; port 0 is any that is free.
    pub fn builder(address: SocketAddr) -> Builder<fn(SocketAddr) -> Count> {
        Builder::at(address)
    }

    /// Settings for a server that takes over a socket on which another has listened: see
    /// [`Server::hand_over`].
    pub fn builder_on(listener: TcpListener) -> Builder<fn(SocketAddr) -> Count> {
        Builder::on(listener)
    }

    /// Where it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.door.local_addr()
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.door.counts()
    }

    /// How long its acks have taken since its start; [`Latency::since`] makes the last minute of it.
    ///
    /// An ack counts with the message in it that had waited longest, and that waits from the read which made it
    /// whole until the ack is given to the socket. So the time has in it what the server adds: for how long
    /// messages wait for those before them, the handler's work and what it waits for, such as a process's or
    /// another node's confirmation or a write to the disk, and for how long there is no room for the ack because the
    /// client does not read. It has nothing of the network and of what waits to be read. In particular:
    ///
    /// | strategy | counts | from | until |
    /// |---|---|---|---|
    /// | `request-reply` | each reply | the last read | the reply is written |
    /// | `throttle`, `head-rest` | each tick's ack | the read that made the first message whole that the tick acknowledges | the ack is written; the tick's own 5 ms are in it |
    /// | `sync-ack` | each read's ack | that read | the ack is written |
    /// | `async-ack` | each ack of up to 22 blocks | the read of the first block in which a message became whole | the ack is written; the time in the responder's mailbox is in it, and the 5 ms in which it waits for more |
    /// | `best` | each batch's answer, acks and refusals of a session together | the read before it | the answer is written |
    ///
    /// What opens a session and what is never acknowledged does not count.
    #[must_use]
    pub fn latency(&self) -> Latency {
        self.door.latency()
    }

    /// Reads what it has done for as long as one likes, also after its end, and keeps nothing else of it.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.door.watch()
    }

    /// The supervisor above all of its processes.
    #[must_use]
    pub fn supervisor(&self) -> &SupervisorRef {
        &self.supervisor
    }

    /// Lets nobody in any more, and gives the socket to who will: another server of this program, or
    /// another program that it is passed to. Who connects meanwhile waits and is not refused. The
    /// connections that are there go on.
    ///
    /// The socket does not block: accepting from it says at once that there is nobody.
    ///
    /// # Errors
    /// The operating system has no descriptor left for it.
    pub async fn hand_over(&self) -> io::Result<TcpListener> {
        for acceptor in &self.door.acceptors {
            // One that is not there accepts nothing.
            let _ = self.supervisor.terminate_child(acceptor).await;
            // WHY: a specification that stays is started again when a child before it is.
            let _ = self.supervisor.delete_child(acceptor).await;
        }
        self.door.listener.try_clone()
    }

    /// Stops the server: nobody is let in any more, what has been read is answered, and then each
    /// connection is closed. One that has not done so within [`Limits::drain`] is killed; what it has
    /// not acknowledged by then never is.
    ///
    /// *Cancellation*: dropping the future does not call it off.
    pub async fn drain(self) -> Counts {
        self.supervisor.stop(ExitReason::Shutdown).await;
        self.door.counts()
    }
}

impl From<&Server> for Watch {
    fn from(server: &Server) -> Self {
        server.watch()
    }
}

impl From<&Door> for Watch {
    fn from(door: &Door) -> Self {
        door.watch()
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("address", &self.address).finish_non_exhaustive()
    }
}
