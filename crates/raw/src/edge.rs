//! The edge of a mailbox that has a bound: how many messages wait, and what becomes of one more.
//!
//! Senders on any thread `enter` before they push. The receiver counts what it receives, as every
//! process does; the difference is what waits, exactly, and receiving costs nothing more. Messages
//! that signals turn into pass, and are counted; what leaves the mailbox unreceived is counted back.
//!
//! Nothing here blocks but for the moments of the line's lock, and no user code runs.
//!
//! # Where the oldest is dropped
//!
//! Only the receiver can take what waits. A sender that has pushed past the limit raises the *flag*,
//! and wakes the receiver if it was not up. The receiver fetches, and with that takes the wake; then
//! it looks at the flag. If it is up it takes it down, fetches again, and drops what is too much: who
//! found the flag up has pushed before. If the flag is up again by then, it asks for another turn. At
//! twice the limit the newest is dropped instead: the receiver does not let go of its turn.
//!
//! COST: one compare-and-swap for a message, on a word that all senders write; 80 bytes in the cell
//! of a process that has a bound, none in others.

use std::sync::Arc;

use crate::cell::Base;
use crate::line::Line;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// What becomes of a message to a mailbox that is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// It is accepted, and a process that sent it is suspended at its next await until there is room.
    Wait,
    /// It is handed back to the sender that asks for it, and otherwise dropped.
    Reject,
    /// It is dropped.
    DropNewest,
    /// It is accepted, and the oldest message that waits is dropped.
    DropOldest,
}

/// How a message is sent, where that makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Past the limit, if senders are to wait: this one does so afterwards.
    Send,
    /// Not past the limit, if senders are to wait.
    Try,
    /// Not past the limit, whatever the policy; never dropped.
    Strict,
}

/// What became of a message that was not handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It was sent, or dropped and counted as the mailbox has it.
    Done,
    /// It was sent past the limit, and the sender is to wait.
    Past,
}

/// Messages that were dropped at the edges of mailboxes, by the reason.
#[derive(Debug, Default)]
pub struct Spilled {
    /// Sent to a full mailbox that rejects, by one who did not want them back.
    pub rejected: std::sync::atomic::AtomicU64,
    /// Sent to a full mailbox that drops the newest, or to one that drops the oldest and did not
    /// come to it.
    pub newest: std::sync::atomic::AtomicU64,
    /// The oldest that waited, when others came.
    pub oldest: std::sync::atomic::AtomicU64,
}

/// The edge of a mailbox that has a bound.
#[derive(Debug)]
pub struct Edge {
    limit: u32,
    overflow: Overflow,
    /// More waits than may, and the receiver has been woken to drop the oldest.
    flag: AtomicBool,
    /// Messages that have come, less those that left without having been received.
    sent: AtomicU64,
    pub(crate) line: Line,
    /// Messages dropped here.
    dropped: std::sync::atomic::AtomicU64,
    /// The same for all mailboxes of the realm.
    spilled: Arc<Spilled>,
}

/// What becomes of a message that is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It is to be pushed.
    Within,
    /// It is to be pushed, and is past the limit.
    Past,
    /// There is no room for it.
    Full,
    /// There is no room for it, and it has been counted as dropped.
    Dropped,
    /// There is no room for it, and the process has ended.
    Ended,
}

/// What a mailbox has at its edge: an [`Edge`] if it has a bound, nothing as a rule.
pub trait Bounds: sealed::Sealed + Send + Sync + 'static {
    /// Whether there is a bound.
    const BOUNDED: bool;
}

impl Bounds for () {
    const BOUNDED: bool = false;
}

impl Bounds for Edge {
    const BOUNDED: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for super::Edge {}
}

impl Edge {
    /// An edge at that many messages; none if that is none, or more than fit into 32 bits.
    pub fn new(limit: usize, overflow: Overflow, spilled: Arc<Spilled>) -> Option<Self> {
        Some(Self {
            limit: u32::try_from(limit).ok().filter(|limit| *limit > 0)?,
            overflow,
            flag: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            line: Line::new(),
            dropped: std::sync::atomic::AtomicU64::new(0),
            spilled,
        })
    }

