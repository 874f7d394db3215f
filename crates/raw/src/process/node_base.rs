//! Base of a node core, as its processes use it: scheduling, table slots and new cells.

use std::cell::Cell as StdCell;
use std::ptr::{self, NonNull};

use crate::RuntimeTypes;
use crate::process::cell::{Base, NodeCoreBase, Runnable, VTable};
use crate::process::context::charge_spawn;
use crate::sync::{Ordering, thread_local};
use crate::table::slot_cache::SlotCache;
use crate::table::{Reserved, Slot};

/// Node core: its base and the node state.
#[repr(C)]
pub(crate) struct NodeCoreInner<W: RuntimeTypes> {
    pub(crate) base: NodeCoreBase,
    pub(crate) state: W::NodeState,
}

thread_local! {
    /// Node core of which this thread is a worker, and its slot cache.
    static SLOT_CACHE: SlotCacheOwner = const {
        SlotCacheOwner { node_core: StdCell::new(ptr::null()), slot_cache: SlotCache::new() }
    };
}

/// The slot cache of a worker thread, and the node it belongs to.
struct SlotCacheOwner {
    node_core: StdCell<*const NodeCoreBase>,
    slot_cache: SlotCache<Base>,
}

/// A cell whose base is initialised, and its reserved slot.
type NewCell<'a> = (NonNull<Base>, Reserved<'a, Base>);

impl Runnable {
    /// Passes the right to run to the host of the process's node core.
    #[inline]
    pub(crate) fn schedule(self) {
        // SAFETY: a process that has not run to its end is in its table, which keeps the node core
        // alive.
        let node_core: NonNull<NodeCoreBase> = unsafe { self.0.as_ref() }.node;
        // SAFETY: as above.
        unsafe { NodeCoreBase::schedule(node_core, self) };
    }
}

impl NodeCoreBase {
    /// Makes this thread a worker: from now on it uses its slot cache for this node core.
    ///
    /// # Panics
    /// Panics if the thread is a worker already.
    pub(crate) fn enter(&self) {
        SLOT_CACHE.with(|own| {
            // WHY: a slot cache holds the slots of one table.
            assert!(own.node_core.get().is_null(), "this thread is a worker already");
            own.node_core.set(self);
        });
    }

    /// Reverts [`NodeCoreBase::enter`].
    pub(crate) fn leave(&self) {
        if let Some(slot_cache) = self.slot_cache() {
            // SAFETY: as in `slot_cache`; only this thread accesses it, for this table.
            unsafe { self.table.hand_back_all(slot_cache.as_ref()) };
            SLOT_CACHE.with(|own| own.node_core.set(ptr::null()));
        }
    }

    /// Returns this thread's slot cache for this node core.
    #[inline(always)]
    fn slot_cache(&self) -> Option<NonNull<SlotCache<Base>>> {
        let own = SLOT_CACHE.with(|own| NonNull::from(own));
        // SAFETY: a thread-local without a destructor lives as long as its thread.
        let own = unsafe { own.as_ref() };
        ptr::eq(own.node_core.get(), self).then(|| NonNull::from(&own.slot_cache))
    }

    /// Removes a process from its table, if this thread's cache has room for the slot. Returns the
    /// number of references taken over from the table.
    ///
    /// # Safety
    /// The caller ran the last turn of the process in the slot.
    #[inline(always)]
    pub(crate) unsafe fn try_vacate(&self, slot: Slot) -> Option<u32> {
        // SAFETY: by the contract; only this thread accesses its slot cache, for this table.
        self.slot_cache()
            .and_then(|slot_cache| unsafe { self.table.try_vacate(slot_cache.as_ref(), slot) })
    }

    /// Removes a process from its table. Returns the number of references taken over from it.
    ///
    /// # Safety
    /// As for [`NodeCoreBase::try_vacate`].
    #[cold]
    pub(crate) unsafe fn vacate(&self, slot: Slot) -> u32 {
        // SAFETY: as in `try_vacate`.
        unsafe {
            match self.slot_cache() {
                Some(slot_cache) => self.table.vacate(slot_cache.as_ref(), slot),
                None => self.table.vacate_one(slot),
            }
        }
    }

