//! Mailbox bound: counting, limit and overflow policy.
//!
//! A sender on any thread calls `admit` before it pushes. The receiver counts received messages in
//! any case, bounded or not. The number of queued messages is the exact difference of the two
//! counts, and receiving costs nothing extra. Messages that the receiver makes from signals bypass
//! the limit and are counted; no policy drops them. A message that leaves the mailbox without being
//! received is subtracted.
//!
//! Nothing here blocks, except briefly on the lock of the wait list. No user code runs.
//!
//! # Dropping the oldest message
//!
//! Only the receiver can remove queued messages. A sender that has pushed past the limit raises the
//! *flag*, and wakes the receiver if the flag was down. The receiver fetches, which consumes the
//! wake, and then reads the flag. If it is up, the receiver lowers it, fetches again and drops the
//! excess: a sender that found the flag up had pushed before. If the flag is up again afterwards,
//! the receiver asks for another turn. At twice the limit the newest message is dropped instead,
//! because the receiver is then in a turn that does not end.
//!
//! COST: one compare-and-swap per message, on a word that all senders write; 80 bytes in the cell
//! of a bounded process, none in others.

use std::sync::Arc;

use crate::inbox::state::State;
use crate::inbox::wait_list::WaitList;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// Overflow policy: what happens to a message for a full mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// The message is accepted. A sending process is suspended at its next await until the mailbox
    /// has capacity.
    Wait,
    /// The message is returned if the sender's call can return it, otherwise dropped.
    Reject,
    /// The message is dropped.
    DropNewest,
    /// The message is accepted and the oldest queued message is dropped.
    DropOldest,
}

/// Send mode, for policies that distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendMode {
    /// Under [`Overflow::Wait`], exceeds the limit; the sender waits afterwards.
    Send,
    /// Under [`Overflow::Wait`], does not exceed the limit.
    Try,
    /// Never exceeds the limit, whatever the policy; the message is never dropped.
    Strict,
}

/// Result of a send that did not return the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendOutcome {
    /// The message was sent, or dropped and counted as the policy says.
    Done,
    /// The message was sent past the limit; the sender must wait.
    Past,
}

/// Dropped messages of all bounded mailboxes, by reason.
#[derive(Debug, Default)]
pub struct DropCounters {
    /// Sent to a full mailbox with [`Overflow::Reject`] by a sender that cannot take them back.
    pub rejected: std::sync::atomic::AtomicU64,
    /// Sent to a full mailbox with [`Overflow::DropNewest`], or with [`Overflow::DropOldest`] at
    /// twice the limit.
    pub newest: std::sync::atomic::AtomicU64,
    /// The oldest queued message, dropped in favour of newer ones.
    pub oldest: std::sync::atomic::AtomicU64,
}

/// Bound of a mailbox.
#[derive(Debug)]
pub struct Bound {
    limit: u32,
    overflow: Overflow,
    /// More messages are queued than the limit allows, and the receiver has been woken to drop the
    /// oldest.
    flag: AtomicBool,
    /// Messages counted in, less those that left without being received.
    sent: AtomicU64,
    pub(crate) wait_list: WaitList,
    /// Messages dropped by this mailbox.
    dropped: std::sync::atomic::AtomicU64,
    /// Drop counters shared by all mailboxes of the node core.
    totals: Arc<DropCounters>,
}

/// Result of [`Bound::admit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Push the message.
    Within,
    /// Push the message; it exceeds the limit.
    Past,
    /// The mailbox is full.
    Full,
    /// The mailbox is full, and the message has been counted as dropped.
    Dropped,
    /// The mailbox is full, and the process has ended.
    Ended,
}

/// Type-level presence of a bound: [`Bound`] for a bounded mailbox, `()` for an unbounded one.
pub trait MaybeBound: sealed::Sealed + Send + Sync + 'static {
    /// Whether the mailbox has a bound.
    const BOUNDED: bool;
}

impl MaybeBound for () {
    const BOUNDED: bool = false;
}

impl MaybeBound for Bound {
    const BOUNDED: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for super::Bound {}
}

impl Bound {
    /// Creates a bound. Returns `None` if `limit` is 0 or exceeds `u32::MAX`.
    pub fn new(limit: usize, overflow: Overflow, totals: Arc<DropCounters>) -> Option<Self> {
        Some(Self {
            limit: u32::try_from(limit).ok().filter(|limit| *limit > 0)?,
            overflow,
            flag: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            wait_list: WaitList::new(),
            dropped: std::sync::atomic::AtomicU64::new(0),
            totals,
        })
    }

