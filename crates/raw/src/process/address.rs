//! Operations on a process that are open to every thread: send, signal, inspect.
//!
//! An [`Address`] knows the message type, a [`Ref`] does not. Both hold a reference, may be used
//! from any thread and outlive the process; a send to an ended process returns the message.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::RuntimeTypes;
use crate::inbox::bound::{Admission, Bound, Overflow, SendMode, SendOutcome};
use crate::inbox::header::{Class, Envelope, Header};
use crate::inbox::state::{Changed, PushOutcome};
use crate::memory::pool;
use crate::process::cell::{Base, Front, RUNNING, Runnable, bound, exit_status};
use crate::process::context::{
    count_send, exhaust_budget, is_running, running, sender_id, without_trace,
};
use crate::process::deferred_rc;
use crate::process::snapshot::Snapshot;
use crate::sync::Ordering;
use crate::table::Slot;
use crate::table::entry::TABLE_REFERENCES;

/// Reference to a process of any message type.
pub struct Ref<W: RuntimeTypes> {
    pub(super) base: NonNull<Base>,
    types: PhantomData<fn(W)>,
}

/// Reference to a process that receives `M`.
pub struct Address<W: RuntimeTypes, M> {
    to: Ref<W>,
    message: PhantomData<fn(M)>,
}

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

// SAFETY: everything reachable through a `Ref` is atomic, or `W::Shared`, which is `Sync`; the
// signals it sends are `Send`.
unsafe impl<W: RuntimeTypes> Send for Ref<W> {}
// SAFETY: as above.
unsafe impl<W: RuntimeTypes> Sync for Ref<W> {}

impl<W: RuntimeTypes> Clone for Ref<W> {
    fn clone(&self) -> Self {
        // SAFETY: the handle holds a reference.
        unsafe { deferred_rc::retain(self.base) };
        Self { base: self.base, types: PhantomData }
    }
}

impl<W: RuntimeTypes> Drop for Ref<W> {
    fn drop(&mut self) {
        // SAFETY: the handle holds a reference.
        unsafe { deferred_rc::release(self.base) }
    }
}

impl<W: RuntimeTypes> std::fmt::Debug for Ref<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ref").field(&self.slot()).finish()
    }
}

