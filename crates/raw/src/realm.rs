//! Process table together with its host and the node state (a *realm*).
//!
//! A cell points to its realm without counting, because counting would cost every spawn an atomic
//! operation on one contended word. Instead:
//!
//! INVARIANT: a realm's memory stays valid while a handle on it exists or a process is in its
//! table. The last handle frees the realm if the table is empty. Otherwise, if a process has not
//! ended, the realm is leaked, and a sender to that process still finds it.
//!
//! A process can be scheduled only while it is in the table, so the thread that schedules it finds
//! the realm. The host may run the process to its end before `schedule` returns. A worker has a
//! handle anyway; any other thread takes one for the duration of the call.

use std::cell::Cell as StdCell;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};

use crate::World;
use crate::address::{Address, Ref};
use crate::body::{Body, furnish, vtable};
use crate::cell::{Base, Front, VTable};
use crate::credit;
use crate::current::spawns;
use crate::look::Look;
use crate::owner::Owner;
use crate::run::Runnable;
use crate::stock::Stock;
use crate::sync::{AtomicUsize, Ordering, thread_local};
use crate::table::{Reserved, Slot, Table};

/// Scheduler of a realm's processes.
pub trait Host: Send + Sync + 'static {
    /// Queues a process if this thread is one of the host's workers. Otherwise returns it.
    fn schedule_here(&self, runnable: Runnable) -> Result<(), Runnable>;

    /// Queues a process from any other thread.
    fn schedule_from_outside(&self, runnable: Runnable);
}

/// Part of a realm that depends on no type.
pub(crate) struct RealmBase {
    handles: AtomicUsize,
    host: Box<dyn Host>,
    free: unsafe fn(NonNull<RealmBase>),
    pub(crate) table: Table<Base>,
}

/// A whole realm.
#[repr(C)]
pub(crate) struct RealmInner<W: World> {
    pub(crate) base: RealmBase,
    pub(crate) home: W::Home,
}

/// Handle on a realm: a process table, its host and the node state.
pub struct Realm<W: World> {
    inner: NonNull<RealmInner<W>>,
    world: PhantomData<W>,
}

/// Error: the table is full. Holds the `stuff` passed to [`Realm::spawn`].
#[derive(Debug)]
pub struct SpawnError<F>(pub F);

// SAFETY: a realm is a table of atomics, a host and a node state, all of them `Send` and `Sync`.
unsafe impl<W: World> Send for Realm<W> {}
// SAFETY: as above.
unsafe impl<W: World> Sync for Realm<W> {}

/// Maximum number of processes in a realm.
pub const MAX_PROCESSES: u32 = Table::<Base>::GREATEST;

thread_local! {
    /// Realm of which this thread is a worker, and its slot cache for that realm.
    static STATION: Station = const {
        Station { realm: StdCell::new(ptr::null()), stock: Stock::new() }
    };
}

struct Station {
    realm: StdCell<*const RealmBase>,
    stock: Stock<Base>,
}

/// Guard: this thread is a worker of a realm until it is dropped.
#[must_use]
#[derive(Debug)]
pub struct Entered<W: World> {
    realm: Realm<W>,
    /// WHY: the drop ends state of the current thread.
    not_send: PhantomData<*const ()>,
}

impl<W: World> Drop for Entered<W> {
    fn drop(&mut self) {
        credit::close();
        credit::settle();
        STATION.with(|station| {
            station.realm.set(ptr::null());
            self.realm.inner().base.table.hand_back_all(&station.stock);
        });
    }
}

/// A cell whose base is initialised, and its reserved slot.
type Begun<'a> = (NonNull<Base>, Reserved<'a, Base>);

impl RealmBase {
    /// Returns this thread's slot cache for this realm.
    #[inline(always)]
    fn stock(&self) -> Option<NonNull<Stock<Base>>> {
        let station = STATION.with(|station| NonNull::from(station));
        // SAFETY: a thread-local without a destructor lives as long as its thread.
        let station = unsafe { station.as_ref() };
        ptr::eq(station.realm.get(), self).then(|| NonNull::from(&station.stock))
    }

