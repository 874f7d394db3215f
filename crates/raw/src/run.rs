//! One turn of a process: from the run queue to sleep, to the run queue again, or to its end.
//!
//! Called by workers. The right to run is a [`Runnable`], of which a process has at most one at any
//! time; running it consumes it.
//!
//! # A turn
//!
//! 1. The thread is marked as running this process and gets a fresh budget.
//! 2. The body looks at its signals and polls its future; it never unwinds.
//! 3. *Pending*: the process sleeps, unless it asked to run again, was woken, or has mail. Once it
//!    sleeps, another thread may run and even free it, so nothing of the cell is touched after.
//! 4. *Ready*: the thread is marked as running nothing, so that no destructor finds its way back
//!    into the process. Then the inbox is closed, the slot vacated, what waited in the inbox
//!    dropped or handed to the world, the world told, and the table's reference given up.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::World;
use crate::cell::{Base, Cell, Front, VTable, count, release};
use crate::current::Turn;
use crate::head::Slept;
use crate::link::{Class, Envelope, Link};
use crate::owner::Owner;
use crate::pool;
use crate::quiet::quietly;
use crate::realm::{RealmBase, RealmInner, shard};
use crate::sync::{Ordering, UnsafeCell};
use crate::table::Slot;
use crate::wake;

/// The code of a process.
pub trait Body<W: World, M: Send + 'static>: Send + 'static {
    /// Takes one turn. `Ready` ends the process; by then the body has dropped whatever of the
    /// user's it held. Must not unwind: the program is aborted if it does.
    fn turn(self: Pin<&mut Self>, me: &Owner<W, M>, cx: &mut Context<'_>) -> Poll<()>;

    /// What it is called where people look at processes.
    fn name() -> &'static str;
}

/// What became of a process in its turn.
#[must_use]
#[derive(Debug)]
pub enum Ran {
    /// It sleeps; whoever wakes it schedules it.
    Asleep,
    /// It wants to run again, after the others.
    Again(Runnable),
    /// It has ended.
    Ended,
}

/// The right to run a process, and the duty: a process whose right is dropped never runs again.
#[must_use]
#[derive(Debug)]
pub struct Runnable(NonNull<Base>);

// SAFETY: a cell is made to be run by any thread; `Runnable` is the only right to do so.
unsafe impl Send for Runnable {}

impl Runnable {
    /// # Safety
    /// The caller holds the right to schedule: it has taken `ASLEEP` away, or the process is new,
    /// or its turn has ended with the wish to run again.
    #[inline]
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        Self(base)
    }

    /// Runs one turn.
    #[inline]
    pub fn run(self) -> Ran {
        // SAFETY: the process lives, since only its right to run, which we hold, can end it.
        unsafe { (self.0.as_ref().vtable.run)(self.0) }
    }

    /// The slot of the process.
    pub fn slot(&self) -> Slot {
        // SAFETY: as in `run`.
        unsafe { self.0.as_ref() }.slot
    }

    /// Hands the right to the host of the process's realm.
    #[inline]
    pub(crate) fn schedule(self) {
        // SAFETY: the process lives, so it has not left its table, so its realm is there.
        let realm: NonNull<RealmBase> = unsafe { self.0.as_ref() }.realm;
        // SAFETY: as above.
        unsafe { RealmBase::schedule(realm, self) };
    }
}

/// Aborts the program when it is dropped: kept over a stretch that must not unwind.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Allocates a cell whose body is still to be written.
pub(crate) fn allocate<W: World, M: Send + 'static, B: Body<W, M>>(
    realm: NonNull<RealmBase>,
    slot: Slot,
    shared: W::Shared,
    last: Option<W::Last>,
) -> NonNull<Cell<W, M, MaybeUninit<B>>> {
    let cell = pool::take::<Cell<W, M, MaybeUninit<B>>>();
    // WHY in place: a cell built on the stack would be copied here whole, with its empty body.
    // SAFETY: the block was taken for this type; every field but the body is written, and the
    // body needs no writing to be `MaybeUninit`.
    unsafe {
        let front = &raw mut (*cell.as_ptr()).front;
        (&raw mut (*front).base).write(Base::new(vtable::<W, M, B>(), realm, slot));
        (&raw mut (*front).shared).write(shared);
        (&raw mut (*front).last).write(UnsafeCell::new(last));
        (&raw mut (*front).local).write(UnsafeCell::new(Default::default()));
    }
    cell
}

fn vtable<W: World, M: Send + 'static, B: Body<W, M>>() -> &'static VTable {
    const {
        &VTable {
            run: run::<W, M, B>,
            free: free::<W, M, B>,
            message: std::any::TypeId::of::<M>,
            message_name: std::any::type_name::<M>,
            body_name: B::name,
            bytes: size_of::<Cell<W, M, B>>(),
        }
    }
}

