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
    pub(crate) opened: Counter,
    pub(crate) closed: Counter,
    pub(crate) messages: Counter,
    pub(crate) acks: Counter,
    pub(crate) refusals: Counter,
    too_large: Counter,
    silent: Counter,
    deaf: Counter,
    insecure: Counter,
    failed: Counter,
    pub(crate) over_address: Counter,
    pub(crate) exhausted: Counter,
    pub(crate) latencies: Latencies,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        // ORDER: relaxed: the counter publishes no other data.
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// Counts the close reason of a connection.
    pub(crate) fn ended(&self, end: &CloseReason) {
        match end {
            CloseReason::TooLarge(_) => self.too_large.add(1),
            CloseReason::IdleTimeout => self.silent.add(1),
            CloseReason::SlowReader => self.deaf.add(1),
            CloseReason::Insecure(_) => self.insecure.add(1),
            CloseReason::Refused | CloseReason::Failed(_) => self.failed.add(1),
            _ => {}
        }
    }

    pub(crate) fn read(&self) -> Counts {
        // WHY this order: a connection must not be seen closed before it was opened.
        let closed = self.closed.read();
        let opened = self.opened.read();
        Counts {
            connections: opened.saturating_sub(closed),
            connections_ever: opened,
            messages: self.messages.read(),
            acks: self.acks.read(),
            refusals: self.refusals.read(),
            too_large: self.too_large.read(),
            silent: self.silent.read(),
            deaf: self.deaf.read(),
            insecure: self.insecure.read(),
            failed: self.failed.read(),
            over_address: self.over_address.read(),
            exhausted: self.exhausted.read(),
        }
    }
}

/// Read-only handle to the counters of a server. Clones read the same counters.
#[derive(Clone, Debug)]
pub struct Watch {
    pub(crate) address: SocketAddr,
    pub(crate) counters: Arc<Counters>,
}

impl Watch {
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
            self.0.failed.add(1);
        }
    }
}
