//! The processes that belong together: their table, their host, and what they share.
//!
//! A cell points to its realm without counting, since counting would cost every spawn an atomic
//! operation on one contended word. Instead:
//!
//! INVARIANT: a realm's memory stays while a handle on it exists or a process is in its table. The
//! last handle frees the realm if the table is empty; otherwise (a process that would not end) the
//! realm is left for ever, and whoever sends to that process still finds it.
//!
//! A process can be scheduled only while it is in the table, so whoever schedules finds the realm.
//! The host may run the process to its end before `schedule` has returned; a worker keeps a handle
//! of its own, and a thread from outside takes one for the time of the call.

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

/// What runs processes.
pub trait Host: Send + Sync + 'static {
    /// Queues a process if this thread is one of the host's workers, else gives it back.
    fn schedule_here(&self, runnable: Runnable) -> Result<(), Runnable>;

    /// Queues a process from any other thread.
    fn schedule_from_outside(&self, runnable: Runnable);
}

/// The part of a realm that needs no type.
pub(crate) struct RealmBase {
    handles: AtomicUsize,
    host: Box<dyn Host>,
    free: unsafe fn(NonNull<RealmBase>),
    pub(crate) table: Table<Base>,
}

/// All of it.
#[repr(C)]
pub(crate) struct RealmInner<W: World> {
    pub(crate) base: RealmBase,
    pub(crate) home: W::Home,
}

/// A handle on a realm.
pub struct Realm<W: World> {
    inner: NonNull<RealmInner<W>>,
    world: PhantomData<W>,
}

/// The table is full; what the process would have been made of is given back.
#[derive(Debug)]
pub struct SpawnError<F>(pub F);

// SAFETY: a realm is a table of atomics, a host and a home, all of them `Send` and `Sync`.
unsafe impl<W: World> Send for Realm<W> {}
// SAFETY: as above.
unsafe impl<W: World> Sync for Realm<W> {}

/// The most processes a realm can hold at the same time.
pub const MAX_PROCESSES: u32 = Table::<Base>::GREATEST;

thread_local! {
    /// The realm whose worker this thread is, and the vacant slots it keeps for that realm.
    static STATION: Station = const {
        Station { realm: StdCell::new(ptr::null()), stock: Stock::new() }
    };
}

struct Station {
    realm: StdCell<*const RealmBase>,
    stock: Stock<Base>,
}

/// This thread is a worker of a realm for as long as this is kept.
#[must_use]
#[derive(Debug)]
pub struct Entered<W: World> {
    realm: Realm<W>,
    /// WHY: what ends with it belongs to the thread.
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

/// A cell of which the base is there, and the slot for it.
type Begun<'a> = (NonNull<Base>, Reserved<'a, Base>);

impl RealmBase {
    /// The vacant slots that this thread keeps for this realm.
    #[inline(always)]
    fn stock(&self) -> Option<NonNull<Stock<Base>>> {
        let station = STATION.with(|station| NonNull::from(station));
        // SAFETY: a thread-local without a destructor is there as long as its thread.
        let station = unsafe { station.as_ref() };
        ptr::eq(station.realm.get(), self).then(|| NonNull::from(&station.stock))
    }

