//! Server limits.

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
    /// Maximum number of connections, at least 1. At the limit, the connection that has been idle
    /// longest is closed for a new one: first those without a session, then those with one, and
    /// last, for a second, those on which no message has started, unless many are new. While none
    /// is idle, new clients wait in the kernel's accept queue.
    pub connections: usize,
    /// Maximum number of connections per address, or per /64 network for IPv6. Further connections
    /// are closed immediately.
    pub per_address: usize,
    /// Largest payload of a message in bytes. Does not apply to the opening of a session.
    pub largest: u32,
    /// Maximum number of bytes in the read buffers of all connections, beyond the first 4 KiB of
    /// each. Half of them is for buffers that only make reads larger. Without bytes left, a
    /// connection reads at most 4 KiB at a time. If its message needs more, it waits, idle
    /// connections free buffers that they do not need, and the connection with an unfinished large
    /// message that has been idle longest is closed. A connection may exceed the limit while no
    /// other uses any of it, so the largest message can always be received.
    pub buffer_bytes: usize,
    /// Idle timeout: how long a client may take for a message, or keep an ack from being written.
    /// `None`: the default of the [strategy](crate::strategy::Strategy::idle_timeout).
    pub idle_timeout: Option<Duration>,
    /// Graceful shutdown timeout: how long a connection may take to answer what it has read when
    /// the server stops. After it the connection is killed. The client may read the last acks
    /// during the rest of that time, for at most 1 s.
    pub drain: Duration,
    /// Maximum number of unanswered messages in a session, from 1 to [`WIDEST`].
    pub window: u32,
    /// Maximum number of bytes of the session table, about 200 per client and 16 per refused
    /// message. The positions of connected clients are never discarded.
    pub session_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            per_address: 1024,
            largest: LARGEST,
            buffer_bytes: 64 << 20,
            idle_timeout: None,
            drain: Duration::from_secs(5),
            window: 65_536,
            session_bytes: 32 << 20,
        }
    }
}

impl Limits {
    pub(crate) fn window(&self) -> u32 {
        self.window.clamp(1, WIDEST)
    }
}
