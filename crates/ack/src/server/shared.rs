//! What the processes of one server have in common.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::counts::Counters;
use super::limits::Limits;
use super::permits::{Permit, Permits};
use super::sessions::Sessions;
use crate::session::Level;
use crate::strategy::Strategy;
use crate::tls::server::Tls;

/// What the processes of one server have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) strategy: Strategy,
    pub(crate) limits: Limits,
    /// What an ack means where no session says so.
    pub(crate) level: Level,
    pub(crate) tls: Option<Tls>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) permits: Arc<Permits>,
    pub(crate) sessions: Arc<Sessions>,
    /// It has been said that there are no descriptors, and nobody has come in since.
    pub(crate) short: AtomicBool,
    /// What the supervisor of the connections is registered as.
    pub(crate) connections: String,
}

/// A connection on its way from an acceptor to a process of its own.
#[derive(Debug)]
pub(crate) struct Newcomer {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) permit: Permit,
}

impl Shared {
    pub(crate) fn new(strategy: Strategy, level: Level, limits: Limits, tls: Option<Tls>) -> Self {
        // WHY a number: two servers may listen on one address, one after the other.
        static SERVERS: AtomicU64 = AtomicU64::new(0);
        // ORDER: relaxed, because all that matters is that each gets another.
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
