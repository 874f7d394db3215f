//! Mailbox bound: counting, limit and overflow policy.
//!
//! A sender on any thread calls `admit` before it pushes. The receiver counts received messages in
//! any case, bounded or not. The number of queued messages is the difference of the two counts, and
//! receiving costs nothing extra. Messages that the receiver makes from signals bypass the limit and
//! are counted; no policy drops them. A message that leaves the mailbox without being received is
//! subtracted.
//!
//! Nothing here blocks, except briefly on the locks of the wait list and of the list of spilled
//! signals. No user code runs.
//!
//! # Dropping the oldest message
//!
//! Only the receiver can remove queued messages. Under [`Overflow::DropOldest`] the sender of a
//! message that finds the mailbox full *spills* it: it appends the message to a list behind a lock,
//! and drops the oldest message of the list if there are more than the limit allows. A bit in the
//! count of sent messages marks the list as in use. It directs all senders there, also with signals,
//! so that what one sender sends stays in order (M2). The sender that finds the list empty wakes the
//! receiver.
//!
//! When the receiver fetches at the beginning of a turn or after a wake, it takes the list, *then*
//! what is in the inbox, appends the list to that, and drops the oldest messages in excess of the
//! limit. A sender whose message is in the list pushed its earlier ones to the inbox before, so the
//! fetch finds them; it pushes none to the inbox before the bit is cleared. The receiver clears the
//! bit if nothing was spilled meanwhile, and wakes itself otherwise. The length of a mailbox does not
//! include the list.
//!
//! COST: one compare-and-swap per message, on a word that all senders write; a lock for a message that
//! is spilled, and a wake for the first one; 144 bytes in the cell of a bounded process, none in others.

use std::ptr::{self, NonNull};
use std::sync::{Arc, PoisonError};

use crate::inbox::batch::Batch;
use crate::inbox::header::{Class, Header};
use crate::inbox::state::State;
use crate::inbox::wait_list::WaitList;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Bit in the count of sent messages: senders append to the list of spilled signals.
const SPILLING: u64 = 1 << 63;

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
    /// Does not exceed the limit, except under [`Overflow::DropOldest`]; the message is not dropped
    /// by this send.
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
    /// Sent to a full mailbox with [`Overflow::DropNewest`].
    pub newest: std::sync::atomic::AtomicU64,
    /// The oldest queued message, dropped in favour of newer ones.
    pub oldest: std::sync::atomic::AtomicU64,
}

/// Bound of a mailbox.
#[derive(Debug)]
pub struct Bound {
    limit: u32,
    overflow: Overflow,
    /// Messages counted in, less those that left without being received; and [`SPILLING`].
    sent: AtomicU64,
    spilled: Mutex<Spilled>,
    pub(crate) wait_list: WaitList,
    /// Messages dropped by this mailbox.
    dropped: std::sync::atomic::AtomicU64,
    /// Drop counters shared by all mailboxes of the node core.
    totals: Arc<DropCounters>,
}

/// Signals that were sent to a full mailbox which drops its oldest messages.
#[derive(Debug)]
struct Spilled {
    signals: Batch,
    /// Number of messages among them.
    messages: usize,
    /// The signal before the oldest message, or the newest signal if there is no message; null if there
    /// is no such signal. WHY: the oldest message is then found in constant time.
    before: *mut Header,
}

// SAFETY: the list owns the envelopes, whose payloads are `Send`.
unsafe impl Send for Spilled {}

impl Spilled {
    const fn new() -> Self {
        Self { signals: Batch::empty(), messages: 0, before: ptr::null_mut() }
    }

    fn is_empty(&self) -> bool {
        self.signals.len == 0
    }

    fn push_message(&mut self, message: NonNull<Header>) {
        // SAFETY: the list owns its envelopes, among them this one from now on.
        unsafe { self.signals.push(message) };
        self.messages += 1;
    }

    /// Appends a signal that is not a message.
    fn push_signal(&mut self, signal: NonNull<Header>) {
        // SAFETY: as in `push_message`.
        unsafe { self.signals.push(signal) };
        if self.messages == 0 {
            self.before = signal.as_ptr();
        }
    }

    /// Removes the oldest message.
    fn pop_message(&mut self) -> Option<NonNull<Header>> {
        self.messages = self.messages.checked_sub(1)?;
        // SAFETY: the list owns its envelopes, and `before` is one of them or null.
        unsafe {
            let oldest = self.signals.take_after(self.before)?;
            let mut next = oldest.as_ref().next();
            while let Some(signal) = NonNull::new(next)
                && signal.as_ref().class() == Class::Signal
            {
                self.before = next;
                next = signal.as_ref().next();
            }
            Some(oldest)
        }
    }
}

