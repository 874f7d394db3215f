//! Code that depends on the types of a process: its body, and the functions of its vtable.
//!
//! All other code of a process is compiled once, in this crate.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::cell::{Base, Cell, Front, Polled, VTable};
use crate::chain::Chain;
use crate::edge::Bounds;
use crate::link::{Class, Envelope, Link};
use crate::owner::Owner;
use crate::parcel::discard;
use crate::pool;
use crate::quiet::quietly;
use crate::realm::RealmInner;
use crate::sync::{Ordering, UnsafeCell};
use crate::{End, Traveller, World};

/// Code of a process.
pub trait Body<W: World, M: Send + 'static>: Send + 'static {
    /// Whether its turns may block the thread; the host then runs them on other threads.
    const BLOCKING: bool = false;

    /// Bound of the mailbox, or `()`.
    type Edge: Bounds;

    /// Runs one turn. `Ready` ends the process with its exit status. By then the body has dropped
    /// everything it held, because it is not dropped afterwards. Must not unwind: unwinding aborts
    /// the program.
    fn turn(self: Pin<&mut Self>, me: &Owner<W, M>, cx: &mut Context<'_>) -> Poll<W::Last>;

    /// Returns the name shown in process listings.
    fn name() -> &'static str;
}

/// Returns the vtable of the processes of these types.
pub(crate) const fn vtable<W: World, M: Send + 'static, B: Body<W, M>>() -> &'static VTable {
    const {
        &VTable {
            poll: poll::<W, M, B>,
            wind_up: wind_up::<W, M>,
            free: free::<W, M, B>,
            sent: sent::<W, M>,
            discard: discard::<M>,
            block: pool::Block::of::<Cell<W, M, B::Edge, B>>(),
            message: std::any::TypeId::of::<M>,
            world: std::any::TypeId::of::<W>,
            message_name: std::any::type_name::<M>,
            body_name: B::name,
            blocking: B::BLOCKING,
            edge: match B::Edge::BOUNDED {
                true => std::mem::offset_of!(Cell<W, M, B::Edge, B>, edge),
                false => 0,
            },
            bytes: size_of::<Cell<W, M, B::Edge, B>>(),
            envelope: size_of::<Envelope<M>>(),
        }
    }
}

/// Initialises the typed fields of a new cell whose base is initialised. The body stays
/// uninitialised.
///
/// # Safety
/// `base` is the start of a block for a cell of these types, to which no other reference exists.
#[inline]
pub(crate) unsafe fn furnish<W: World, M: Send + 'static, B: Body<W, M>>(
    base: NonNull<Base>,
    shared: W::Shared,
    local: W::Local,
    edge: B::Edge,
) -> NonNull<Cell<W, M, B::Edge, MaybeUninit<B>>> {
    let cell = base.cast::<Cell<W, M, B::Edge, MaybeUninit<B>>>();
    // WHY field by field: a cell built on the stack would be copied here as a whole.
    // SAFETY: the block is large enough for the cell.
    unsafe {
        let front = base.cast::<Front<W>>().as_ptr();
        (&raw mut (*front).shared).write(shared);
        (&raw mut (*front).last).write(UnsafeCell::new(Default::default()));
        if W::keeps(&local) {
            base.as_ref().keeps(true);
        }
        (&raw mut (*front).local).write(UnsafeCell::new(local.into()));
        (&raw mut (*cell.as_ptr()).edge).write(edge);
        (&raw mut (*cell.as_ptr()).body).write(UnsafeCell::new(MaybeUninit::uninit()));
    }
    cell
}

/// Calls [`World::sent`] for a signal that a traced process is about to send.
///
/// # Safety
/// `base` is a cell of these types, kept alive by the caller. The caller owns the envelope, whose
/// payload type is the one of its class in this cell.
unsafe fn sent<W: World, M: Send + 'static>(base: NonNull<Base>, link: NonNull<Link>) {
    // SAFETY: by the contract.
    unsafe {
        let front = base.cast::<Front<W>>().as_ref();
        let what = match link.as_ref().class() {
            Class::Message => Traveller::Message(Envelope::<M>::peek(link)),
            Class::Signal => Traveller::Signal(Envelope::<W::Signal>::peek(link)),
        };
        W::sent(front.base.slot, &front.shared, (front.base.vtable.message_name)(), what);
    }
}