    fn reserve(&self) -> Option<Reserved<'_, Base>> {
        match self.stock() {
            // SAFETY: as in `stock`; only this thread accesses it.
            Some(stock) => self.table.reserve(unsafe { stock.as_ref() }),
            None => self.table.reserve_one(),
        }
    }

    /// Removes a process from its table, if no look-up is in progress and this thread's cache has
    /// room. Returns whether it did.
    #[inline(always)]
    pub(crate) fn vacate_at_once(&self, slot: Slot) -> bool {
        // SAFETY: as in `reserve`.
        self.stock().is_some_and(|stock| self.table.vacate_at_once(unsafe { stock.as_ref() }, slot))
    }

    /// Removes a process from its table.
    #[cold]
    pub(crate) fn vacate(&self, slot: Slot) {
        match self.stock() {
            // SAFETY: as in `reserve`.
            Some(stock) => self.table.vacate(unsafe { stock.as_ref() }, slot),
            None => self.table.vacate_one(slot),
        }
    }

    /// Reserves a slot and creates a cell of which only the base is initialised.
    ///
    /// WHY three functions: the common case needs no call, so no register is saved.
    ///
    /// # Safety
    /// The realm stays valid for as long as the reservation.
    unsafe fn begin<'a>(realm: NonNull<Self>, vtable: &'static VTable) -> Option<Begun<'a>> {
        spawns();
        // SAFETY: by the contract.
        let this: &'a Self = unsafe { realm.as_ref() };
        // SAFETY: as in `reserve`.
        let at_hand =
            this.stock().and_then(|own| this.table.reserve_at_hand(unsafe { own.as_ref() }));
        let Some(reserved) = at_hand else {
            // SAFETY: by the contract.
            return unsafe { Self::begin_slowly(realm, vtable) };
        };
        match vtable.block.take_at_hand() {
            Some(block) => Some(Self::begin_in(block, realm, vtable, reserved)),
            None => Self::begin_afresh(realm, vtable, reserved),
        }
    }

    /// [`RealmBase::begin`] if the slot cache is empty or absent.
    ///
    /// # Safety
    /// As for `begin`.
    #[cold]
    unsafe fn begin_slowly<'a>(realm: NonNull<Self>, vtable: &'static VTable) -> Option<Begun<'a>> {
        // SAFETY: by the contract.
        let reserved = unsafe { realm.as_ref() }.reserve()?;
        Self::begin_afresh(realm, vtable, reserved)
    }

    /// [`RealmBase::begin`] with a block that may come from the allocator.
    #[cold]
    #[inline(never)]
    fn begin_afresh<'a>(
        realm: NonNull<Self>,
        vtable: &'static VTable,
        reserved: Reserved<'a, Base>,
    ) -> Option<Begun<'a>> {
        Some(Self::begin_in(vtable.block.take(), realm, vtable, reserved))
    }

    #[inline(always)]
    fn begin_in<'a>(
        block: NonNull<u8>,
        realm: NonNull<Self>,
        vtable: &'static VTable,
        reserved: Reserved<'a, Base>,
    ) -> Begun<'a> {
        let base = block.cast();
        // SAFETY: the block is for a cell with this vtable, and a cell starts with its base.
        unsafe { base.write(Base::new(vtable, realm, reserved.slot())) };
        (base, reserved)
    }

    /// Enters a new process into the table and schedules it.
    ///
    /// # Safety
    /// The realm stays valid during this call. The cell is whole, and no other thread can reach it.
    unsafe fn launch(realm: NonNull<Self>, base: NonNull<Base>, reserved: Reserved<'_, Base>) {
        reserved.fill(base);
        // SAFETY: the process is new, so this is the only right to run it; and it is in the table.
        unsafe { Self::schedule(realm, Runnable::new(base)) };
    }

    /// # Safety
    /// The realm is valid, and the process in `runnable` is in its table.
    #[inline]
    pub(crate) unsafe fn schedule(realm: NonNull<Self>, runnable: Runnable) {
        // SAFETY: by the contract, and a worker of this host has a handle on the realm.
        let here = unsafe { realm.as_ref() }.host.schedule_here(runnable);
        if let Err(runnable) = here {
            // SAFETY: by the contract: the right to run came back, so the process has not run and
            // is in the table.
            unsafe { Self::schedule_from_outside(realm, runnable) }
        }
    }

    /// # Safety
    /// As for [`RealmBase::schedule`].
    #[cold]
    unsafe fn schedule_from_outside(realm: NonNull<Self>, runnable: Runnable) {
        // SAFETY: by the contract.
        let base = unsafe { realm.as_ref() };
        base.handles.fetch_add(1, Ordering::Relaxed);
        base.host.schedule_from_outside(runnable);
        // SAFETY: the handle was counted above.
        unsafe { Self::release(realm) };
    }

    /// # Safety
    /// The caller gives up one counted handle.
    unsafe fn release(realm: NonNull<Self>) {
        // SAFETY: the handle keeps the realm alive.
        let base = unsafe { realm.as_ref() };
        // ORDER: acquire from the release of all other handles: no thread spawns or vacates any
        // more.
        if base.handles.fetch_sub(1, Ordering::AcqRel) == 1 && base.table.is_empty() {
            // SAFETY: no handle and no process is left, so no thread can reach the realm.
            unsafe { (base.free)(realm) }
        }
    }
}