    /// Returns the maximum number of queued messages.
    pub fn limit(&self) -> usize {
        self.limit as usize
    }

    /// Returns the overflow policy.
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Returns the number of messages dropped by this mailbox.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Counts a rejected message that no caller takes back.
    pub fn reject(&self) {
        self.count(&self.totals.rejected);
    }

    fn count(&self, reason: &std::sync::atomic::AtomicU64) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        reason.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the queue length from which on a message is not pushed.
    fn ceiling(&self, mode: SendMode) -> u64 {
        let limit = u64::from(self.limit);
        match (self.overflow, mode) {
            (Overflow::Wait, SendMode::Send) => u64::MAX,
            (Overflow::DropOldest, _) => 2 * limit,
            _ => limit,
        }
    }

    /// Returns the number of queued messages, given the number counted in and the receiver's count.
    fn waiting_of(sent: u64, received: &AtomicU64) -> u64 {
        // WHY saturating: this thread may see the receiver's count before the corresponding send.
        // ORDER: relaxed: no data depends on it. A thread that synchronizes with the receiver sees
        // what was received by then; a sender on the wait list sees what was received when the list
        // was last released, through the list's lock.
        sent.saturating_sub(received.load(Ordering::Relaxed))
    }

    fn waiting(&self, received: &AtomicU64) -> u64 {
        Self::waiting_of(self.sent.load(Ordering::Relaxed), received)
    }

    /// Counts a message that is about to be pushed to `inbox`, whose receiver has counted `received`
    /// messages, or returns why it must not be.
    pub(crate) fn admit(&self, inbox: &State, received: &AtomicU64, mode: SendMode) -> Admission {
        let ceiling = self.ceiling(mode);
        let mut sent = self.sent.load(Ordering::Relaxed);
        loop {
            let waiting = Self::waiting_of(sent, received);
            if waiting >= ceiling {
                return self.refuse(inbox, mode);
            }
            // WHY not `fetch_add`: a count that is then taken back would shut out other senders.
            // ORDER: relaxed: the push that follows publishes the message.
            let (new, relaxed) = (sent + 1, Ordering::Relaxed);
            match self.sent.compare_exchange_weak(sent, new, relaxed, relaxed) {
                Ok(_) if waiting < u64::from(self.limit) => return Admission::Within,
                Ok(_) => return Admission::Past,
                Err(now) => sent = now,
            }
        }
    }

    /// Applies the policy to a message that finds the mailbox full.
    fn refuse(&self, inbox: &State, mode: SendMode) -> Admission {
        // WHY checked only here: messages queued at the end are never received, so a full mailbox
        // stays full.
        if inbox.is_closed() {
            return Admission::Ended;
        }
        match (self.overflow, mode) {
            (Overflow::Wait | Overflow::Reject, _) | (_, SendMode::Strict) => Admission::Full,
            (Overflow::DropNewest | Overflow::DropOldest, _) => {
                self.count(&self.totals.newest);
                Admission::Dropped
            }
        }
    }

    /// Returns whether a waiting sender may continue.
    pub(crate) fn has_capacity(&self, received: &AtomicU64) -> bool {
        self.waiting(received) < self.ceiling(SendMode::Strict)
    }

    /// Counts a message that no sender has counted.
    pub(crate) fn count_unadmitted(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Subtracts a message that left without being received.
    pub(crate) fn uncount(&self) {
        self.sent.fetch_sub(1, Ordering::Relaxed);
    }

    /// Raises the flag after a push past the limit. Returns whether the caller must wake the
    /// receiver.
    pub(crate) fn raise_flag(&self) -> bool {
        // ORDER: release to `lower_flag`: the count and the push.
        self.overflow == Overflow::DropOldest && !self.flag.swap(true, Ordering::Release)
    }

    /// Returns whether the flag is up. The result may be stale.
    pub(crate) fn is_flag_raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Lowers the flag before the receiver fetches. A sender that found the flag up had pushed
    /// before, and the fetch sees its message; a later sender wakes the receiver again.
    pub(crate) fn lower_flag(&self) {
        // ORDER: acquire from `raise_flag`.
        self.flag.swap(false, Ordering::Acquire);
    }

    /// Returns the number of queued messages in excess of the limit.
    pub(crate) fn excess(&self, received: &AtomicU64) -> u64 {
        self.waiting(received).saturating_sub(u64::from(self.limit))
    }

    /// Counts the oldest message as dropped.
    pub(crate) fn dropped_oldest(&self) {
        self.uncount();
        self.count(&self.totals.oldest);
    }
}
