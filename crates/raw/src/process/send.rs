//! Sending: pushes of messages and signals onto the inbox of a process, from any thread.
//!
//! A send to an ended process returns the message.

use std::ptr::NonNull;

use crate::RuntimeTypes;
use crate::inbox::bound::{Admission, Bound, SendMode, SendOutcome, SpillOutcome};
use crate::inbox::header::{Class, Envelope, Header};
use crate::inbox::state::{Changed, PushOutcome};
use crate::memory::pool;
use crate::process::address::{Address, Ref};
use crate::process::cell::{Base, Runnable, bound};
use crate::process::context::{count_send, sender_id, without_trace};
use crate::process::discard::discard;

/// Error of a send, with the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<M> {
    /// The process has ended: Erlang's `noproc`.
    NoProcess(M),
    /// The mailbox of the process is full.
    Full(M),
}

impl<M> SendError<M> {
    /// Returns the message.
    pub fn into_inner(self) -> M {
        match self {
            Self::NoProcess(message) | Self::Full(message) => message,
        }
    }
}

impl<M> std::fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoProcess(_) => "NoProcess(..)",
            Self::Full(_) => "Full(..)",
        })
    }
}

impl<M> std::fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoProcess(_) => "noproc: sending to a process that has ended",
            Self::Full(_) => "sending to a process whose mailbox is full",
        })
    }
}

impl<M> std::error::Error for SendError<M> {}

impl<W: RuntimeTypes> Ref<W> {
    /// Sends a signal, in order with messages. Returns it if the process has ended.
    ///
    /// WHY inlined up to the push: the caller then builds the signal in its envelope. A signal
    /// built on the stack and read back with wider loads than it was stored with costs a
    /// store-forwarding stall.
    #[inline]
    pub fn signal(&self, signal: W::Signal) -> Result<(), W::Signal> {
        let header = Envelope::seal(Class::Signal, signal);
        // SAFETY: the handle holds a reference. The envelope is owned here, and its class and
        // payload are those of a signal.
        match unsafe { push_signal(self.base, header) } {
            true => Ok(()),
            // SAFETY: a refused header is owned by the caller again.
            false => Err(unsafe { Envelope::<W::Signal>::open(header) }.0),
        }
    }
}

