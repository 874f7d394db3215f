//! Node core: the process table together with its host and the node state.
//!
//! A cell points to its node core without counting, because counting would cost every spawn an
//! atomic operation on one contended word. Instead:
//!
//! INVARIANT: a node core's memory stays valid while a handle on it exists or a process is in its
//! table. The last handle frees the node core if the table is empty. Otherwise, if a process has
//! not ended, the node core is leaked, and a sender to that process still finds it.
//!
//! A process can be scheduled only while it is in the table, so the thread that schedules it finds
//! the node core. The host may run the process to its end before `schedule` returns. A worker has a
//! handle anyway; any other thread takes one for the duration of the call.

use std::cell::Cell as StdCell;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};

use crate::RuntimeTypes;
use crate::memory::deferred_rc;
use crate::process::address::{Address, Ref};
use crate::process::body::{Body, furnish, vtable};
use crate::process::cell::{Base, Front, VTable};
use crate::process::context::charge_spawn;
use crate::process::owner::Owner;
use crate::process::snapshot::Snapshot;
use crate::process::turn::Runnable;
use crate::sync::{AtomicUsize, Ordering, thread_local};
use crate::table::slot_cache::SlotCache;
use crate::table::{Reserved, Slot, Table};

/// Scheduler of a node core's processes.
pub trait Host: Send + Sync + 'static {
    /// Queues a process if this thread is one of the host's workers. Otherwise returns it.
    fn schedule_here(&self, runnable: Runnable) -> Result<(), Runnable>;

    /// Queues a process from any other thread.
    fn schedule_from_outside(&self, runnable: Runnable);
}

/// Part of a node core that depends on no type.
pub(crate) struct NodeCoreBase {
    handles: AtomicUsize,
    host: Box<dyn Host>,
    free: unsafe fn(NonNull<NodeCoreBase>),
    pub(crate) table: Table<Base>,
}

/// Node core: its base and the node state.
#[repr(C)]
pub(crate) struct NodeCoreInner<W: RuntimeTypes> {
    pub(crate) base: NodeCoreBase,
    pub(crate) state: W::NodeState,
}

/// Handle on a node core: a process table, its host and the node state.
pub struct NodeCore<W: RuntimeTypes> {
    inner: NonNull<NodeCoreInner<W>>,
    world: PhantomData<W>,
}

/// Error: the table is full. Holds the `stuff` passed to [`NodeCore::spawn`].
#[derive(Debug)]
pub struct SpawnError<F>(pub F);

// SAFETY: a node core is a table of atomics, a host and a node state, all of them `Send` and
// `Sync`.
unsafe impl<W: RuntimeTypes> Send for NodeCore<W> {}
// SAFETY: as above.
unsafe impl<W: RuntimeTypes> Sync for NodeCore<W> {}

/// Maximum number of processes in a node core.
pub const MAX_PROCESSES: u32 = Table::<Base>::GREATEST;

thread_local! {
    /// Node core of which this thread is a worker, and its slot cache.
    static STATION: SlotCacheOwner = const {
        SlotCacheOwner { node_core: StdCell::new(ptr::null()), slot_cache: SlotCache::new() }
    };
}

struct SlotCacheOwner {
    node_core: StdCell<*const NodeCoreBase>,
    slot_cache: SlotCache<Base>,
}

/// Guard: this thread is a worker of a node core until it is dropped.
#[must_use]
#[derive(Debug)]
pub struct WorkerGuard<W: RuntimeTypes> {
    node_core: NodeCore<W>,
    /// WHY: the drop ends state of the current thread.
    not_send: PhantomData<*const ()>,
}

impl<W: RuntimeTypes> Drop for WorkerGuard<W> {
    fn drop(&mut self) {
        deferred_rc::close();
        deferred_rc::flush();
        STATION.with(|station| {
            station.node_core.set(ptr::null());
            self.node_core.inner().base.table.hand_back_all(&station.slot_cache);
        });
    }
}

/// A cell whose base is initialised, and its reserved slot.
type NewCell<'a> = (NonNull<Base>, Reserved<'a, Base>);