/// Result of [`Bound::spill`].
#[derive(Debug)]
pub(crate) struct SpillOutcome {
    /// Whether the caller must schedule the receiver.
    pub(crate) schedule: bool,
    /// Message that the caller must drop.
    pub(crate) dropped: Option<NonNull<Header>>,
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
    /// Spill the message.
    Spill,
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
            sent: AtomicU64::new(0),
            spilled: Mutex::new(Spilled::new()),
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
            _ => limit,
        }
    }

    /// Returns the number of queued messages, given the number counted in and the receiver's count.
    fn waiting_of(sent: u64, received: &AtomicU64) -> u64 {
        // WHY saturating: this thread may see the receiver's count before the corresponding send.
        // ORDER: relaxed: no data depends on it. A thread that synchronizes with the receiver sees
        // what was received by then; a sender on the wait list sees what was received when the list
        // was last released, through the list's lock.
        (sent & !SPILLING).saturating_sub(received.load(Ordering::Relaxed))
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
            if waiting >= ceiling || sent & SPILLING != 0 {
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
            (Overflow::DropOldest, _) => Admission::Spill,
            (Overflow::Wait | Overflow::Reject, _) | (_, SendMode::Strict) => Admission::Full,
            (Overflow::DropNewest, _) => {
                self.count(&self.totals.newest);
                Admission::Dropped
            }
        }
    }

    /// Releases the waiting senders if there is capacity. Called by the receiver.
    pub(crate) fn release_waiters(&self, received: &AtomicU64) {
        // WHY not if the oldest is dropped: no sender waits then.
        if self.overflow != Overflow::DropOldest && self.has_capacity(received) {
            self.wait_list.wake_all();
        }
    }

    /// Returns whether a waiting sender may continue.
    pub(crate) fn has_capacity(&self, received: &AtomicU64) -> bool {
        self.overflow == Overflow::DropOldest
            || self.waiting(received) < self.ceiling(SendMode::Strict)
    }

    /// Counts a message that no sender has counted.
    pub(crate) fn count_unadmitted(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Subtracts a message that left without being received.
    pub(crate) fn uncount(&self) {
        self.sent.fetch_sub(1, Ordering::Relaxed);
    }

    fn lock_spilled(&self) -> MutexGuard<'_, Spilled> {
        // WHY ignore poisoning: no code panics while the lock is held.
        self.spilled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether senders append to the list of spilled signals. The result may be stale,
    /// except for a sender that has appended to it and for the receiver that it has woken.
    pub(crate) fn is_spilling(&self) -> bool {
        self.sent.load(Ordering::Relaxed) & SPILLING != 0
    }

    /// Appends a message to the list of spilled signals, and wakes the receiver if the list was empty.
    /// Returns `None` if the process has ended.
    ///
    /// WHY the wake under the lock: the receiver looks at the list only after a wake, and a second
    /// sender, which finds the list in use, relies on that of the first.
    pub(crate) fn spill(&self, inbox: &State, message: NonNull<Header>) -> Option<SpillOutcome> {
        let mut spilled = self.lock_spilled();
        if inbox.is_closed() {
            return None;
        }
        // ORDER: relaxed, here and where the bit is cleared: the lock orders what matters.
        self.sent.fetch_or(SPILLING, Ordering::Relaxed);
        let schedule = spilled.is_empty() && inbox.wake();
        spilled.push_message(message);
        let dropped = if spilled.messages > self.limit() { spilled.pop_message() } else { None };
        match dropped {
            None => self.count_unadmitted(),
            Some(_) => self.count(&self.totals.oldest),
        }
        Some(SpillOutcome { schedule, dropped })
    }

    /// Appends a signal that is not a message to the list, if senders still append to it, and wakes the
    /// receiver if the list was empty. Returns whether the caller must schedule it, or `None` if the
    /// caller must push the signal.
    pub(crate) fn spill_signal(&self, inbox: &State, signal: NonNull<Header>) -> Option<bool> {
        let mut spilled = self.lock_spilled();
        if !self.is_spilling() || inbox.is_closed() {
            return None;
        }
        let schedule = spilled.is_empty() && inbox.wake();
        spilled.push_signal(signal);
        Some(schedule)
    }

    /// Takes the spilled signals. The caller is the receiver, or has closed the inbox.
    pub(crate) fn take_spilled(&self) -> Batch {
        std::mem::replace(&mut *self.lock_spilled(), Spilled::new()).signals
    }

    /// Returns the number of queued messages in excess of the limit, not counting those in the list.
    pub(crate) fn excess(&self, received: &AtomicU64) -> u64 {
        let spilled = self.lock_spilled();
        let queued = self.waiting(received).saturating_sub(spilled.messages as u64);
        queued.saturating_sub(u64::from(self.limit))
    }

    /// Directs senders to the inbox again. Returns `false` if signals have been spilled meanwhile.
    pub(crate) fn end_spilling(&self) -> bool {
        let spilled = self.lock_spilled();
        let ends = spilled.is_empty();
        if ends {
            self.sent.fetch_and(!SPILLING, Ordering::Relaxed);
        }
        ends
    }

    /// Counts the oldest message as dropped.
    pub(crate) fn dropped_oldest(&self) {
        self.uncount();
        self.count(&self.totals.oldest);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
