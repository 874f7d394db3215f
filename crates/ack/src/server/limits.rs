//! What a server grants to its clients. Values.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::session::WIDEST;
use crate::strategy::Strategy;
use crate::wire::LARGEST;

/// What a server grants to its clients, all of them together and each of them.
///
/// ```
/// use purlin_ack::server::Limits;
///
/// let limits = Limits { connections: 10_000, per_address: 100, ..Limits::default() };
/// assert_eq!(limits.largest, 16 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time, at least 1. Who comes then waits unseen, in the queue of the operating
    /// system.
    pub connections: usize,
    /// Connections at a time from one address. Who comes then is closed at once.
    pub per_address: usize,
    /// Bytes of the largest payload.
    pub largest: u32,
    /// How long a client may take for a message, or keep an ack from being written; unless set, what
    /// its [strategy](Strategy::silence) has.
    pub silence: Option<Duration>,
    /// How long a connection has to answer what it has read, when the server stops. Then it is killed.
    /// What is left of that time, and a second at most, its client has to read the last acks.
    pub drain: Duration,
    /// Messages of a session that may be unanswered at a time, from 1 to [`WIDEST`].
    pub window: u32,
    /// Clients whose sessions are remembered.
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
    pub(crate) fn silence(&self, strategy: Strategy) -> Duration {
        self.silence.unwrap_or(strategy.silence())
    }

    pub(crate) fn window(&self) -> u32 {
        self.window.clamp(1, WIDEST)
    }
}