    /// Reserves a slot and creates a cell of which only the base is initialised.
    ///
    /// WHY three functions: the common case needs no call, so no register is saved.
    ///
    /// # Safety
    /// The node core stays valid for as long as the reservation.
    pub(crate) unsafe fn begin<'a>(
        node_core: NonNull<Self>,
        vtable: &'static VTable,
    ) -> Option<NewCell<'a>> {
        charge_spawn();
        // SAFETY: by the contract.
        let this: &'a Self = unsafe { node_core.as_ref() };
        // SAFETY: as in `try_vacate`.
        let cached =
            this.slot_cache().and_then(|own| unsafe { this.table.reserve_cached(own.as_ref()) });
        let Some(reserved) = cached else {
            // SAFETY: by the contract.
            return unsafe { Self::begin_slowly(node_core, vtable) };
        };
        match vtable.block.take_cached() {
            // SAFETY: the block was taken for cells of this vtable.
            Some(block) => Some(unsafe { Self::begin_in(block, node_core, vtable, reserved) }),
            None => Self::begin_afresh(node_core, vtable, reserved),
        }
    }

    /// [`NodeCoreBase::begin`] if the slot cache is empty or absent.
    ///
    /// # Safety
    /// As for `begin`.
    #[cold]
    unsafe fn begin_slowly<'a>(
        node_core: NonNull<Self>,
        vtable: &'static VTable,
    ) -> Option<NewCell<'a>> {
        // SAFETY: by the contract.
        let this: &'a Self = unsafe { node_core.as_ref() };
        let reserved = match this.slot_cache() {
            // SAFETY: as in `begin`.
            Some(slot_cache) => unsafe { this.table.reserve(slot_cache.as_ref()) },
            None => this.table.reserve_one(),
        }?;
        Self::begin_afresh(node_core, vtable, reserved)
    }

    /// [`NodeCoreBase::begin`] with a block that may come from the allocator.
    #[cold]
    #[inline(never)]
    fn begin_afresh<'a>(
        node_core: NonNull<Self>,
        vtable: &'static VTable,
        reserved: Reserved<'a, Base>,
    ) -> Option<NewCell<'a>> {
        // SAFETY: as in `begin`.
        Some(unsafe { Self::begin_in(vtable.block.take(), node_core, vtable, reserved) })
    }

    /// # Safety
    /// The block was taken for cells of this vtable.
    #[inline(always)]
    unsafe fn begin_in<'a>(
        block: NonNull<u8>,
        node_core: NonNull<Self>,
        vtable: &'static VTable,
        reserved: Reserved<'a, Base>,
    ) -> NewCell<'a> {
        let base = block.cast();
        // SAFETY: by the contract; a cell starts with its base.
        unsafe { base.write(Base::new(vtable, node_core, reserved.slot())) };
        (base, reserved)
    }

    /// Enters a new process into the table and schedules it.
    ///
    /// # Safety
    /// The node core stays valid during this call. The cell is whole, lives until the process has
    /// ended, and is in no table.
    pub(crate) unsafe fn launch(
        node_core: NonNull<Self>,
        base: NonNull<Base>,
        reserved: Reserved<'_, Base>,
    ) {
        // SAFETY: by the contract; a process that has ended vacates its slot.
        unsafe { reserved.fill(base) };
        // SAFETY: the process is new, so this is the only right to run it; and it is in the table.
        unsafe { Self::schedule(node_core, Runnable::new(base)) };
    }

    /// # Safety
    /// The node core is valid, and the process in `runnable` is in its table.
    #[inline]
    unsafe fn schedule(node_core: NonNull<Self>, runnable: Runnable) {
        // SAFETY: by the contract.
        let this = unsafe { node_core.as_ref() };
        // A worker has a handle, which keeps the node core valid if the process ends meanwhile.
        if let Err(runnable) = this.host.schedule_local(runnable) {
            // SAFETY: by the contract.
            unsafe { Self::schedule_remote(runnable) }
        }
    }

    /// WHY apart, and without the node core: `schedule` then saves no registers.
    ///
    /// # Safety
    /// As for `schedule`.
    #[cold]
    #[inline(never)]
    unsafe fn schedule_remote(runnable: Runnable) {
        // SAFETY: by the contract.
        unsafe {
            let node_core: NonNull<Self> = runnable.0.as_ref().node;
            let host = &node_core.as_ref().host;
            Self::with_handle(node_core, |_| host.schedule_remote(runnable));
        }
    }

    /// Calls `f` while the node core cannot be freed. Passes whether a handle keeps it valid; if
    /// not, the last handle has been dropped, and the node core is leaked.
    ///
    /// # Safety
    /// A process is in the table; `f` vacates its slot only if a handle keeps the node core valid.
    #[cold]
    pub(crate) unsafe fn with_handle(node_core: NonNull<Self>, f: impl FnOnce(bool)) {
        // SAFETY: by the contract; a node core with a process in its table is not freed.
        let handles = &unsafe { node_core.as_ref() }.handles;
        let relaxed = Ordering::Relaxed;
        // WHY not from 0: the thread that dropped the last handle may be about to free the node core.
        let more = |handles: usize| (handles > 0).then_some(handles + 1);
        let counted = handles.fetch_update(relaxed, relaxed, more).is_ok();
        f(counted);
        if counted {
            // SAFETY: the handle was counted above.
            unsafe { Self::release(node_core) };
        }
    }

    /// # Safety
    /// The caller gives up one counted handle.
    pub(crate) unsafe fn release(node_core: NonNull<Self>) {
        // SAFETY: the handle keeps the node core alive.
        let base = unsafe { node_core.as_ref() };
        // ORDER: acquire from the release of all other handles: no thread spawns or vacates any
        // more, because both need a handle.
        if base.handles.fetch_sub(1, Ordering::AcqRel) == 1 && base.table.is_empty() {
            // SAFETY: no handle and no process is left, so no thread can reach it.
            unsafe { (base.free)(node_core) }
        }
    }
}
