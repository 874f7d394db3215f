//! What depends on the types of a process: its body, and the functions of its vtable.
//!
//! Everything else of a process is compiled once, in this crate.

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

/// The code of a process.
pub trait Body<W: World, M: Send + 'static>: Send + 'static {
    /// Whether its turns may block the thread, so that the host runs them elsewhere.
    const BLOCKING: bool = false;

    /// What the mailbox has at its edge.
    type Edge: Bounds;

    /// Takes one turn. `Ready` ends the process and says how it ended; by then the body has dropped
    /// whatever it held, for it is not dropped any more. Must not unwind: the program is aborted if
    /// it does.
    fn turn(self: Pin<&mut Self>, me: &Owner<W, M>, cx: &mut Context<'_>) -> Poll<W::Last>;

    /// What it is called where people look at processes.
    fn name() -> &'static str;
}

/// The vtable of the processes of these types.
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

/// Writes what the types of a new cell ask for, behind its base; the body is still to be written.
///
/// # Safety
/// `base` begins a block for a cell of these types, which nobody else knows.
#[inline]
pub(crate) unsafe fn furnish<W: World, M: Send + 'static, B: Body<W, M>>(
    base: NonNull<Base>,
    shared: W::Shared,
    local: W::Local,
    edge: B::Edge,
) -> NonNull<Cell<W, M, B::Edge, MaybeUninit<B>>> {
    let cell = base.cast::<Cell<W, M, B::Edge, MaybeUninit<B>>>();
    // WHY field by field: a cell built on the stack would be copied here whole.
    // SAFETY: the block has room for them.
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

/// Shows the world what a process that is traced is about to send.
///
/// # Safety
/// `base` is a cell of these types that the caller keeps; the envelope is the caller's, and what its class says
/// in this cell.
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

/// `extern "C"` aborts the program if it unwinds.
///
/// # Safety
/// `base` is a cell of these very types, and this thread is in its turn.
unsafe extern "C" fn poll<W: World, M: Send + 'static, B: Body<W, M>>(
    base: NonNull<Base>,
    cx: &mut Context<'_>,
) -> Polled {
    // SAFETY: the process lives as long as its turn.
    let cell = unsafe { base.cast::<Cell<W, M, B::Edge, B>>().as_ref() };
    // SAFETY: the reference that this handle would give up is never given up; the table's keeps the
    // cell meanwhile.
    let me = ManuallyDrop::new(unsafe { Owner::<W, M>::new(base) });
    let polled = cell.body.with_mut(|body| {
        // SAFETY: only the running turn touches the body, and the cell never moves.
        unsafe { Pin::new_unchecked(&mut *body) }.turn(&me, cx)
    });
    let Poll::Ready(last) = polled else { return Polled::Pending };
    // SAFETY: this is the last turn, and nobody reads it before the inbox is closed.
    // WHY not assigned: the compiler would drop what was there, which is the default.
    cell.front.last.with_mut(|place| unsafe { place.write(last) });
    Polled::Ended
}

/// Drops or hands over what waited in the inbox, and tells the world.
///
/// # Safety
/// `base` is a cell of these types which has ended and is in nobody's turn; the chain is the
/// caller's and came out of its word.
unsafe extern "C" fn wind_up<W: World, M: Send + 'static>(base: NonNull<Base>, arrived: &Chain) {
    // SAFETY: the caller holds a reference, and its worker the realm.
    let (front, home) = unsafe {
        let front = base.cast::<Front<W>>().as_ref();
        (front, &front.base.realm.cast::<RealmInner<W>>().as_ref().home)
    };
    // SAFETY: nobody is in the process's turn, so this is the only thread here.
    let mut local = front.local.with(|local| unsafe { &*local }.take());
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
                    W::undelivered(home, &mut local, Envelope::<W::Signal>::open(link).0);
                }
            }
        }
    };
    // SAFETY: nobody is in the process's turn, so the FIFO is ours; no reference is kept while user
    // code runs.
    while let Some(link) = front.base.fifo.with_mut(|fifo| unsafe { (*fifo).pop() }) {
        discard(link);
    }
    let mut rest = arrived.oldest;
    while let Some(link) = NonNull::new(rest) {
        // SAFETY: the chain is ours.
        rest = unsafe { link.as_ref().next() };
        discard(link);
    }
    front.base.waiting.store(0, Ordering::Relaxed);
    front.last.with(|last| {
        // SAFETY: the last turn wrote it, and it is never written again.
        let last = unsafe { &*last };
        let end = End { slot: front.base.slot, shared: &front.shared, last, dropped };
        W::closed(home, &end, &mut local);
    });
}

/// # Safety
/// `base` is a cell of these types and nobody holds a reference to it.
unsafe fn free<W: World, M: Send + 'static, B: Body<W, M>>(base: NonNull<Base>) {
    // SAFETY: a block taken for this very type. The body is not dropped because it ended holding
    // nothing, or was never written; the inbox was emptied and the local state taken at the end.
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