/// # Safety
/// `realm` is a leaked box of this same type, to which no reference remains.
unsafe fn free<W: World>(realm: NonNull<RealmBase>) {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(realm.cast::<RealmInner<W>>().as_ptr()) });
}

/// Body of a placeholder process.
struct Never;

impl<W: World, M: Send + 'static> Body<W, M> for Never {
    type Edge = ();

    fn turn(self: Pin<&mut Self>, _: &Owner<W, M>, _: &mut Context<'_>) -> Poll<W::Last> {
        Poll::Pending
    }

    fn name() -> &'static str {
        "never started"
    }
}

impl<W: World> Clone for Realm<W> {
    fn clone(&self) -> Self {
        self.inner().base.handles.fetch_add(1, Ordering::Relaxed);
        Self { inner: self.inner, world: PhantomData }
    }
}

impl<W: World> Drop for Realm<W> {
    fn drop(&mut self) {
        // SAFETY: the handle was counted.
        unsafe { RealmBase::release(self.inner.cast()) }
    }
}

impl<W: World> std::fmt::Debug for Realm<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Realm")
    }
}

impl<W: World> Realm<W> {
    /// Creates a realm of at most `limit` processes, for a host with `workers` workers.
    pub fn new(host: Box<dyn Host>, home: W::Home, limit: u32, workers: usize) -> Self {
        let base = RealmBase {
            handles: AtomicUsize::new(1),
            host,
            free: free::<W>,
            table: Table::new(limit, workers),
        };
        let inner = Box::new(RealmInner { base, home });
        Self { inner: NonNull::from(Box::leak(inner)), world: PhantomData }
    }

    fn inner(&self) -> &RealmInner<W> {
        // SAFETY: the handle keeps the realm alive.
        unsafe { self.inner.as_ref() }
    }

    /// Returns the state shared by all processes of the realm.
    pub fn home(&self) -> &W::Home {
        &self.inner().home
    }

    /// Makes this thread a worker of the realm: it gets a slot cache and defers reference counting.
    /// A thread is a worker of one realm at a time.
    pub fn enter(&self) -> Entered<W> {
        STATION.with(|station| station.realm.set(&raw const self.inner().base));
        credit::open();
        Entered { realm: self.clone(), not_send: PhantomData }
    }