/// Polls the body. `extern "C"` aborts the program on unwinding.
///
/// # Safety
/// `base` is a cell of these same types, and this thread is in its turn.
unsafe extern "C" fn poll<W: World, M: Send + 'static, B: Body<W, M>>(
    base: NonNull<Base>,
    cx: &mut Context<'_>,
) -> Polled {
    // SAFETY: the process lives at least as long as its turn.
    let cell = unsafe { base.cast::<Cell<W, M, B::Edge, B>>().as_ref() };
    // SAFETY: this handle is never dropped, so it needs no counted reference; the table's keeps the
    // cell alive meanwhile.
    let me = ManuallyDrop::new(unsafe { Owner::<W, M>::new(base) });
    let polled = cell.body.with_mut(|body| {
        // SAFETY: only the running turn accesses the body, and the cell never moves.
        unsafe { Pin::new_unchecked(&mut *body) }.turn(&me, cx)
    });
    let Poll::Ready(last) = polled else { return Polled::Pending };
    // SAFETY: this is the last turn, and no thread reads the field before the inbox is closed.
    // WHY not an assignment: it would drop the previous value, which is the default.
    cell.front.last.with_mut(|place| unsafe { place.write(last) });
    Polled::Ended
}

/// Drops the queued messages, hands the queued signals to the world and calls [`World::closed`].
///
/// # Safety
/// `base` is a cell of these types that has ended and is in no turn. The caller owns the batch,
/// which came from the cell's inbox.
unsafe extern "C" fn wind_up<W: World, M: Send + 'static>(base: NonNull<Base>, arrived: &Chain) {
    // SAFETY: the caller holds a reference to the cell, and its worker a handle on the realm.
    let (front, home) = unsafe {
        let front = base.cast::<Front<W>>().as_ref();
        (front, &front.base.realm.cast::<RealmInner<W>>().as_ref().home)
    };
    // SAFETY: the process is in no turn, so only this thread accesses the field.
    let mut local = front.local.with(|local| unsafe { &*local }.take());
    let mut dropped = 0;
    let mut discard = |link: NonNull<Link>| {
        // SAFETY: the header came from this process's inbox or save queue, where envelopes are of
        // class `Message` with payload `M`, or of class `Signal` with payload `W::Signal`.
        unsafe {
            match link.as_ref().class() {
                Class::Message => {
                    dropped += 1;
                    quietly(|| drop(Envelope::<M>::open(link)));
                }
                Class::Signal => {
                    W::undelivered(home, &mut local, Envelope::<W::Signal>::open(link).0);
                }
            }
        }
    };
    // SAFETY: the process is in no turn, so only this thread accesses the save queue. No reference
    // to it is held while user code runs.
    while let Some(link) = front.base.fifo.with_mut(|fifo| unsafe { (*fifo).pop() }) {
        discard(link);
    }
    let mut rest = arrived.oldest;
    while let Some(link) = NonNull::new(rest) {
        // SAFETY: the caller owns the batch.
        rest = unsafe { link.as_ref().next() };
        discard(link);
    }
    front.base.waiting.store(0, Ordering::Relaxed);
    front.last.with(|last| {
        // SAFETY: the last turn wrote the field, and it is never written again.
        let last = unsafe { &*last };
        let end = End { slot: front.base.slot, shared: &front.shared, last, dropped };
        W::closed(home, &end, &mut local);
    });
}

/// # Safety
/// `base` is a cell of these types and no reference to it remains.
unsafe fn free<W: World, M: Send + 'static, B: Body<W, M>>(base: NonNull<Base>) {
    // SAFETY: the block was taken for this same type. The body is not dropped: it ended holding
    // nothing, or was never written. The inbox was emptied and the private state taken at the end.
    unsafe {
        let front = base.cast::<Front<W>>().as_ptr();
        (&raw mut (*front).base).drop_in_place();
        (&raw mut (*front).shared).drop_in_place();
        (&raw mut (*front).last).drop_in_place();
        let cell = base.cast::<Cell<W, M, B::Edge, B>>();
        (&raw mut (*cell.as_ptr()).edge).drop_in_place();
        pool::free(cell);
    }
}