    fn reserve(&self) -> Option<Reserved<'_, Base>> {
        match self.stock() {
            // SAFETY: as in `stock`; only this thread has it, and shares it with nobody.
            Some(stock) => self.table.reserve(unsafe { stock.as_ref() }),
            None => self.table.reserve_one(),
        }
    }

    /// Takes a process out of its table, if nobody is looking it up and this thread may keep its slot;
    /// says whether.
    #[inline(always)]
    pub(crate) fn vacate_at_once(&self, slot: Slot) -> bool {
        // SAFETY: as in `reserve`.
        self.stock().is_some_and(|stock| self.table.vacate_at_once(unsafe { stock.as_ref() }, slot))
    }

    /// Takes a process out of its table.
    #[cold]
    pub(crate) fn vacate(&self, slot: Slot) {
        match self.stock() {
            // SAFETY: as in `reserve`.
            Some(stock) => self.table.vacate(unsafe { stock.as_ref() }, slot),
            None => self.table.vacate_one(slot),
        }
    }

    /// Reserves a slot and begins a cell, of which all but the base is still to be written.
    ///
    /// WHY in three: what is at hand as a rule is taken without a call, so that no register is saved.
    ///
    /// # Safety
    /// The realm is there for as long as the reservation.
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

    /// [`RealmBase::begin`] of a thread that has no slot at hand.
    ///
    /// # Safety
    /// As for `begin`.
    #[cold]
    unsafe fn begin_slowly<'a>(realm: NonNull<Self>, vtable: &'static VTable) -> Option<Begun<'a>> {
        // SAFETY: by the contract.
        let reserved = unsafe { realm.as_ref() }.reserve()?;
        Self::begin_afresh(realm, vtable, reserved)
    }

    /// [`RealmBase::begin`] with a block that may have to come from the allocator.
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
        // SAFETY: the block is for a cell with this vtable, which begins with its base.
        unsafe { base.write(Base::new(vtable, realm, reserved.slot())) };
        (base, reserved)
    }

    /// Puts a new process into the table and schedules it.
    ///
    /// # Safety
    /// The realm is there, and stays for this call; the cell is whole and nobody else knows it.
    unsafe fn launch(realm: NonNull<Self>, base: NonNull<Base>, reserved: Reserved<'_, Base>) {
        reserved.fill(base);
        // SAFETY: the process is new, so this is the only right to run it; and it is in the table.
        unsafe { Self::schedule(realm, Runnable::new(base)) };
    }

    /// # Safety
    /// The realm is there, and the process in `runnable` is in its table.
    #[inline]
    pub(crate) unsafe fn schedule(realm: NonNull<Self>, runnable: Runnable) {
        // SAFETY: by the contract, and a worker of this host keeps a handle of its own.
        let here = unsafe { realm.as_ref() }.host.schedule_here(runnable);
        if let Err(runnable) = here {
            // SAFETY: by the contract: the right to run came back, so the process has not run and
            // is in the table.
            unsafe { Self::schedule_from_outside(realm, runnable) }
        }
    }

    /// # Safety
    /// As [`RealmBase::schedule`].
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
        // SAFETY: the handle keeps the realm.
        let base = unsafe { realm.as_ref() };
        // ORDER: acquire from the release of all others: nobody spawns or vacates any more.
        if base.handles.fetch_sub(1, Ordering::AcqRel) == 1 && base.table.is_empty() {
            // SAFETY: the last handle is gone and no process is left, so nobody finds it any more.
            unsafe { (base.free)(realm) }
        }
    }
}

/// # Safety
/// `realm` is a leaked box of this very type that nobody uses any more.
unsafe fn free<W: World>(realm: NonNull<RealmBase>) {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(realm.cast::<RealmInner<W>>().as_ptr()) });
}