    /// Creates a process with private state `local` and mailbox bound `edge`, and schedules it.
    /// `make` builds its body from `stuff` and the process's own handle, and must not panic.
    /// Returns `stuff` if the table is full.
    ///
    /// COST: one allocation, one compare-and-swap for the slot, and the cost of the host's queue.
    #[inline]
    pub fn spawn<M, B, F>(
        &self,
        shared: W::Shared,
        local: W::Local,
        edge: B::Edge,
        stuff: F,
        make: impl FnOnce(F, Owner<W, M>) -> B,
    ) -> Result<Address<W, M>, SpawnError<F>>
    where
        M: Send + 'static,
        B: Body<W, M>,
    {
        // SAFETY: this handle keeps the realm alive.
        let begun = unsafe { RealmBase::begin(self.inner.cast(), vtable::<W, M, B>()) };
        let Some((base, reserved)) = begun else { return Err(SpawnError(stuff)) };
        // SAFETY: the block was taken for cells of this vtable.
        let cell = unsafe { furnish::<W, M, B>(base, shared, local, edge) };
        // SAFETY: the cell counts a reference for its owner, and has these types.
        let body = make(stuff, unsafe { Owner::new(base) });
        // SAFETY: no other thread has a reference to the cell yet.
        unsafe { cell.as_ref() }.body.with_mut(|place| {
            // SAFETY: as above.
            unsafe { &mut *place }.write(body);
        });
        // SAFETY: the cell counts a reference for this address, and has these types.
        let address = unsafe { Address::new(base) };
        // SAFETY: the cell is whole, and this handle keeps the realm alive.
        unsafe { RealmBase::launch(self.inner.cast(), base, reserved) };
        Ok(address)
    }

    /// Creates a placeholder for a failed spawn: never in the table, never runs; every send fails.
    /// `number` distinguishes placeholders.
    pub fn stillborn<M: Send + 'static>(
        &self,
        number: u32,
        shared: W::Shared,
        last: W::Last,
    ) -> Address<W, M> {
        let slot = Slot::new(u32::MAX - 1, number);
        let (realm, vtable) = (self.inner.cast(), vtable::<W, M, Never>());
        let base: NonNull<Base> = vtable.block.take().cast();
        // SAFETY: the block is for a cell with this vtable, and a cell starts with its base.
        unsafe { base.write(Base::new(vtable, realm, slot)) };
        // SAFETY: no other reference to the cell is in use. Of the three counted references two are
        // released here, and the third is the address's. `Never` needs no initialisation.
        unsafe {
            let cell = furnish::<W, M, Never>(base, shared, W::Local::default(), ());
            cell.as_ref().front.last.with_mut(|place| *place = last);
            let nothing = base.as_ref().head.close();
            debug_assert_eq!(nothing.len, 0);
            credit::count_down(base, 2);
            Address::new(base)
        }
    }

    /// Returns a reference to the process in a slot, if it lives.
    pub fn find(&self, slot: Slot) -> Option<Ref<W>> {
        self.inner().base.table.look_up(slot, |base| {
            // SAFETY: the table's reference keeps the cell alive while the slot is locked; the
            // handle takes over the reference counted here.
            unsafe {
                credit::retain(base);
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
    /// COST: as [`Realm::find`] for each, without the reference; nothing is allocated.
    pub fn survey<S>(
        &self,
        from: u32,
        most: u32,
        of_shared: impl Fn(&W::Shared) -> S,
        mut take: impl FnMut(Look, S),
    ) -> Option<u32> {
        let look = |base: NonNull<Base>| {
            // SAFETY: the cell is of this world, and the table's reference keeps it alive while its
            // slot is locked.
            unsafe {
                (Look::at(base.as_ref()), of_shared(&base.cast::<Front<W>>().as_ref().shared))
            }
        };
        self.inner().base.table.walk(from, most, look, |(look, shared)| take(look, shared))
    }

    /// Returns how many slots the table has handed out, which is where a survey ends.
    pub fn places(&self) -> u32 {
        self.inner().base.table.used()
    }

    /// Returns the number of live processes, including slots that workers have cached.
    pub fn taken(&self) -> u32 {
        self.inner().base.table.taken()
    }

    /// Returns whether no process lives. Exact if no thread spawns concurrently.
    pub fn is_empty(&self) -> bool {
        self.inner().base.table.is_empty()
    }
}