/// # Safety
/// `base` is a cell of these very types, and the caller gives up its right to run.
unsafe fn run<W: World, M: Send + 'static, B: Body<W, M>>(base: NonNull<Base>) -> Ran {
    let cell = base.cast::<Cell<W, M, B>>();
    let turn = Turn::begin(base);
    // SAFETY: the process lives until step 3 or 4.
    let cell_ref = unsafe { cell.as_ref() };
    let shared_base = &cell_ref.front.base;
    shared_base.running.store(true, Ordering::Relaxed);
    let poll = {
        shared_base.core.with_mut(|core| {
            // SAFETY: this is the running turn.
            let core = unsafe { &mut *core };
            core.listening = false;
            core.again = false;
        });
        // SAFETY: the reference that this handle would give up is never given up; the table's
        // keeps the cell meanwhile.
        let me = ManuallyDrop::new(unsafe { Owner::<W, M>::new(base) });
        let waker = wake::borrowed(base);
        let bomb = Bomb;
        let poll = cell_ref.body.with_mut(|body| {
            // SAFETY: only the running turn touches the body, and the cell never moves.
            let body = unsafe { Pin::new_unchecked(&mut *body) };
            body.turn(&me, &mut Context::from_waker(&waker))
        });
        std::mem::forget(bomb);
        poll
    };
    count(&shared_base.reductions, turn.spent().into());
    if poll.is_ready() {
        shared_base.running.store(false, Ordering::Relaxed);
        // SAFETY: the turn has ended the process, and the right to run is ours.
        turn.over(shared_base.slot, || unsafe { end::<W, M>(base) });
        return Ran::Ended;
    }
    // SAFETY: this is still the running turn.
    let (again, deaf) =
        shared_base.core.with(|core| unsafe { ((*core).again, !(*core).listening) });
    shared_base.running.store(false, Ordering::Relaxed);
    if again || shared_base.head.sleep(deaf) == Slept::Again {
        // SAFETY: the process does not sleep, so the right to run is still ours.
        return Ran::Again(unsafe { Runnable::new(base) });
    }
    Ran::Asleep
}

/// # Safety
/// `base` is a cell of these types whose last turn has just ended on this thread, which is not marked
/// as running it any more.
unsafe fn end<W: World, M: Send + 'static>(base: NonNull<Base>) {
    // SAFETY: the table's reference keeps the cell until the end of this function, and the realm
    // until the slot is vacated; the worker that runs this keeps the realm anyway.
    let (front, realm) = unsafe {
        let front = base.cast::<Front<W>>().as_ref();
        (front, front.base.realm.cast::<RealmInner<W>>().as_ref())
    };
    let arrived = front.base.head.close();
    let removed = realm.base.table.vacate(shard(), front.base.slot);
    debug_assert_eq!(removed, Some(base));
    let mut dropped = 0;
    let mut discard = |link: NonNull<Link>| {
        // SAFETY: the link came out of this process's inbox or FIFO, where envelopes are of
        // class `Message` with payload `M`, or of class `Signal` with payload `W::Signal`.
        unsafe {
            match link.as_ref().class() {
                Class::Message => {
                    dropped += 1;
                    quietly(|| drop(Envelope::<M>::open(link)));
                }
                Class::Signal => {
                    W::undelivered(&realm.home, Envelope::<W::Signal>::open(link).0);
                }
            }
        }
    };
    // SAFETY: the process has ended and nobody is in its turn, so the FIFO is ours; no reference is
    // kept while user code runs.
    while let Some(link) = front.base.core.with_mut(|core| unsafe { (*core).fifo.pop() }) {
        discard(link);
    }
    let mut rest = arrived.oldest;
    while let Some(link) = NonNull::new(rest) {
        // SAFETY: `close` gave the chain to us.
        rest = unsafe { link.as_ref().next() };
        discard(link);
    }
    front.base.waiting.store(0, Ordering::Relaxed);
    front.local.with(|local| {
        // SAFETY: nobody is in the process's turn, so this is the only thread here.
        W::closed(&realm.home, &front.shared, &mut unsafe { &*local }.borrow_mut(), dropped);
    });
    // SAFETY: this is the table's reference; the cell is not touched again.
    unsafe { release(base) };
}

/// # Safety
/// `base` is a cell of these types and nobody holds a reference to it.
unsafe fn free<W: World, M: Send + 'static, B: Body<W, M>>(base: NonNull<Base>) {
    // SAFETY: allocated by `allocate` as this very type (`MaybeUninit<B>` has the layout of `B`),
    // and its body was written before the first reference could go. The body is dropped here
    // because it ended holding nothing of the user's; its inbox was emptied at the end.
    unsafe {
        let cell = base.cast::<Cell<W, M, B>>();
        cell.drop_in_place();
        pool::free(cell);
    }
}
