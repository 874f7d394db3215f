//! Inbox state word: process state and the stack of arrived signals, or the set of non-empty
//! shards, in one atomic word.
//!
//! Any thread may `push` and `wake`. Only the receiver, the worker that runs the process, may
//! `take`, `sleep` and `close`. Nothing here runs user code. Only the extension, the first
//! installation of shards, and the first push onto a stack of [`COUNT_MAX`] headers allocate.
//!
//! # Layout
//!
//! ```text
//!    63    62      48 47                     4      3        2       1        0
//! +--------+----------+------------------------+--------+-------+-------+--------+
//! |   0    |  count   | newest header, or null | SIGNAL | DEAF  | WOKEN | ASLEEP |
//! | SHARDS |  epoch   | a bit for each shard   |        |       |       |        |
//! +--------+----------+------------------------+--------+-------+-------+--------+
//! ```
//!
//! `count` is the number of headers in the stack; what its bits cannot hold is [carried] to a
//! counter with the shards, which are allocated if necessary. `SIGNAL` is set once a signal that is
//! not a message has arrived. `SHARDS` says that the inbox is sharded; the word then holds the epoch
//! and one bit per shard. The other three flags are the process state:
//!
//! | flags | meaning | left by |
//! |---|---|---|
//! | none | scheduled or running | the receiver, by `sleep` or `close` |
//! | `WOKEN` | scheduled or running, and woken since the turn began | the receiver, at its next turn |
//! | `ASLEEP` | in no run queue; any signal wakes it | a sender or waker, which must schedule the process |
//! | `ASLEEP`, `DEAF` | the same, but a message does not wake it; messages may be queued | a waker, or the sender of another signal |
//! | all four, and `SHARDS` | closed (final) | never left |
//!
//! INVARIANT: the thread whose RMW clears `ASLEEP` holds the only right to schedule the process.
//!
//! # Shards
//!
//! When too many pushes of a batch were contended, the receiver installs shards: the swap
//! that empties the stack leaves `SHARDS` and the number of a new epoch in the word. From then on
//! each sender pushes into its shard. If the shard was empty, or the pushed signal is not a
//! message, the sender also *announces* it: it sets the shard's bit in the word, with the same
//! effect on a sleeping process as a push. A take swaps the bits out and then empties the shards
//! they name.
//!
//! Removal swaps the word back to an empty stack, then freezes all shards and takes their contents,
//! within one take. So the stack holds only older signals than the shards at installation, and only
//! newer ones at removal: the order of each sender is preserved (M2).
//!
//! INVARIANT: if an open shard is not empty, its bit is set, or the sender that found it empty is
//! about to set it. A sender that finds the epoch ended need not announce: the take that ended the
//! epoch, or the close, freezes the shards and takes their contents.
//!
//! # Memory ordering
//!
//! Every change of the word is a read-modify-write. So its modification order is total, and a later
//! RMW continues the release sequence of an earlier one.
//!
//! - A push releases the payload; the `take` that returns it acquires.
//! - `sleep` releases the receiver's state; the thread that clears `ASLEEP` acquires it and passes
//!   it on through the run queue.
//! - A wake releases what happened before it; the `take` at the beginning of the next turn
//!   acquires.
//! - Installation releases the shards; senders acquire the word before they follow the pointer.
//!
//! COST: one compare-and-swap per push, one swap per batch, one compare-and-swap per sleep; 16
//! bytes. With shards: the cost in `shards`, and one compare-and-swap here per shard and batch.
//!
//! [carried]: crate::inbox::carry

mod sharded;
pub(super) mod word;

use std::ptr::{self, NonNull};

use word::{
    ASLEEP, CLOSED, COUNT_MAX, COUNT_SHIFT, DEAF, HEADER, SIGNAL, WOKEN, arrival, count, epoch,
    flags, has_room, has_shards, header, is_closed, is_quiet, is_single,
};

use crate::inbox::batch::Batch;
use crate::inbox::carry::{add_one, carried};
use crate::inbox::extension::Extension;
use crate::inbox::header::{CONTENDED, Class, Header};
use crate::inbox::shards::{Contention, Shards};
use crate::sync::{AtomicPtr, Ordering};

/// Result of a push: what the sender must do next.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushOutcome {
    /// Nothing: the receiver will see the signal.
    Queued,
    /// Schedule the receiver: this push woke it, and no other thread schedules it.
    Schedule,
    /// Take the envelope back: the receiver has ended.
    Closed,
}

/// Result of going to sleep: what the receiver must do next.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SleepOutcome {
    /// Stop accessing the process: another thread may already be running it.
    Asleep,
    /// Run again: a wake, or a signal the receiver has to handle, has arrived.
    Again,
}

