//! Idle state of a connection, published by its process. The connection that has been idle longest
//! is closed when no slot is free, or no bytes for read buffers.
//!
//! COST: two or three relaxed stores per wait of the connection, none per read or message.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use purlin::{Exit, ExitReason, Pid};

use super::close_reason::CloseReason;

/// Value of `since` while the connection does not wait for its client.
const BUSY: u64 = u64::MAX;

/// Rank of a connection, which decides before its idle time which one gives way to a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// It has no session, or none with an answered message.
    NoSession,
    /// A message of its session was answered.
    Session,
    /// It was accepted a moment ago, and no message has started.
    New,
}

/// Idle state of a connection.
#[derive(Debug)]
pub(crate) struct Idle {
    process: Pid<Exit>,
    /// Time of the last message in nanoseconds, on the node's clock, or [`BUSY`].
    since: AtomicU64,
    is_new: AtomicBool,
    has_session: AtomicBool,
    is_in_message: AtomicBool,
    /// Bytes that the processes of the connection have charged to the budget.
    charged: AtomicUsize,
}

impl Idle {
    /// Returns the state of a new connection, which is busy.
    pub(crate) fn new(process: Pid<Exit>) -> Self {
        Self {
            process,
            since: AtomicU64::new(BUSY),
            is_new: AtomicBool::new(true),
            has_session: AtomicBool::new(false),
            is_in_message: AtomicBool::new(false),
            charged: AtomicUsize::new(0),
        }
    }

    // ORDER: relaxed, here and below: the values publish no other data, and an outdated one only
    // selects another connection.

    /// Publishes that the connection waits for its client, whose last message is of this time.
    pub(crate) fn waits(&self, since: Duration) {
        self.since.store(nanoseconds(since), Ordering::Relaxed);
    }

    /// Publishes that the connection does not wait for its client.
    pub(crate) fn works(&self) {
        self.since.store(BUSY, Ordering::Relaxed);
    }

    /// Records that the connection is no longer new.
    pub(crate) fn is_not_new(&self) {
        self.is_new.store(false, Ordering::Relaxed);
    }

    /// Publishes that a message of a session was answered.
    pub(crate) fn has_session(&self) {
        self.has_session.store(true, Ordering::Relaxed);
    }

    /// Publishes whether a process that does not read the socket keeps the beginning of a message
    /// and waits for its rest.
    pub(crate) fn set_in_message(&self, is_in_message: bool) {
        self.is_in_message.store(is_in_message, Ordering::Relaxed);
    }

    /// Returns whether a process that does not read the socket waits for the rest of a message.
    pub(crate) fn is_in_message(&self) -> bool {
        self.is_in_message.load(Ordering::Relaxed)
    }

    /// Adds to the charged bytes.
    pub(crate) fn raise_charged(&self, more: usize) {
        self.charged.fetch_add(more, Ordering::Relaxed);
    }

    /// Subtracts from the charged bytes.
    pub(crate) fn lower_charged(&self, fewer: usize) {
        self.charged.fetch_sub(fewer, Ordering::Relaxed);
    }

    /// Returns the charged bytes.
    pub(crate) fn charged(&self) -> usize {
        self.charged.load(Ordering::Relaxed)
    }

    /// Returns the rank of the connection.
    pub(crate) fn rank(&self) -> Rank {
        if self.has_session.load(Ordering::Relaxed) {
            Rank::Session
        } else if self.is_new.load(Ordering::Relaxed) {
            Rank::New
        } else {
            Rank::NoSession
        }
    }

    /// Returns the time of the last message. Returns `None` while the connection does not wait.
    pub(crate) fn since(&self) -> Option<u64> {
        Some(self.since.load(Ordering::Relaxed)).filter(|since| *since != BUSY)
    }

    /// Asks the connection to end for this reason.
    pub(crate) fn end(&self, reason: CloseReason) {
        self.process.exit(ExitReason::shutdown_with(reason));
    }
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(BUSY - 1)
}
