//! State shared by the processes of a server.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::counters::Counters;
use super::limits::Limits;
use super::permits::{Permit, Permits};
use super::sessions::Sessions;
use crate::session::Level;
use crate::strategy::Strategy;
use crate::tls::server::Tls;

/// State shared by the processes of a server.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) strategy: Strategy,
    pub(crate) limits: Limits,
    /// Acknowledgement level outside of sessions.
    pub(crate) level: Level,
    pub(crate) tls: Option<Tls>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) permits: Arc<Permits>,
    pub(crate) sessions: Arc<Sessions>,
    /// Whether descriptor exhaustion was logged. Cleared by the next accepted connection.
    pub(crate) short: AtomicBool,
    /// Registered name of the connection supervisor.
    pub(crate) connections: String,
}

/// An accepted connection that an acceptor hands over to a new process.
#[derive(Debug)]
pub(crate) struct Newcomer {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) permit: Permit,
}

impl Shared {
    pub(crate) fn new(strategy: Strategy, level: Level, limits: Limits, tls: Option<Tls>) -> Self {
        // WHY a number: two servers may listen on the same address, one after the other.
        static SERVERS: AtomicU64 = AtomicU64::new(0);
        // ORDER: relaxed: only uniqueness matters.
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let counters = Arc::new(Counters::default());
        Self {
            strategy,
            level,
            tls,
            permits: Arc::new(Permits::new(&limits, Arc::clone(&counters))),
            sessions: Arc::new(Sessions::new(&limits)),
            counters,
            limits,
            short: AtomicBool::new(false),
            connections: format!("ack {strategy} connections {number}"),
        }
    }

    pub(crate) fn silence(&self) -> Duration {
        self.limits.silence(self.strategy)
    }
}