/// The body of a stillborn process.
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
    /// A realm of at most `limit` processes, for a host with that many workers.
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
        // SAFETY: the handle keeps the realm.
        unsafe { self.inner.as_ref() }
    }

    /// What all processes of the realm share.
    pub fn home(&self) -> &W::Home {
        &self.inner().home
    }

    /// Makes this thread a worker of the realm: it keeps a few vacant slots and references for
    /// itself. A thread is a worker of one realm at a time.
    pub fn enter(&self) -> Entered<W> {
        STATION.with(|station| station.realm.set(&raw const self.inner().base));
        credit::open();
        Entered { realm: self.clone(), not_send: PhantomData }
    }

    /// Makes a process that keeps `local` from its beginning and has `edge` at its mailbox, and
    /// schedules it. `make` builds its body out of `stuff` and the process's own handle, and must not
    /// panic. When the table is full `stuff` is given back.
    ///
    /// COST: one allocation; one compare-and-swap for the slot; what the host's queue costs.
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
        // SAFETY: this handle keeps the realm.
        let begun = unsafe { RealmBase::begin(self.inner.cast(), vtable::<W, M, B>()) };
        let Some((base, reserved)) = begun else { return Err(SpawnError(stuff)) };
        // SAFETY: the block was taken for this vtable's cells.
        let cell = unsafe { furnish::<W, M, B>(base, shared, local, edge) };
        // SAFETY: the cell counts a reference for its owner, and has these types.
        let body = make(stuff, unsafe { Owner::new(base) });
        // SAFETY: nobody else knows the cell yet.
        unsafe { cell.as_ref() }.body.with_mut(|place| {
            // SAFETY: as above.
            unsafe { &mut *place }.write(body);
        });
        // SAFETY: the cell counts a reference for this address, and has these types.
        let address = unsafe { Address::new(base) };
        // SAFETY: the cell is whole, and our handle keeps the realm.
        unsafe { RealmBase::launch(self.inner.cast(), base, reserved) };
        Ok(address)
    }

    /// A process that has ended before it began: in no table, never run, every send comes back.
    /// `number` tells it from others like it.
    pub fn stillborn<M: Send + 'static>(
        &self,
        number: u32,
        shared: W::Shared,
        last: W::Last,
    ) -> Address<W, M> {
        let slot = Slot::new(u32::MAX - 1, number);
        let (realm, vtable) = (self.inner.cast(), vtable::<W, M, Never>());
        let base: NonNull<Base> = vtable.block.take().cast();
        // SAFETY: the block is for a cell with this vtable, which begins with its base.
        unsafe { base.write(Base::new(vtable, realm, slot)) };
        // SAFETY: nobody else knows the cell yet; of the three references two are given up here,
        // and the third is the address's. `Never` needs no writing.
        unsafe {
            let cell = furnish::<W, M, Never>(base, shared, W::Local::default(), ());
            cell.as_ref().front.last.with_mut(|place| *place = last);
            let nothing = base.as_ref().head.close();
            debug_assert_eq!(nothing.len, 0);
            credit::count_down(base, 2);
            Address::new(base)
        }
    }

    /// Finds a process.
    pub fn find(&self, slot: Slot) -> Option<Ref<W>> {
        self.inner().base.table.look_up(slot, |base| {
            // SAFETY: the table's reference keeps the cell while the slot is locked; a reference
            // of our own is counted for the handle.
            unsafe {
                credit::retain(base);
                Ref::new(base)
            }
        })
    }

    /// How many processes there may be at a time.
    pub fn limit(&self) -> u32 {
        self.inner().base.table.limit()
    }

    /// The processes that live now, one after the other; others may come and go meanwhile.
    pub fn processes(&self) -> impl Iterator<Item = Ref<W>> + '_ {
        self.inner().base.table.slots().filter_map(|slot| self.find(slot))
    }

    /// Looks at those processes that live now and stand in `most` places of the table from `from` on; the next
    /// place to begin with, if there are more. `of_shared` copies what is wanted of what everybody may read,
    /// and does nothing else; `take` may do anything.
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
            // SAFETY: the table's reference keeps the cell, which is one of this world, while its slot is locked.
            unsafe {
                (Look::at(base.as_ref()), of_shared(&base.cast::<Front<W>>().as_ref().shared))
            }
        };
        self.inner().base.table.walk(from, most, look, |(look, shared)| take(look, shared))
    }

    /// How many places the table has had in use at a time: a survey ends there.
    pub fn places(&self) -> u32 {
        self.inner().base.table.used()
    }

    /// How many processes live, and a few more: places that workers keep for those they will spawn are counted
    /// with them.
    pub fn taken(&self) -> u32 {
        self.inner().base.table.taken()
    }

    /// Whether no process lives. Exact when nobody spawns.
    pub fn is_empty(&self) -> bool {
        self.inner().base.table.is_empty()
    }
}