impl NodeCoreBase {
    /// Returns this thread's slot cache for this node core.
    #[inline(always)]
    fn slot_cache(&self) -> Option<NonNull<SlotCache<Base>>> {
        let station = STATION.with(|station| NonNull::from(station));
        // SAFETY: a thread-local without a destructor lives as long as its thread.
        let station = unsafe { station.as_ref() };
        ptr::eq(station.node_core.get(), self).then(|| NonNull::from(&station.slot_cache))
    }

    fn reserve(&self) -> Option<Reserved<'_, Base>> {
        match self.slot_cache() {
            // SAFETY: as in `slot_cache`; only this thread accesses it.
            Some(slot_cache) => self.table.reserve(unsafe { slot_cache.as_ref() }),
            None => self.table.reserve_one(),
        }
    }

    /// Removes a process from its table, if no look-up is in progress and this thread's cache has
    /// room. Returns whether it did.
    #[inline(always)]
    pub(crate) fn try_vacate(&self, slot: Slot) -> bool {
        // SAFETY: as in `reserve`.
        self.slot_cache()
            .is_some_and(|slot_cache| self.table.try_vacate(unsafe { slot_cache.as_ref() }, slot))
    }

    /// Removes a process from its table.
    #[cold]
    pub(crate) fn vacate(&self, slot: Slot) {
        match self.slot_cache() {
            // SAFETY: as in `reserve`.
            Some(slot_cache) => self.table.vacate(unsafe { slot_cache.as_ref() }, slot),
            None => self.table.vacate_one(slot),
        }
    }

    /// Reserves a slot and creates a cell of which only the base is initialised.
    ///
    /// WHY three functions: the common case needs no call, so no register is saved.
    ///
    /// # Safety
    /// The node core stays valid for as long as the reservation.
    unsafe fn begin<'a>(node_core: NonNull<Self>, vtable: &'static VTable) -> Option<NewCell<'a>> {
        charge_spawn();
        // SAFETY: by the contract.
        let this: &'a Self = unsafe { node_core.as_ref() };
        // SAFETY: as in `reserve`.
        let cached =
            this.slot_cache().and_then(|own| this.table.reserve_cached(unsafe { own.as_ref() }));
        let Some(reserved) = cached else {
            // SAFETY: by the contract.
            return unsafe { Self::begin_slowly(node_core, vtable) };
        };
        match vtable.block.take_cached() {
            Some(block) => Some(Self::begin_in(block, node_core, vtable, reserved)),
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
        let reserved = unsafe { node_core.as_ref() }.reserve()?;
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
        Some(Self::begin_in(vtable.block.take(), node_core, vtable, reserved))
    }

    #[inline(always)]
    fn begin_in<'a>(
        block: NonNull<u8>,
        node_core: NonNull<Self>,
        vtable: &'static VTable,
        reserved: Reserved<'a, Base>,
    ) -> NewCell<'a> {
        let base = block.cast();
        // SAFETY: the block is for a cell with this vtable, and a cell starts with its base.
        unsafe { base.write(Base::new(vtable, node_core, reserved.slot())) };
        (base, reserved)
    }

    /// Enters a new process into the table and schedules it.
    ///
    /// # Safety
    /// The node core stays valid during this call. The cell is whole, and no other thread can reach
    /// it.
    unsafe fn launch(node_core: NonNull<Self>, base: NonNull<Base>, reserved: Reserved<'_, Base>) {
        reserved.fill(base);
        // SAFETY: the process is new, so this is the only right to run it; and it is in the table.
        unsafe { Self::schedule(node_core, Runnable::new(base)) };
    }

    /// # Safety
    /// The node core is valid, and the process in `runnable` is in its table.
    #[inline]
    pub(crate) unsafe fn schedule(node_core: NonNull<Self>, runnable: Runnable) {
        // SAFETY: by the contract, and a worker of this host has a handle on the node core.
        let here = unsafe { node_core.as_ref() }.host.schedule_here(runnable);
        if let Err(runnable) = here {
            // SAFETY: by the contract: the right to run came back, so the process has not run and
            // is in the table.
            unsafe { Self::schedule_from_outside(node_core, runnable) }
        }
    }

    /// # Safety
    /// As for [`NodeCoreBase::schedule`].
    #[cold]
    unsafe fn schedule_from_outside(node_core: NonNull<Self>, runnable: Runnable) {
        // SAFETY: by the contract.
        let base = unsafe { node_core.as_ref() };
        base.handles.fetch_add(1, Ordering::Relaxed);
        base.host.schedule_from_outside(runnable);
        // SAFETY: the handle was counted above.
        unsafe { Self::release(node_core) };
    }

    /// # Safety
    /// The caller gives up one counted handle.
    unsafe fn release(node_core: NonNull<Self>) {
        // SAFETY: the handle keeps the node core alive.
        let base = unsafe { node_core.as_ref() };
        // ORDER: acquire from the release of all other handles: no thread spawns or vacates any
        // more.
        if base.handles.fetch_sub(1, Ordering::AcqRel) == 1 && base.table.is_empty() {
            // SAFETY: no handle and no process is left, so no thread can reach it.
            unsafe { (base.free)(node_core) }
        }
    }
}