impl<W: RuntimeTypes> Ref<W> {
    /// # Safety
    /// `base` is a cell of this type family, and the handle takes over a reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        Self { base, types: PhantomData }
    }

    pub(super) fn base(&self) -> &Base {
        // SAFETY: the handle holds a reference.
        unsafe { self.base.as_ref() }
    }

    /// Returns the slot in the table, also after the process has ended.
    pub fn slot(&self) -> Slot {
        self.base().slot
    }

    /// Returns the state of the process that any thread may read.
    pub fn shared(&self) -> &W::Shared {
        // SAFETY: the handle holds a reference to a cell of this type family.
        unsafe { &self.base.cast::<Front<W>>().as_ref().shared }
    }

    /// Returns the exit status if the process has ended.
    pub fn exit_status(&self) -> Option<&W::ExitStatus> {
        if !self.has_ended() {
            return None;
        }
        // SAFETY: the handle holds a reference to a cell of this type family. The acquire load that
        // found the inbox closed synchronizes with `close`, before which the exit status was
        // written.
        unsafe { exit_status::<W>(self.base).as_ref().with(|last| Some(&*last)) }
    }

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

    /// Returns the type of its messages.
    pub fn message_type(&self) -> TypeId {
        (self.base().vtable.message)()
    }

    /// Converts to an address if the process receives messages of type `M`.
    pub fn typed<M: Send + 'static>(self) -> Result<Address<W, M>, Self> {
        if self.message_type() == TypeId::of::<M>() {
            Ok(Address { to: self, message: PhantomData })
        } else {
            Err(self)
        }
    }

    /// Returns the bound of its mailbox, if it has one.
    pub fn bound(&self) -> Option<&Bound> {
        // SAFETY: the handle holds a reference.
        unsafe { bound(self.base) }
    }

    /// Returns whether its mailbox has capacity for one more message. The result may be stale.
    pub(crate) fn has_capacity(&self) -> bool {
        self.bound().is_none_or(|bound| bound.has_capacity(&self.base().received))
    }

    /// Returns whether this thread is in a turn of the process.
    pub fn is_current(&self) -> bool {
        is_running(self.base)
    }

    /// Returns whether `runnable` is the right to run the process.
    #[inline]
    pub fn is_run_by(&self, runnable: &Runnable) -> bool {
        runnable.0 == self.base
    }

    /// Returns whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.base().inbox.is_closed()
    }

    /// Returns whether the process has ended and the contents of its inbox have been dropped, or
    /// handed to the layer above.
    pub fn is_drained(&self) -> bool {
        // ORDER: acquire from `end::close`: the messages have been dropped and counted.
        self.has_ended() && self.base().turn.load(Ordering::Acquire) & RUNNING == 0
    }

    /// Returns the number of queued messages. The result may be stale.
    pub fn mailbox_len(&self) -> usize {
        self.base().mailbox_len()
    }

    /// Returns the number of references to the process, including its own and, as one, the table's.
    /// This is an upper bound: it includes deferred releases and, while the process ends, all of the
    /// table's. A thread that finds only the references it knows of also sees what other holders
    /// sent before they released theirs.
    pub fn references(&self) -> u32 {
        // ORDER: acquire from `deferred_rc::count_down`: what holders of released references sent.
        let references = self.base().refs.load(Ordering::Acquire);
        // WHY after the load: the table's references are released after the inbox closes, so they
        // are in the count of a process whose inbox is still open.
        if self.has_ended() { references } else { references - (TABLE_REFERENCES - 1) }
    }

    /// Takes a snapshot of the process without stopping it.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::at(self.base())
    }

    /// Converts into a counted reference, which the caller must drop with `deferred_rc::release`.
    pub(crate) fn into_base(self) -> NonNull<Base> {
        std::mem::ManuallyDrop::new(self).base
    }

    /// Returns whether both refer to the same process.
    pub fn is_same(&self, other: &Self) -> bool {
        self.base == other.base
    }
}

