//! Server limits.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::wire::LARGEST;
use crate::wire::session::WIDEST;

/// Limits of a server, for all connections together and for each one.
///
/// ```
/// use purlin_ack::server::Limits;
///
/// let limits = Limits { connections: 10_000, per_address: 100, ..Limits::default() };
/// assert_eq!(limits.largest, 16 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections, at least 1. Further clients wait in the kernel's accept
    /// queue.
    pub connections: usize,
    /// Maximum number of connections per address. Further connections are closed immediately.
    pub per_address: usize,
    /// Largest payload in bytes.
    pub largest: u32,
    /// Idle timeout: how long a client may take for a message, or keep an ack from being written.
    /// `None`: the default of the [strategy](crate::strategy::Strategy::silence).
    pub silence: Option<Duration>,
    /// Graceful shutdown timeout: how long a connection may take to answer what it has read when
    /// the server stops. After it the connection is killed. The client may read the last acks
    /// during the rest of that time, for at most 1 s.
    pub drain: Duration,
    /// Maximum number of unanswered messages in a session, from 1 to [`WIDEST`].
    pub window: u32,
    /// Capacity of the session table in clients.
    pub clients: NonZeroUsize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            per_address: usize::MAX,
            largest: LARGEST,
            silence: None,
            drain: Duration::from_secs(5),
            window: 65_536,
            clients: const { NonZeroUsize::new(65_536).unwrap() },
        }
    }
}

impl Limits {
    pub(crate) fn window(&self) -> u32 {
        self.window.clamp(1, WIDEST)
    }
}