/// # Safety
/// `node_core` is a leaked box of this same type, to which no reference remains.
unsafe fn free<W: RuntimeTypes>(node_core: NonNull<NodeCoreBase>) {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(node_core.cast::<NodeCoreInner<W>>().as_ptr()) });
}

/// Body of a placeholder process.
struct Never;

impl<W: RuntimeTypes, M: Send + 'static> Body<W, M> for Never {
    type Bound = ();

    fn turn(self: Pin<&mut Self>, _: &Owner<W, M>, _: &mut Context<'_>) -> Poll<W::ExitStatus> {
        Poll::Pending
    }

    fn name() -> &'static str {
        "never started"
    }
}

impl<W: RuntimeTypes> Clone for NodeCore<W> {
    fn clone(&self) -> Self {
        self.inner().base.handles.fetch_add(1, Ordering::Relaxed);
        Self { inner: self.inner, world: PhantomData }
    }
}

impl<W: RuntimeTypes> Drop for NodeCore<W> {
    fn drop(&mut self) {
        // SAFETY: the handle was counted.
        unsafe { NodeCoreBase::release(self.inner.cast()) }
    }
}

impl<W: RuntimeTypes> std::fmt::Debug for NodeCore<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NodeCore")
    }
}

impl<W: RuntimeTypes> NodeCore<W> {
    /// Creates a node core of at most `limit` processes, for a host with `workers` workers.
    pub fn new(host: Box<dyn Host>, node_state: W::NodeState, limit: u32, workers: usize) -> Self {
        let base = NodeCoreBase {
            handles: AtomicUsize::new(1),
            host,
            free: free::<W>,
            table: Table::new(limit, workers),
        };
        let inner = Box::new(NodeCoreInner { base, state: node_state });
        Self { inner: NonNull::from(Box::leak(inner)), world: PhantomData }
    }

    fn inner(&self) -> &NodeCoreInner<W> {
        // SAFETY: the handle keeps the node core alive.
        unsafe { self.inner.as_ref() }
    }

    /// Returns the state shared by all processes of the node core.
    pub fn state(&self) -> &W::NodeState {
        &self.inner().state
    }

    /// Makes this thread a worker of the node core: it gets a slot cache and defers reference
    /// counting. A thread is a worker of one node core at a time.
    pub fn enter(&self) -> WorkerGuard<W> {
        STATION.with(|station| station.node_core.set(&raw const self.inner().base));
        deferred_rc::open();
        WorkerGuard { node_core: self.clone(), not_send: PhantomData }
    }

    /// Creates a process with private state `local` and mailbox bound `bound`, and schedules it.
    /// `make` builds its body from `stuff` and the process's own handle, and must not panic.
    /// Returns `stuff` if the table is full.
    ///
    /// COST: one allocation, one compare-and-swap for the slot, and the cost of the host's queue.
    #[inline]
    pub fn spawn<M, B, F>(
        &self,
        shared: W::Shared,
        local: W::Local,
        bound: B::Bound,
        stuff: F,
        make: impl FnOnce(F, Owner<W, M>) -> B,
    ) -> Result<Address<W, M>, SpawnError<F>>
    where
        M: Send + 'static,
        B: Body<W, M>,
    {
        // SAFETY: this handle keeps the node core alive.
        let new = unsafe { NodeCoreBase::begin(self.inner.cast(), vtable::<W, M, B>()) };
        let Some((base, reserved)) = new else { return Err(SpawnError(stuff)) };
        // SAFETY: the block was taken for cells of this vtable.
        let cell = unsafe { furnish::<W, M, B>(base, shared, local, bound) };
        // SAFETY: the cell counts a reference for its owner, and has these types.
        let body = make(stuff, unsafe { Owner::new(base) });
        // SAFETY: no other thread has a reference to the cell yet.
        unsafe { cell.as_ref() }.body.with_mut(|place| {
            // SAFETY: as above.
            unsafe { &mut *place }.write(body);
        });
        // SAFETY: the cell counts a reference for this address, and has these types.
        let address = unsafe { Address::new(base) };
        // SAFETY: the cell is whole, and this handle keeps the node core alive.
        unsafe { NodeCoreBase::launch(self.inner.cast(), base, reserved) };
        Ok(address)
    }