/// Records, for snapshots, that the current process awaits a reply from `whom`, if that process
/// lives in the same node core. Call [`clear_waits_for`](crate::clear_waits_for) in a turn of the process to clear the
/// record; dropping an unfinished [`ReplyReceiver`](crate::ReplyReceiver) does so.
pub fn set_waits_for<W: RuntimeTypes>(whom: &Ref<W>) {
    let Some(base) = NonNull::new(running().cast_mut()) else { return };
    // SAFETY: as in `context::current_slot`.
    let base = unsafe { base.as_ref() };
    if whom.base().node == base.node {
        // SAFETY: this thread is in the turn of the process.
        let extension = unsafe { base.inbox.extend() };
        // ORDER: relaxed: read for statistics only.
        extension.waits_for.store(whom.slot().index() + 1, Ordering::Relaxed);
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
    unsafe { push(base, header, Class::Signal) }
}

/// Handles a message that was pushed past the limit.
///
/// # Safety
/// The caller holds a reference to the cell, and `bound` is its bound.
pub(crate) unsafe fn handle_excess(base: NonNull<Base>, bound: &Bound) -> SendOutcome {
    if bound.overflow() != Overflow::DropOldest {
        return SendOutcome::Past;
    }
    if is_running(base) {
        exhaust_budget();
    }
    // SAFETY: the caller keeps the cell alive. The wake has cleared `ASLEEP`, and a sleeping
    // process is in its table.
    unsafe {
        if bound.raise_flag() && base.as_ref().inbox.wake() {
            Runnable::new(base).schedule();
        }
    }
    SendOutcome::Done
}

impl<W: RuntimeTypes, M> Clone for Address<W, M> {
    fn clone(&self) -> Self {
        Self { to: self.to.clone(), message: PhantomData }
    }
}

impl<W: RuntimeTypes, M> std::ops::Deref for Address<W, M> {
    type Target = Ref<W>;

    fn deref(&self) -> &Ref<W> {
        &self.to
    }
}

impl<W: RuntimeTypes, M: Send + 'static> Address<W, M> {
    /// # Safety
    /// `base` is a cell of this type family and message type, and the handle takes over a
    /// reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        // SAFETY: by the contract.
        Self { to: unsafe { Ref::new(base) }, message: PhantomData }
    }

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

    /// Sends a message as [`Address::send`] does, and passes any outcome but
    /// [`SendOutcome::Done`] to `handle`.
    ///
    /// WHY no result: in the common case, a mailbox without a bound and an envelope from this thread's free
    /// list, nothing is called that returns here, so no register is saved.
    #[inline]
    pub fn send_with<F>(&self, message: M, mode: SendMode, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        let envelope = if self.to.bound().is_none() { pool::take_cached() } else { None };
        let Some(envelope) = envelope else { return self.send_uncommon(message, mode, handle) };
        // SAFETY: the handle holds a reference. The envelope is owned here, and its class and
        // payload are those of a message.
        unsafe {
            let header = Envelope::fill(envelope, Class::Message, message);
            let failed = if count_send() {
                None
            } else {
                match self.to.base().inbox.try_push(header, Class::Message) {
                    Ok(pushed) => {
                        schedule_after(self.to.base, pushed);
                        return;
                    }
                    Err(now) => Some(now),
                }
            };
            self.push_uncommon(header, failed, handle);
        }
    }

    /// [`Address::send_with`] to a bounded mailbox, or with a new envelope.
    #[cold]
    #[inline(never)]
    fn send_uncommon<F>(&self, message: M, mode: SendMode, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        let outcome = match self.to.bound() {
            Some(bound) => self.send_bounded(bound, message, mode),
            None => self.push_message(message),
        };
        if !matches!(outcome, Ok(SendOutcome::Done)) {
            handle(self, outcome);
        }
    }

    fn push_message(&self, message: M) -> Result<SendOutcome, SendError<M>> {
        let header = Envelope::seal(Class::Message, message);
        // SAFETY: the handle holds a reference. The envelope is owned here, and its class and
        // payload are those of a message.
        match unsafe { push(self.to.base, header, Class::Message) } {
            true => Ok(SendOutcome::Done),
            // SAFETY: a refused header is owned by the caller again.
            false => Err(SendError::NoProcess(unsafe { refused(header) })),
        }
    }

    /// Pushes the message of an [`Address::send_with`] whose first attempt has failed, or which is
    /// traced.
    ///
    /// # Safety
    /// The caller owns the envelope, and its payload is a message.
    #[cold]
    #[inline(never)]
    unsafe fn push_uncommon<F>(&self, header: NonNull<Header>, failed: Option<Changed>, handle: F)
    where
        F: FnOnce(&Self, Result<SendOutcome, SendError<M>>),
    {
        let base = self.to.base;
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

    fn send_bounded(
        &self,
        bound: &Bound,
        message: M,
        mode: SendMode,
    ) -> Result<SendOutcome, SendError<M>> {
        let cell = self.to.base();
        let entry = bound.admit(&cell.inbox, &cell.received, mode);
        match entry {
            Admission::Within | Admission::Past => {}
            Admission::Full => return Err(SendError::Full(message)),
            Admission::Dropped => return Ok(SendOutcome::Done),
            Admission::Ended => return Err(SendError::NoProcess(message)),
        }
        let sent = self.push_message(message)?;
        if entry == Admission::Past {
            // SAFETY: the handle holds a reference.
            return Ok(unsafe { handle_excess(self.to.base, bound) });
        }
        Ok(sent)
    }

    /// Converts to a reference without the message type.
    pub fn untyped(self) -> Ref<W> {
        self.to
    }
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