/// Result of [`State::take_single`].
#[derive(Debug)]
pub enum SingleTake {
    /// The only queued message; it has been taken.
    Message(NonNull<Header>),
    /// The inbox is empty.
    Nothing,
    /// More than one signal, or something other than a plain message; use [`State::take`].
    Others,
}

/// Word that [`State::try_push`] found in place of the one it had read; null, the word of an empty
/// inbox, if it made no attempt.
#[derive(Debug, Clone, Copy)]
pub struct Changed(*mut Header);

/// Contents of the state word when the receiver emptied it.
#[derive(Debug)]
pub struct Drained {
    /// Signals that arrived.
    pub arrived: Batch,
    /// Whether a wake came since the previous take.
    pub woken: bool,
}

/// Inbox: the state word, and its extension once the receiver has needed one.
#[derive(Debug)]
pub struct State {
    word: AtomicPtr<Header>,
    /// Null until the receiver needs it or a stack is longer than its count; then valid until the
    /// inbox is dropped.
    pub(super) extension: AtomicPtr<Extension>,
}

/// Marks a header as contended if its compare-and-swap lost to another sender. A compare-and-swap
/// lost to the receiver, which emptied the stack or changed the mode, does not count.
///
/// # Safety
/// The caller owns the header.
unsafe fn note_contention(new: NonNull<Header>, now: *mut Header) {
    if !has_shards(now) && !header(now).is_null() {
        // SAFETY: by the contract.
        unsafe { new.as_ref().set_tag(CONTENDED) };
    }
}

/// Pairs the batch with the flags of the word that a take found.
#[inline(always)]
fn taken(word: *mut Header, arrived: Batch) -> Drained {
    debug_assert!(flags(word) & (ASLEEP | DEAF) == 0, "the owner takes while it sleeps");
    Drained { arrived, woken: flags(word) & WOKEN != 0 }
}

impl State {
    /// Creates the inbox of a process that is about to be scheduled for the first time.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { word: AtomicPtr::new(ptr::null_mut()), extension: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Pushes a signal. On [`PushOutcome::Closed`] the caller owns the header again. `sender`
    /// returns the sender's number, always the same for one sender; it is called only where it can
    /// matter.
    ///
    /// # Safety
    /// The caller owns the header, which is in the state made by [`Header::new`] and has an address
    /// of 48 bits of which four are zero, and gives it away, except on [`PushOutcome::Closed`].
    #[inline]
    pub unsafe fn push(
        &self,
        new: NonNull<Header>,
        class: Class,
        sender: impl Fn() -> u32,
    ) -> PushOutcome {
        // SAFETY: by the contract; a failed push leaves the header with the caller.
        unsafe {
            self.try_push(new, class).unwrap_or_else(|now| self.push_on(new, class, now, sender()))
        }
    }

    /// Pushes a signal in the two cases that cover most pushes: onto the empty inbox of a sleeping
    /// process, and a message onto a stack. In any other case, and if the word changes meanwhile,
    /// returns what [`State::push_on`] takes.
    ///
    /// # Safety
    /// As for [`State::push`]; on an error the caller owns the header again.
    #[inline(always)]
    pub unsafe fn try_push(
        &self,
        new: NonNull<Header>,
        class: Class,
    ) -> Result<PushOutcome, Changed> {
        debug_assert_eq!(new.addr().get() & !HEADER, 0, "not the address of an envelope");
        // SAFETY: by the contract.
        debug_assert!(unsafe { new.as_ref().next() }.is_null(), "a link that was sent before");
        let word = self.word.load(Ordering::Relaxed);
        // ORDER: release to `take`: the payload. Acquire from `sleep`: the receiver's state, needed
        // only if this push clears `ASLEEP`.
        let (order, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
        let exchange = |next| self.word.compare_exchange_weak(word, next, order, relaxed);
        if word.addr() == ASLEEP {
            let signal = if class == Class::Signal { SIGNAL } else { 0 };
            let next = new.as_ptr().map_addr(|addr| addr | signal | 1 << COUNT_SHIFT);
            exchange(next).map(|_| PushOutcome::Schedule).map_err(Changed)
        } else if class == Class::Message && has_room(word) {
            debug_assert_ne!(flags(word) & (ASLEEP | DEAF), ASLEEP, "such a sleeper has no mail");
            // SAFETY: the header is the caller's until the exchange below succeeds.
            unsafe { new.as_ref().set_next_untagged(header(word)) };
            let rest = word.addr().wrapping_add(1 << COUNT_SHIFT) & !HEADER;
            let next = new.as_ptr().map_addr(|addr| addr | rest);
            exchange(next).map(|_| PushOutcome::Queued).map_err(Changed)
        } else {
            Err(Changed(ptr::null_mut()))
        }
    }

    /// Tries to push onto a stack whose state was `word`, read with acquire. Returns the current
    /// word if it has changed.
    ///
    /// # Safety
    /// As for `push`; on failure the caller owns the header again.
    #[inline(always)]
    unsafe fn push_once(
        &self,
        word: *mut Header,
        new: NonNull<Header>,
        class: Class,
    ) -> Result<PushOutcome, *mut Header> {
        // SAFETY: the header is the caller's until the exchange below succeeds.
        unsafe { new.as_ref().set_next(header(word)) };
        let (flags, wakes) = arrival(word, class);
        let (count, carried) = add_one(count(word), COUNT_MAX);
        let next = new.as_ptr().map_addr(|addr| addr | flags | count << COUNT_SHIFT);
        // ORDER: release to `take`: the payload. The caller's acquire load of `word` already
        // synchronizes with `sleep`.
        self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed)?;
        if carried > 0 {
            self.shards_or_new().add_carried(carried);
        }
        Ok(if wakes { PushOutcome::Schedule } else { PushOutcome::Queued })
    }