impl<W: RuntimeTypes, M: Send + 'static> Address<W, M> {
    /// Sends a message, to a bounded mailbox in the given mode. Returns it if the process has ended
    /// or the mailbox is full.
    ///
    /// COST: one allocation of `8 + size_of::<M>()` bytes, one compare-and-swap; with a bound one
    /// more compare-and-swap.
    #[inline]
    pub fn send(&self, message: M, mode: SendMode) -> Result<SendOutcome, SendError<M>> {
        let mut sent = Ok(SendOutcome::Done);
        self.send_with(message, mode, |_, outcome| sent = outcome);
        sent
    }

    /// Sends a message as [`Address::send`] does, and passes any outcome but [`SendOutcome::Done`]
    /// to `handle`.
    ///
    /// WHY no result, and three functions: with no bound and an envelope from this thread's free
    /// list, nothing is called that returns here, so no register is saved.
    #[inline]
    pub fn send_with<F>(&self, message: M, mode: SendMode, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        self.send_made(|| message, mode, handle);
    }

    /// Makes a message in its envelope and sends it as [`Address::send_with`] does.
    ///
    /// WHY: a message that is made before is stored on the stack, and read from there with other
    /// widths than it was stored with, which costs a store-forwarding stall.
    #[inline]
    pub fn send_made<F>(&self, make: impl FnOnce() -> M, mode: SendMode, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        if self.bound().is_some() {
            return self.send_bounded(make(), mode, handle);
        }
        match pool::take_cached() {
            // SAFETY: the block was taken for this type.
            Some(envelope) => unsafe { self.push_in(envelope, make, handle) },
            None => self.push_in_fresh(make, handle),
        }
    }

    /// [`Address::send_with`] if this thread's free list is empty.
    #[inline(never)]
    fn push_in_fresh<F>(&self, make: impl FnOnce() -> M, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        // SAFETY: the block is taken for this type.
        unsafe { self.push_in(pool::take(), make, handle) }
    }

    /// Pushes a message in a given envelope. Calls `handle` if the process has ended.
    ///
    /// # Safety
    /// The envelope was taken for this type, and is owned by the caller.
    #[inline(always)]
    unsafe fn push_in<F>(&self, envelope: NonNull<Envelope<M>>, make: impl FnOnce() -> M, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        // SAFETY: by the contract; the handle holds a reference. The class and the payload of the
        // envelope are those of a message.
        unsafe {
            let header = Envelope::fill_with(envelope, Class::Message, make);
            let failed = if count_send() {
                None
            } else {
                match self.base().inbox.try_push(header, Class::Message) {
                    Ok(pushed) => {
                        schedule_after(self.base, pushed);
                        return;
                    }
                    Err(now) => Some(now),
                }
            };
            self.push_uncommon(header, failed, handle);
        }
    }

    /// [`Address::push_in`] if the first attempt has failed, or the turn is traced.
    ///
    /// # Safety
    /// The caller owns the envelope, and its payload is a message.
    #[cold]
    #[inline(never)]
    unsafe fn push_uncommon<F>(&self, header: NonNull<Header>, failed: Option<Changed>, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        let base = self.base;
        // SAFETY: by the contract; the handle holds a reference. A refused header is owned by the
        // caller again.
        unsafe {
            let pushed = match failed {
                None => push_traced(base, header, Class::Message),
                Some(now) => {
                    let inbox = &base.as_ref().inbox;
                    schedule_after(base, inbox.push_on(header, Class::Message, now, sender_id()))
                }
            };
            if !pushed {
                handle(self, Err(SendError::NoProcess(refused(header))));
            }
        }
    }

    /// [`Address::send_with`] to a bounded mailbox.
    #[cold]
    #[inline(never)]
    fn send_bounded<F>(&self, message: M, mode: SendMode, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        let Some(bound) = self.bound() else { unreachable!("`send_with` has found the bound") };
        let cell = self.base();
        let outcome = match bound.admit(&cell.inbox, &cell.received, mode) {
            Admission::Full => Err(SendError::Full(message)),
            Admission::Dropped => Ok(SendOutcome::Done),
            Admission::Ended => Err(SendError::NoProcess(message)),
            Admission::Spill => {
                let header = Envelope::seal(Class::Message, message);
                // SAFETY: as for `push` below.
                unsafe {
                    match spill(self.base, bound, header) {
                        true => Ok(SendOutcome::Done),
                        false => Err(SendError::NoProcess(refused(header))),
                    }
                }
            }
            entry @ (Admission::Within | Admission::Past) => {
                let header = Envelope::seal(Class::Message, message);
                // SAFETY: the handle holds a reference. The envelope is owned here, and its class
                // and payload are those of a message; a refused header is owned here again.
                unsafe {
                    if !push(self.base, header, Class::Message) {
                        Err(SendError::NoProcess(refused(header)))
                    } else if entry == Admission::Past {
                        Ok(SendOutcome::Past)
                    } else {
                        Ok(SendOutcome::Done)
                    }
                }
            }
        };
        if !matches!(outcome, Ok(SendOutcome::Done)) {
            handle(self, outcome);
        }
    }
}

/// Pushes a signal, and schedules the process if the push woke it. Returns `false` if the process
/// has ended; the caller then owns the header again.
///
/// # Safety
/// The caller holds a reference to the cell. As for `State::push`; the payload type is the one of
/// `class` in this cell.
#[inline(always)]
pub(crate) unsafe fn push(base: NonNull<Base>, header: NonNull<Header>, class: Class) -> bool {
    if count_send() {
        // SAFETY: by the contract.
        return unsafe { push_traced(base, header, class) };
    }
    // SAFETY: by the contract.
    unsafe { push_on(base, header, class) }
}