    /// Creates a placeholder for a failed spawn: never in the table, never runs; every send fails.
    /// `number` distinguishes placeholders.
    pub fn spawn_ended<M: Send + 'static>(
        &self,
        number: u32,
        shared: W::Shared,
        exit_status: W::ExitStatus,
    ) -> Address<W, M> {
        let slot = Slot::new(u32::MAX - 1, number);
        let (node_core, vtable) = (self.inner.cast(), vtable::<W, M, Never>());
        let base: NonNull<Base> = vtable.block.take().cast();
        // SAFETY: the block is for a cell with this vtable, and a cell starts with its base.
        unsafe { base.write(Base::new(vtable, node_core, slot)) };
        // SAFETY: no other reference to the cell is in use. Of the three counted references two are
        // released here, and the third is the address's. `Never` needs no initialisation.
        unsafe {
            let cell = furnish::<W, M, Never>(base, shared, W::Local::default(), ());
            cell.as_ref().front.exit_status.with_mut(|place| *place = exit_status);
            let nothing = base.as_ref().inbox.close();
            debug_assert_eq!(nothing.len, 0);
            deferred_rc::count_down(base, 2);
            Address::new(base)
        }
    }

    /// Returns a reference to the process in a slot, if it lives.
    pub fn find(&self, slot: Slot) -> Option<Ref<W>> {
        self.inner().base.table.look_up(slot, |base| {
            // SAFETY: the table's reference keeps the cell alive while the slot is locked; the
            // handle takes over the reference counted here.
            unsafe {
                deferred_rc::retain(base);
                Ref::new(base)
            }
        })
    }

    /// Returns the maximum number of processes.
    pub fn limit(&self) -> u32 {
        self.inner().base.table.limit()
    }

    /// Iterates over the live processes; others may come and go concurrently.
    pub fn processes(&self) -> impl Iterator<Item = Ref<W>> + '_ {
        self.inner().base.table.slots().filter_map(|slot| self.find(slot))
    }

    /// Takes a snapshot of each live process in `most` slots from index `from` on. Returns the
    /// index to continue from, or `None` at the end of the table. `of_shared` copies what is needed
    /// of the shared state and does nothing else; `take` may do anything.
    ///
    /// COST: as [`NodeCore::find`] for each, without the reference; nothing is allocated.
    pub fn snapshots<S>(
        &self,
        from: u32,
        most: u32,
        of_shared: impl Fn(&W::Shared) -> S,
        mut take: impl FnMut(Snapshot, S),
    ) -> Option<u32> {
        let visit = |base: NonNull<Base>| {
            // SAFETY: the cell is of this type family, and the table's reference keeps it alive
            // while its slot is locked.
            unsafe {
                (Snapshot::at(base.as_ref()), of_shared(&base.cast::<Front<W>>().as_ref().shared))
            }
        };
        self.inner().base.table.walk(from, most, visit, |(snapshot, shared)| take(snapshot, shared))
    }

    /// Returns how many slots the table has handed out, which is where [`NodeCore::snapshots`]
    /// ends.
    pub fn slots_used(&self) -> u32 {
        self.inner().base.table.used()
    }

    /// Returns the number of live processes, including slots that workers have cached.
    pub fn len_hint(&self) -> u32 {
        self.inner().base.table.taken()
    }

    /// Returns whether no process lives. Exact if no thread spawns concurrently.
    pub fn is_empty(&self) -> bool {
        self.inner().base.table.is_empty()
    }
}