    /// How many messages may wait.
    pub fn limit(&self) -> usize {
        self.limit as usize
    }

    /// What becomes of one more.
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Messages that were dropped here.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Counts a message that nobody wants back.
    pub fn reject(&self) {
        self.count(&self.spilled.rejected);
    }

    fn count(&self, reason: &std::sync::atomic::AtomicU64) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        reason.fetch_add(1, Ordering::Relaxed);
    }

    /// From how many messages on one more is not pushed.
    fn ceiling(&self, manner: Manner) -> u64 {
        let limit = u64::from(self.limit);
        match (self.overflow, manner) {
            (Overflow::Wait, Manner::Send) => u64::MAX,
            (Overflow::DropOldest, _) => 2 * limit,
            _ => limit,
        }
    }

    /// Messages that wait, if so many have come.
    fn waiting_of(sent: u64, receiver: &Base) -> u64 {
        // WHY saturating: what was received may be known here before what was sent.
        // ORDER: relaxed: it carries nothing. Who has heard from the receiver sees what that had
        // received by then; who joins the line, what it had received when it last let the line go.
        sent.saturating_sub(receiver.received.load(Ordering::Relaxed))
    }

    fn waiting(&self, receiver: &Base) -> u64 {
        Self::waiting_of(self.sent.load(Ordering::Relaxed), receiver)
    }

    /// Counts a message that is about to be pushed, or says why it is not.
    pub(crate) fn enter(&self, receiver: &Base, manner: Manner) -> Entry {
        let ceiling = self.ceiling(manner);
        let mut sent = self.sent.load(Ordering::Relaxed);
        loop {
            let waiting = Self::waiting_of(sent, receiver);
            if waiting >= ceiling {
                return self.no_room(receiver, manner);
            }
            // WHY not added at once: what is then refused would keep others out meanwhile.
            // ORDER: relaxed: the push that follows carries the message.
            let (new, relaxed) = (sent + 1, Ordering::Relaxed);
            match self.sent.compare_exchange_weak(sent, new, relaxed, relaxed) {
                Ok(_) if waiting < u64::from(self.limit) => return Entry::Within,
                Ok(_) => return Entry::Past,
                Err(now) => sent = now,
            }
        }
    }

    /// What becomes of a message that finds the mailbox full.
    fn no_room(&self, receiver: &Base, manner: Manner) -> Entry {
        // WHY asked here only: what waited when the process ended is never received.
        if receiver.head.is_closed() {
            return Entry::Ended;
        }
        match (self.overflow, manner) {
            (Overflow::Wait | Overflow::Reject, _) | (_, Manner::Strict) => Entry::Full,
            (Overflow::DropNewest | Overflow::DropOldest, _) => {
                self.count(&self.spilled.newest);
                Entry::Dropped
            }
        }
    }

    /// Whether those who wait for room need wait no longer.
    pub(crate) fn has_room(&self, receiver: &Base) -> bool {
        self.waiting(receiver) < self.ceiling(Manner::Strict)
    }

    /// A message has come that no sender has counted.
    pub(crate) fn passed(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// A message has left without having been received.
    pub(crate) fn withdrawn(&self) {
        self.sent.fetch_sub(1, Ordering::Relaxed);
    }

    /// Raises the flag after a push past the limit; whether the receiver has to be woken.
    pub(crate) fn raise(&self) -> bool {
        // ORDER: release to `lower`: the count, and the push.
        self.overflow == Overflow::DropOldest && !self.flag.swap(true, Ordering::Release)
    }

    /// Whether the flag is up: a glance.
    pub(crate) fn is_raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Takes the flag down, before the receiver fetches: a sender that found it up has pushed before
    /// this, and is seen; another wakes the receiver again.
    pub(crate) fn lower(&self) {
        // ORDER: acquire from `raise`.
        self.flag.swap(false, Ordering::Acquire);
    }

    /// Whether more waits than may.
    pub(crate) fn is_past(&self, receiver: &Base) -> bool {
        self.waiting(receiver) > u64::from(self.limit)
    }

    /// The oldest message has been dropped.
    pub(crate) fn dropped_oldest(&self) {
        self.withdrawn();
        self.count(&self.spilled.oldest);
    }
}
