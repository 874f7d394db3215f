//! What a server has done so far. Written by its processes, read by anybody.
//!
//! COST: an atomic addition for each ack, connection or refusal, and another for how
//! long the ack took, never for a message.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ending::End;
use super::latency::{Latencies, Latency};

/// What a server has done so far. What is under way may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Connections now.
    pub connections: u64,
    /// Connections ever, those that are there now included.
    pub connections_ever: u64,
    /// Messages acknowledged, whether or not the ack has reached the client.
    pub messages: u64,
    /// Acks, and replies of request-reply.
    pub acks: u64,
    /// Messages of sessions that were refused.
    pub refusals: u64,
    /// Connections closed because a message was over the limit.
    pub too_large: u64,
    /// Connections closed because no message became whole for too long.
    pub silent: u64,
    /// Connections closed because the client did not read its acks.
    pub deaf: u64,
    /// Connections closed because they were not TLS as it should be: no handshake, no certificate where
    /// one is demanded, or bytes that somebody changed.
    pub insecure: u64,
    /// Connections closed because the handler failed, panicked, or did not take a message.
    pub failed: u64,
    /// Connections closed at once because their address had too many.
    pub over_address: u64,
    /// How often no connection could be accepted for want of descriptors or memory.
    pub exhausted: u64,
}

/// The same, as it is counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    opened: AtomicU64,
    closed: AtomicU64,
    messages: AtomicU64,
    acks: AtomicU64,
    refusals: AtomicU64,
    too_large: AtomicU64,
    silent: AtomicU64,
    deaf: AtomicU64,
    insecure: AtomicU64,
    failed: AtomicU64,
    over_address: AtomicU64,
    exhausted: AtomicU64,
    pub(crate) latencies: Latencies,
}

impl Counters {
    pub(crate) fn opened(&self) {
        add(&self.opened, 1);
    }

    pub(crate) fn closed(&self) {
        add(&self.closed, 1);
    }

    /// An ack, of so many messages.
    pub(crate) fn acked(&self, messages: u64) {
        add(&self.messages, messages);
        add(&self.acks, 1);
    }

    pub(crate) fn refused(&self) {
        add(&self.refusals, 1);
    }

    pub(crate) fn over_address(&self) {
        add(&self.over_address, 1);
    }

    pub(crate) fn exhausted(&self) {
        add(&self.exhausted, 1);
    }

    /// Why a connection ended.
    pub(crate) fn ended(&self, end: &End) {
        match end.cause() {
            End::TooLarge(_) => add(&self.too_large, 1),
            End::Silent => add(&self.silent, 1),
            End::Deaf => add(&self.deaf, 1),
            End::Insecure(_) => add(&self.insecure, 1),
            End::Refused | End::Failed(_) => add(&self.failed, 1),
            // WHY: a helper that ends otherwise than in an orderly way had a handler that panicked.
            End::Helper(reason) if !reason.is_orderly() => add(&self.failed, 1),
            _ => {}
        }
    }

    pub(crate) fn read(&self) -> Counts {
        // WHY in this order: a connection is never seen closed before it was opened.
        let closed = read(&self.closed);
        let opened = read(&self.opened);
        Counts {
            connections: opened.saturating_sub(closed),
            connections_ever: opened,
            messages: read(&self.messages),
            acks: read(&self.acks),
            refusals: read(&self.refusals),
            too_large: read(&self.too_large),
            silent: read(&self.silent),
            deaf: read(&self.deaf),
            insecure: read(&self.insecure),
            failed: read(&self.failed),
            over_address: read(&self.over_address),
            exhausted: read(&self.exhausted),
        }
    }
}

/// Reads what a server has done, for whoever shows it. A clone reads the same.
#[derive(Clone, Debug)]
pub struct Watch {
    address: SocketAddr,
    counters: Arc<Counters>,
}

impl Watch {
    pub(super) fn new(address: SocketAddr, counters: Arc<Counters>) -> Self {
        Self { address, counters }
    }

    /// Where the server listens, or did.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What it has done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counters.read()
    }

    /// How long its acks took: [`Server::latency`](super::Server::latency).
    #[must_use]
    pub fn latency(&self) -> Latency {
        self.counters.latencies.read()
    }
}

/// Counts a connection as failed if it is dropped by a panic, which leaves nobody to say why it ended.
#[derive(Debug)]
pub(crate) struct Watched<'a>(pub(crate) &'a Counters);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            add(&self.0.failed, 1);
        }
    }
}

fn add(to: &AtomicU64, count: u64) {
    // ORDER: relaxed, because a count carries nothing but itself.
    to.fetch_add(count, Ordering::Relaxed);
}

fn read(from: &AtomicU64) -> u64 {
    from.load(Ordering::Relaxed)
}
