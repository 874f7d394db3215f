//! Counters of a server. Written by its processes, readable from any thread.
//!
//! COST: one atomic addition per ack, connection or refusal, and one for the latency of the ack;
//! none per message.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::close_reason::CloseReason;
use super::latency::{Latencies, Latency};

/// Snapshot of a server's counters. Concurrent events may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Open connections.
    pub connections: u64,
    /// Connections accepted so far, including the open ones.
    pub connections_ever: u64,
    /// Acknowledged messages, whether or not the ack reached the client.
    pub messages: u64,
    /// Acks and replies of request-reply.
    pub acks: u64,
    /// Refused messages in sessions.
    pub refusals: u64,
    /// Connections closed because a message exceeded the size limit.
    pub too_large: u64,
    /// Connections closed by the idle timeout.
    pub silent: u64,
    /// Connections closed because the client did not read its acks.
    pub deaf: u64,
    /// Connections closed for TLS errors: a failed handshake, a missing client certificate, or
    /// corrupted records.
    pub insecure: u64,
    /// Connections closed because the handler failed, panicked or refused a message outside a
    /// session.
    pub failed: u64,
    /// Connections closed immediately because of the limit per address.
    pub over_address: u64,
    /// Failed accepts for lack of descriptors or memory.
    pub exhausted: u64,
}

/// The counters behind [`Counts`].
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

    /// Counts an ack of `messages` messages.
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

    /// Counts the close reason of a connection.
    pub(crate) fn ended(&self, end: &CloseReason) {
        match end {
            CloseReason::TooLarge(_) => add(&self.too_large, 1),
            CloseReason::IdleTimeout => add(&self.silent, 1),
            CloseReason::SlowReader => add(&self.deaf, 1),
            CloseReason::Insecure(_) => add(&self.insecure, 1),
            CloseReason::Refused | CloseReason::Failed(_) => add(&self.failed, 1),
            _ => {}
        }
    }

    pub(crate) fn read(&self) -> Counts {
        // WHY this order: a connection must not be seen closed before it was opened.
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

/// Read-only handle to the counters of a server. Clones read the same counters.
#[derive(Clone, Debug)]
pub struct Watch {
    address: SocketAddr,
    counters: Arc<Counters>,
}

impl Watch {
    pub(crate) fn new(address: SocketAddr, counters: Arc<Counters>) -> Self {
        Self { address, counters }
    }

    /// Returns the address of the server, also after it has stopped.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns a snapshot of the counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counters.read()
    }

    /// Returns the latency of acks: see [`Server::latency`](crate::server::Server::latency).
    #[must_use]
    pub fn latency(&self) -> Latency {
        self.counters.latencies.read()
    }
}

/// Counts a connection as failed when dropped by a panic, which leaves no close reason.
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
    // ORDER: relaxed: the counter publishes no other data.
    to.fetch_add(count, Ordering::Relaxed);
}

fn read(from: &AtomicU64) -> u64 {
    from.load(Ordering::Relaxed)
}
