//! Process's handle on itself, and its access to what only a running turn may use.
//!
//! An [`Owner`] may be moved to any thread. [`Owner::in_turn`] grants access to the private state
//! and the mailbox, and only on the thread that is in a turn of the process.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::Waker;

use crate::RuntimeTypes;
use crate::process::address::Address;
use crate::process::cell::{Base, HANDLE_DROPPED, LOCAL_AFFECTS_TURN};
use crate::process::context::{is_running, on_local, read_local};
use crate::process::deferred_rc;
use crate::process::mailbox::Mailbox;
use crate::process::waker;
use crate::sync::Ordering;

/// Process's handle on itself. Holds a reference.
pub struct Owner<W: RuntimeTypes, M> {
    /// WHY not dropped: the drop of the handle may leave the reference to the end of the process.
    address: ManuallyDrop<Address<W, M>>,
    /// WHY: invariant in `M`, because an owner sends and receives.
    receives: PhantomData<fn() -> M>,
}

/// Process during its turn, on the thread of the turn.
///
/// INVARIANT: the lifetime `'t` ends before the turn does, and the value does not leave its thread.
pub struct InTurn<'t, W: RuntimeTypes, M> {
    owner: &'t Owner<W, M>,
    not_send: PhantomData<*const ()>,
}

impl<W: RuntimeTypes, M> Deref for Owner<W, M> {
    type Target = Address<W, M>;

    fn deref(&self) -> &Address<W, M> {
        &self.address
    }
}

impl<W: RuntimeTypes, M> Drop for Owner<W, M> {
    fn drop(&mut self) {
        if self.is_current() {
            // WHY: a process lives at least as long as its turn; its end releases the reference.
            self.base().set_flag(HANDLE_DROPPED);
        } else {
            // SAFETY: the handle held a reference and does not access the cell again.
            unsafe { deferred_rc::release(self.base) }
        }
    }
}

impl<W: RuntimeTypes, M: Send + 'static> Owner<W, M> {
    /// # Safety
    /// `base` is a cell of this type family and message type, and the handle takes over a
    /// reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        // SAFETY: by the contract.
        let address = ManuallyDrop::new(unsafe { Address::new(base) });
        Self { address, receives: PhantomData }
    }

    /// Calls `f` if this thread is in a turn of the process, otherwise `or_else`.
    // WHY inlined, and no `Result`: a received message is otherwise copied through the results of
    // the closures: 24.7 instead of 17.6 ns per message of `bandwidth`.
    #[inline(always)]
    pub fn in_turn<R>(
        &self,
        f: impl FnOnce(InTurn<'_, W, M>) -> R,
        or_else: impl FnOnce() -> R,
    ) -> R {
        if !is_running(self.base) {
            return or_else();
        }
        // SAFETY: the turn is on this thread's stack below `f`, which is generic in the lifetime
        // and so cannot store the value.
        f(unsafe { InTurn::new(self) })
    }

    /// Returns an address of this process.
    pub fn address(&self) -> Address<W, M> {
        Address::clone(self)
    }

    /// Returns whether a turn must consult the private state of the process.
    pub fn local_affects_turn(&self) -> bool {
        self.base().turn.load(Ordering::Relaxed) & LOCAL_AFFECTS_TURN != 0
    }

    /// Returns whether `waker` wakes this process only.
    pub fn is_own_waker(&self, waker: &Waker) -> bool {
        waker::wakes_cell(waker, self.base.as_ptr())
    }
}

impl<W: RuntimeTypes, M> Clone for InTurn<'_, W, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: RuntimeTypes, M> Copy for InTurn<'_, W, M> {}

impl<W: RuntimeTypes, M> Deref for InTurn<'_, W, M> {
    type Target = Owner<W, M>;

    fn deref(&self) -> &Owner<W, M> {
        self.owner
    }
}

impl<'t, W: RuntimeTypes, M: Send + 'static> InTurn<'t, W, M> {
    /// # Safety
    /// This thread is in a turn of the process, which does not end during `'t`.
    pub(crate) unsafe fn new(owner: &'t Owner<W, M>) -> Self {
        Self { owner, not_send: PhantomData }
    }

    /// Returns the mailbox.
    pub fn mailbox(self) -> Mailbox<'t, W, M> {
        Mailbox::new(self)
    }

    /// Calls `f` with the process's private state. `f` runs no user code: changes made by a nested
    /// call are lost, and so is the state if `f` panics.
    pub fn local<R>(self, f: impl FnOnce(&mut W::Local) -> R) -> R {
        // SAFETY: this thread is in the process's turn, and the cell is of this type family.
        unsafe { on_local::<W, R>(self.base, f) }
    }

    /// Calls `f` with the process's private state, which it cannot change. Unlike
    /// [`InTurn::local`], does not recompute the flags of a turn.
    pub fn read_local<R>(self, f: impl FnOnce(&W::Local) -> R) -> R {
        // SAFETY: as above.
        unsafe { read_local::<W, R>(self.base, f) }
    }
}