/// [`push`] without tracing.
///
/// # Safety
/// As for [`push`].
#[inline(always)]
unsafe fn push_on(base: NonNull<Base>, header: NonNull<Header>, class: Class) -> bool {
    // SAFETY: by the contract.
    unsafe { schedule_after(base, base.as_ref().inbox.push(header, class, sender_id)) }
}

/// Schedules the process if a push requires it. Returns `false` if the process has ended.
///
/// # Safety
/// The caller holds a reference to the cell, and has just pushed, with this outcome.
#[inline(always)]
unsafe fn schedule_after(base: NonNull<Base>, pushed: PushOutcome) -> bool {
    match pushed {
        PushOutcome::Queued => true,
        PushOutcome::Schedule => {
            // SAFETY: the push has cleared `ASLEEP`.
            unsafe { Runnable::new(base) }.schedule();
            true
        }
        PushOutcome::Closed => false,
    }
}

/// Passes the signal to [`RuntimeTypes::sent`], then pushes it.
///
/// WHY both in one function: nothing is live across the call, so the untraced path saves no
/// registers.
///
/// # Safety
/// As for [`push`].
#[cold]
#[inline(never)]
unsafe fn push_traced(base: NonNull<Base>, header: NonNull<Header>, class: Class) -> bool {
    // SAFETY: by the contract; the vtable belongs to the cell.
    unsafe {
        without_trace(|| (base.as_ref().vtable.sent)(base, header));
        push_on(base, header, class)
    }
}

/// [`push`] for a signal, compiled once for all type families.
///
/// # Safety
/// As for [`push`].
unsafe fn push_signal(base: NonNull<Base>, header: NonNull<Header>) -> bool {
    // SAFETY: by the contract.
    unsafe {
        match bound(base).filter(|bound| bound.is_spilling()) {
            None => push(base, header, Class::Signal),
            Some(bound) => spill_signal(base, bound, header),
        }
    }
}

/// Spills a message to a full mailbox that drops its oldest messages. Returns `false` if the
/// process has ended; the caller then owns the header again.
///
/// # Safety
/// As for [`push`], of a message; `bound` is that of the cell.
#[cold]
pub(crate) unsafe fn spill(base: NonNull<Base>, bound: &Bound, header: NonNull<Header>) -> bool {
    // SAFETY: by the contract. The wake has cleared `ASLEEP`, and a sleeping process is in its table.
    unsafe {
        if count_send() {
            without_trace(|| (base.as_ref().vtable.sent)(base, header));
        }
        let Some(SpillOutcome { schedule, dropped }) = bound.spill(&base.as_ref().inbox, header)
        else {
            return false;
        };
        if schedule {
            Runnable::new(base).schedule();
        }
        // The message is of the cell's type.
        if let Some(message) = dropped {
            discard(base.as_ref().vtable.discard, message);
        }
    }
    true
}

/// [`push_signal`] while senders append to the list of spilled signals.
///
/// # Safety
/// As for [`push_signal`]; `bound` is that of the cell.
#[cold]
unsafe fn spill_signal(base: NonNull<Base>, bound: &Bound, header: NonNull<Header>) -> bool {
    // SAFETY: by the contract; as in `spill`.
    unsafe {
        if count_send() {
            without_trace(|| (base.as_ref().vtable.sent)(base, header));
        }
        match bound.spill_signal(&base.as_ref().inbox, header) {
            None => return push_on(base, header, Class::Signal),
            Some(true) => Runnable::new(base).schedule(),
            Some(false) => {}
        }
    }
    true
}

/// Opens an envelope that was not delivered.
///
/// # Safety
/// As for [`Envelope::open`].
#[cold]
unsafe fn refused<T>(header: NonNull<Header>) -> T {
    // SAFETY: by the contract.
    unsafe { Envelope::<T>::open(header) }.0
}
