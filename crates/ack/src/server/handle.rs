//! Handles to a server: running, listening, and independent of its supervisor.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use purlin::ExitReason;
use purlin::supervisor::{SupervisorRef, SupervisorSpec};

use super::acceptor::Acceptors;
use crate::connection::counters::{Counts, Watch};
use crate::connection::latency::Latency;

/// A running server. Dropping this handle does not stop the server; [`Server::drain`] and the end
/// of its node do.
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
    pub(super) supervisor: SupervisorRef,
    pub(super) door: Door,
}

/// A listening server whose processes are not started.
#[derive(Debug)]
pub struct Listening {
    pub(super) tree: SupervisorSpec,
    pub(super) door: Door,
}

/// Handle to a server, independent of its supervisor: address, counters and latency.
pub struct Door {
    pub(super) address: SocketAddr,
    pub(super) acceptors: Arc<Acceptors>,
    /// Child ids of the acceptors.
    pub(super) ids: Vec<String>,
}

impl Listening {
    /// Returns the supervisor specification of the server's processes and the handle to the server.
    #[must_use]
    pub fn into_parts(self) -> (SupervisorSpec, Door) {
        (self.tree, self.door)
    }
}

impl Door {
    /// Returns the listening address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns a snapshot of the counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.acceptors.counters.read()
    }

    /// Returns the latency of acks: see [`Server::latency`].
    #[must_use]
    pub fn latency(&self) -> Latency {
        self.acceptors.counters.latencies.read()
    }

    /// Returns a handle to the counters that keeps nothing else of the server alive.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch { address: self.address, counters: Arc::clone(&self.acceptors.counters) }
    }
}

impl Server {
    /// Returns the listening address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.door.local_addr()
    }

    /// Returns a snapshot of the counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.door.counts()
    }

    /// Returns the latency of acks since the start of the server. Use [`Latency::since`] for an
    /// interval.
    ///
    /// Each ack counts once, with the time of its longest-waiting message: from the read that
    /// completed the message until the ack is passed to the socket. The time includes what the
    /// server adds: waiting for earlier messages, the handler's work and what it awaits, such as
    /// the reply of a process, the confirmation of another node or a disk write, and waiting for
    /// room in the socket while the client does not read. It excludes the network and the bytes not
    /// read yet. In particular:
    ///
    /// | strategy | counts | from | until |
    /// |---|---|---|---|
    /// | `request-reply` | each reply | the last read | the reply is written |
    /// | `throttle`, `head-rest` | the ack of each tick | the read that completed the first message acknowledged by the tick | the ack is written; includes the tick's 5 ms |
    /// | `sync-ack` | the ack of each read | that read | the ack is written |
    /// | `async-ack` | each ack of up to 22 blocks | the read of the first block in which a message was completed | the ack is written; includes the time in the responder's mailbox and its wait of 5 ms for more |
    /// | `best` | the answer to each batch; acks and refusals of a session together | the read before it | the answer is written |
    ///
    /// Session openings and messages that are never acknowledged do not count.
    #[must_use]
    pub fn latency(&self) -> Latency {
        self.door.latency()
    }

    /// Returns a handle to the counters that stays readable after the server has stopped and keeps
    /// nothing else of it alive.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.door.watch()
    }

    /// Returns the supervisor of the server's processes.
    #[must_use]
    pub fn supervisor(&self) -> &SupervisorRef {
        &self.supervisor
    }

    /// Stops accepting and returns the listening socket, for another server in this program or
    /// another program. Clients that connect meanwhile wait in the accept queue and are not
    /// refused. Open connections continue.
    ///
    /// The socket is non-blocking: an accept without a waiting client returns `WouldBlock`.
    ///
    /// # Errors
    /// Returns an error if the operating system has no descriptor left.
    pub async fn hand_over(&self) -> io::Result<TcpListener> {
        for acceptor in &self.door.ids {
            // A missing acceptor accepts nothing.
            let _ = self.supervisor.terminate_child(acceptor).await;
            // WHY: a child specification left in the table is restarted with the children before
            // it.
            let _ = self.supervisor.delete_child(acceptor).await;
        }
        self.door.acceptors.listener.try_clone()
    }

    /// Shuts the server down gracefully: it stops accepting, answers what it has read, and closes
    /// each connection. A connection that takes longer than [`Limits::drain`](super::Limits::drain) is killed; its
    /// unacknowledged messages stay unacknowledged.
    ///
    /// *Cancellation*: dropping the future does not cancel the shutdown.
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