    /// Slow path of [`State::push`]: another sender won the race, the inbox is sharded or closed.
    ///
    /// # Safety
    /// As for [`State::push`].
    #[cold]
    #[inline(never)]
    pub unsafe fn push_on(
        &self,
        new: NonNull<Header>,
        class: Class,
        now: Changed,
        sender: u32,
    ) -> PushOutcome {
        // SAFETY: by the contract.
        unsafe { note_contention(new, now.0) };
        loop {
            // ORDER: acquire from `install_shards` (the shards) and from `sleep`.
            let word = self.word.load(Ordering::Acquire);
            if is_closed(word) {
                return PushOutcome::Closed;
            }
            // SAFETY: by the contract; a failed attempt leaves the header with the caller.
            let pushed = unsafe {
                match has_shards(word) {
                    true => self.push_to_shard(word, new, class, sender),
                    false => self
                        .push_once(word, new, class)
                        .inspect_err(|&now| note_contention(new, now))
                        .ok(),
                }
            };
            if let Some(pushed) = pushed {
                return pushed;
            }
        }
    }

    /// Wakes the process. Returns `true` if the caller must schedule it.
    #[must_use]
    #[inline]
    pub fn wake(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if is_closed(word) {
                return false;
            }
            let old = flags(word);
            let asleep = old & ASLEEP != 0;
            let woken = if asleep { 0 } else { WOKEN };
            let next = word.map_addr(|addr| (addr & !(ASLEEP | DEAF)) | woken);
            // WHY an RMW even if no flag changes: what happened before *this* wake has to be
            // released too.
            // ORDER: release to `take`; acquire from `sleep`, as in `push`.
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return asleep,
                Err(now) => word = now,
            }
        }
    }

    /// Takes everything that arrived, and a pending wake. Updates `contention` and installs or
    /// removes shards accordingly.
    ///
    /// # Safety
    /// The caller is the receiver: it holds the right to run the process, which is awake.
    // WHY `inline(always)`: returned from a call, the batch would go through memory.
    #[inline(always)]
    pub unsafe fn take(&self, contention: &mut Contention) -> Drained {
        // ORDER: relaxed suffices to see an empty inbox; the swap acquires what has arrived.
        let word = self.word.load(Ordering::Relaxed);
        if is_quiet(word) {
            return Drained { arrived: Batch::empty(), woken: false };
        }
        if has_shards(word) || contention.wants_shards() {
            let mut arrived = Batch::empty();
            // SAFETY: by the contract.
            let word = unsafe { self.take_from_shards(contention, &mut arrived) };
            // WHY not `arrived` itself: the batch of an ordinary take then stays in registers.
            return taken(word, Batch { ..arrived });
        }
        // ORDER: acquire from `push` (the payloads) and from `wake`. No release: a sender reads
        // nothing written by the receiver unless it clears `ASLEEP`, which `sleep` releases.
        let word = self.word.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the swap transferred the stack to this thread.
        let arrived = unsafe { Batch::reverse(header(word)) };
        contention.count_stacked(&arrived);
        if arrived.len > COUNT_MAX {
            self.shards_or_new().remove_carried(carried(arrived.len, COUNT_MAX));
        }
        taken(word, arrived)
    }

    /// Takes the queued signal if it is a single plain message, the most common case of a receive
    /// that finds anything.
    ///
    /// # Safety
    /// As for [`State::take`].
    #[inline]
    pub unsafe fn take_single(&self, contention: &mut Contention) -> SingleTake {
        let word = self.word.load(Ordering::Relaxed);
        if is_quiet(word) {
            return SingleTake::Nothing;
        }
        if !is_single(word) || !contention.is_calm() {
            return SingleTake::Others;
        }
        // ORDER: as the swap in `take`.
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        if self.word.compare_exchange(word, ptr::null_mut(), acquire, relaxed).is_err() {
            return SingleTake::Others;
        }
        // SAFETY: a count of one means a non-null header, which the exchange transferred here.
        unsafe {
            let single = NonNull::new_unchecked(header(word));
            contention.count_single(single.as_ref().tags());
            SingleTake::Message(single)
        }
    }

    /// Puts the process to sleep unless it has work.
    ///
    /// With `deaf` the process may sleep on unread messages. An unseen wake, or a signal that is
    /// not a message, still prevents it from sleeping.
    ///
    /// # Safety
    /// As for [`State::take`]. On [`SleepOutcome::Asleep`] the caller has given up the right to run
    /// the process.
    #[inline]
    pub unsafe fn sleep(&self, deaf: bool) -> SleepOutcome {
        // ORDER: release to the thread that clears `ASLEEP`: everything written in this turn.
        // Relaxed on failure: nothing is read through the word.
        let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
        let sleeper = ptr::without_provenance_mut(ASLEEP);
        // WHY a separate attempt: most turns end this way, and it needs no computation.
        if !deaf && self.word.compare_exchange(ptr::null_mut(), sleeper, release, relaxed).is_ok() {
            return SleepOutcome::Asleep;
        }
        let asleep = if deaf { ASLEEP | DEAF } else { ASLEEP };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if flags(word) & (WOKEN | SIGNAL) != 0 || !deaf && !is_quiet(word) {
                return SleepOutcome::Again;
            }
            let next = word.map_addr(|addr| addr | asleep);
            match self.word.compare_exchange(word, next, release, relaxed) {
                Ok(_) => return SleepOutcome::Asleep,
                Err(now) => word = now,
            }
        }
    }

    /// Closes the inbox for good and returns what was queued.
    ///
    /// # Safety
    /// As for [`State::take`]; the exit status has been written.
    pub unsafe fn close(&self) -> Batch {
        // ORDER: acquire from `push` (the payloads). Release to threads that find the inbox closed
        // and then read the exit status.
        let word = self.word.swap(ptr::without_provenance_mut(CLOSED), Ordering::AcqRel);
        // SAFETY: by the contract; the swap transferred the stack or the shards to this thread.
        unsafe { self.last_of(word) }
    }

    /// Returns what is queued.
    ///
    /// # Safety
    /// As for [`State::take`]. No other reference to the process exists, and its inbox is not used
    /// again.
    pub unsafe fn take_exclusive(&self) -> Batch {
        // ORDER: relaxed: each push happened before its sender released its reference, and the
        // caller acquired those releases when it found its references to be the only ones.
        // SAFETY: by the contract.
        unsafe { self.last_of(self.word.load(Ordering::Relaxed)) }
    }

    /// Drains the stack or the shards for the last time.
    ///
    /// # Safety
    /// The caller is the receiver and owns the stack, or the shards, of the word.
    unsafe fn last_of(&self, word: *mut Header) -> Batch {
        // SAFETY: by the contract.
        unsafe {
            match has_shards(word) {
                true => self.known_shards().freeze(epoch(word)),
                false => Batch::reverse(header(word)),
            }
        }
    }

    /// Returns whether the process has ended.
    pub fn is_closed(&self) -> bool {
        // ORDER: acquire from `close`: the exit status may be read afterwards.
        is_closed(self.word.load(Ordering::Acquire))
    }

    /// Returns `None` if the process is awake or closed, else whether it sleeps with `DEAF` set.
    /// The result may be stale.
    pub fn asleep(&self) -> Option<bool> {
        let word = self.word.load(Ordering::Relaxed);
        let asleep = !is_closed(word) && flags(word) & ASLEEP != 0;
        asleep.then_some(flags(word) & DEAF != 0)
    }

    /// Returns the number of queued signals. The result may be stale.
    pub fn count(&self) -> usize {
        // ORDER: acquire from `install_shards`: the shards.
        let word = self.word.load(Ordering::Acquire);
        match has_shards(word) {
            false => count(word) + self.allocated_shards().map_or(0, Shards::carried),
            true if is_closed(word) => 0,
            // SAFETY: the load above found the inbox sharded.
            true => unsafe { self.known_shards() }.count(),
        }
    }

    /// Returns whether a wake, or a signal that is not a message, arrived since the last `take`.
    #[inline]
    pub fn has_signals(&self) -> bool {
        flags(self.word.load(Ordering::Relaxed)) & (WOKEN | SIGNAL) != 0
    }

    /// Returns whether a signal or a wake arrived since the last `take`.
    #[inline]
    pub fn has_arrivals(&self) -> bool {
        !is_quiet(self.word.load(Ordering::Relaxed))
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
