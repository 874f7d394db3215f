//! Counters of a server, with its budget and its log. Written by its processes, readable from any
//! thread.
//!
//! COST: one atomic addition per ack, connection or refusal, and one for the latency of the ack;
//! none per message.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::budget::Budget;
use super::close_reason::CloseReason;
use super::event_log::{Event, EventLog};
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
    pub idle_timeout: u64,
    /// Connections closed because the client did not read its acks.
    pub slow_reader: u64,
    /// Connections closed for TLS errors: a failed handshake, a missing client certificate, or
    /// corrupted records.
    pub insecure: u64,
    /// Connections closed because the handler failed, panicked, or outside a session refused a
    /// message or does not offer the level of the server.
    pub failed: u64,
    /// Connections closed immediately because of the limit per address.
    pub over_address: u64,
    /// Connections closed while idle, for a new one at the limit of connections.
    pub gave_way: u64,
    /// Connections closed because the budget of bytes for read buffers or sessions was used up.
    pub over_budget: u64,
    /// Refused sessions.
    pub sessions_refused: u64,
    /// Positions of disconnected clients discarded from the full session table.
    pub sessions_evicted: u64,
    /// Failed accepts for lack of descriptors or memory.
    pub resource_exhausted: u64,
    /// Bytes in use of the budget for read buffers.
    pub buffer_bytes: u64,
}

/// The counters behind [`Counts`], the budget of read buffers, and the log.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) opened: Counter,
    pub(crate) closed: Counter,
    pub(crate) messages: Counter,
    pub(crate) acks: Counter,
    pub(crate) refusals: Counter,
    too_large: Counter,
    idle_timeout: Counter,
    slow_reader: Counter,
    insecure: Counter,
    failed: Counter,
    pub(crate) over_address: Counter,
    gave_way: Counter,
    over_budget: Counter,
    sessions_refused: Counter,
    pub(crate) sessions_evicted: Counter,
    pub(crate) resource_exhausted: Counter,
    pub(crate) latencies: Latencies,
    pub(crate) budget: Arc<Budget>,
    pub(crate) events: EventLog,
}

/// A counter that only grows.
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
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Counts the close reason of a connection.
    pub(crate) fn ended(&self, end: &CloseReason) {
        match end {
            CloseReason::TooLarge(_) => self.too_large.add(1),
            CloseReason::IdleTimeout => self.idle_timeout.add(1),
            CloseReason::SlowReader => self.slow_reader.add(1),
            CloseReason::Insecure(_) => self.insecure.add(1),
            CloseReason::Refused | CloseReason::Failed(_) | CloseReason::NotOffered { .. } => {
                self.failed.add(1);
            }
            CloseReason::GaveWay => self.gave_way.add(1),
            CloseReason::OverBudget => self.over_budget.add(1),
            CloseReason::NoSession(_) => self.sessions_refused.add(1),
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
            idle_timeout: self.idle_timeout.read(),
            slow_reader: self.slow_reader.read(),
            insecure: self.insecure.read(),
            failed: self.failed.read(),
            over_address: self.over_address.read(),
            gave_way: self.gave_way.read(),
            over_budget: self.over_budget.read(),
            sessions_refused: self.sessions_refused.read(),
            sessions_evicted: self.sessions_evicted.read(),
            resource_exhausted: self.resource_exhausted.read(),
            buffer_bytes: self.budget.used() as u64,
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

/// Counts and logs a connection as failed when dropped by a panic, which leaves no close reason.
#[derive(Debug)]
pub(crate) struct Watched<'a>(pub(crate) &'a Counters, pub(crate) SocketAddr);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.add(1);
            self.0.events.log(Event::HandlerFailed, &self.1, &"the handler panicked");
        }
    }
}
