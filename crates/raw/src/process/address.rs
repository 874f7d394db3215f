//! References to a process that every thread may hold; `send` has what they send.
//!
//! An [`Address`] knows the message type, a [`Ref`] does not. Both hold a reference, may be used
//! from any thread and outlive the process.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::RuntimeTypes;
use crate::inbox::bound::Bound;
use crate::process::cell::{Base, Front, RUNNING, Runnable, bound, exit_status};
use crate::process::context::{is_running, running};
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
        // are in the count of a process whose inbox is still open. WHY saturating: look-ups that are
        // in progress when the process leaves the table release some of them before.
        if self.has_ended() {
            references
        } else {
            references.saturating_sub(TABLE_REFERENCES - 1).max(1)
        }
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

    /// Converts to a reference without the message type.
    pub fn untyped(self) -> Ref<W> {
        self.to
    }
}
