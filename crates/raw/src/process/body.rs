//! Code that depends on the types of a process: its body, its vtable and most of its functions.
//!
//! All other code of a process is compiled once, in this crate.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::inbox::bound::MaybeBound;
use crate::inbox::header::{Class, Envelope, Header};
use crate::memory::pool;
use crate::process::cell::{Base, Cell, Front, Polled, VTable};
use crate::process::code::Code;
use crate::process::end::wind_up;
use crate::process::owner::{InTurn, Owner};
use crate::sync::UnsafeCell;
use crate::{Outgoing, RuntimeTypes};

/// Start of the code of a process, from which its first turn may make a future. The future takes the
/// place of the start.
pub trait Body<W: RuntimeTypes, M: Send + 'static>: Sized + Send + 'static {
    /// Whether its turns may block the thread; the host then runs them on other threads.
    const BLOCKING: bool = false;

    /// Bound of the mailbox, or `()`.
    type Bound: MaybeBound;

    /// Future of the process; `Infallible` if the process has none.
    type Future: Send + 'static;

    /// Runs one turn. `Ready` ends the process with its exit status; the code is then dropped, in the
    /// same turn. Unwinding, also out of the drop, aborts the program.
    fn turn(
        code: Code<'_, Self, Self::Future>,
        me: InTurn<'_, W, M>,
        cx: &mut Context<'_>,
    ) -> Poll<W::ExitStatus>;

    /// Returns the name shown in process listings.
    fn name() -> &'static str;
}

/// Cell of a process that starts with a `B`.
pub(crate) type CellOf<W, M, B> =
    Cell<W, M, <B as Body<W, M>>::Bound, B, <B as Body<W, M>>::Future>;

/// Returns the size of such a cell in bytes.
pub const fn cell_bytes<W: RuntimeTypes, M: Send + 'static, B: Body<W, M>>() -> usize {
    size_of::<CellOf<W, M, B>>()
}

/// Returns the vtable of the processes of these types.
pub(crate) const fn vtable<W: RuntimeTypes, M: Send + 'static, B: Body<W, M>>() -> &'static VTable {
    const {
        &VTable {
            poll: poll::<W, M, B>,
            wind_up: wind_up::<W, M>,
            free: free::<W, M, B>,
            sent: sent::<W, M>,
            discard: discard::<W, M>,
            block: pool::Block::of::<CellOf<W, M, B>>(),
            message: std::any::TypeId::of::<M>,
            family: std::any::TypeId::of::<W>,
            message_name: std::any::type_name::<M>,
            body_name: B::name,
            blocking: B::BLOCKING,
            bound_offset: match B::Bound::BOUNDED {
                true => std::mem::offset_of!(CellOf<W, M, B>, bound),
                false => 0,
            },
            code_offset: std::mem::offset_of!(CellOf<W, M, B>, code),
            bytes: cell_bytes::<W, M, B>(),
            envelope: size_of::<Envelope<M>>(),
        }
    }
}

/// Initialises the typed fields of a new cell whose base is initialised. The code stays
/// uninitialised.
///
/// # Safety
/// `base` is the start of a block for a cell of these types, to which no other reference exists.
#[inline]
pub(crate) unsafe fn furnish<W: RuntimeTypes, M: Send + 'static, B: Body<W, M>>(
    base: NonNull<Base>,
    shared: W::Shared,
    local: W::Local,
    bound: B::Bound,
) -> NonNull<CellOf<W, M, B>> {
    let cell = base.cast::<CellOf<W, M, B>>();
    // WHY field by field: a cell built on the stack would be copied here as a whole.
    // SAFETY: the block is large enough for the cell.
    unsafe {
        let front = base.cast::<Front<W>>().as_ptr();
        (&raw mut (*front).shared).write(shared);
        if W::has_state(&local) {
            base.as_ref().describe_local::<W>(&local);
        }
        (&raw mut (*front).local).write(UnsafeCell::new(local.into()));
        (&raw mut (*cell.as_ptr()).bound).write(bound);
    }
    cell
}

/// Calls [`RuntimeTypes::sent`] for a signal that a traced process is about to send.
///
/// # Safety
/// `base` is a cell of these types, kept alive by the caller. The caller owns the envelope, whose
/// payload type is the one of its class in this cell.
unsafe fn sent<W: RuntimeTypes, M: Send + 'static>(base: NonNull<Base>, header: NonNull<Header>) {
    // SAFETY: by the contract.
    unsafe {
        let front = base.cast::<Front<W>>().as_ref();
        let what = match header.as_ref().class() {
            Class::Message => Outgoing::Message(Envelope::<M>::peek(header)),
            Class::Signal => Outgoing::Signal(Envelope::<W::Signal>::peek(header)),
        };
        W::sent(front.base.slot, &front.shared, (front.base.vtable.message_name)(), what);
    }
}

/// [`exit_status`](crate::process::cell::exit_status) without reading the offset from the vtable.
///
/// # Safety
/// `base` is the start of a cell of these types.
#[inline(always)]
unsafe fn place_of_exit_status<W: RuntimeTypes, M: Send + 'static, B: Body<W, M>>(
    base: NonNull<Base>,
) -> *mut UnsafeCell<W::ExitStatus> {
    // SAFETY: by the contract; all fields of a `Contents` lie at its beginning.
    unsafe { (&raw mut (*base.cast::<CellOf<W, M, B>>().as_ptr()).code).cast() }
}

/// Polls the body. `extern "C"` aborts the program on unwinding.
///
/// # Safety
/// `base` is a cell of these same types, and this thread is in its turn.
unsafe extern "C" fn poll<W: RuntimeTypes, M: Send + 'static, B: Body<W, M>>(
    base: NonNull<Base>,
    cx: &mut Context<'_>,
) -> Polled {
    // SAFETY: the process lives at least as long as its turn.
    let cell = unsafe { base.cast::<CellOf<W, M, B>>().as_ref() };
    // SAFETY: this handle is never dropped, so it needs no counted reference; the table's keeps the
    // cell alive meanwhile.
    let me = ManuallyDrop::new(unsafe { Owner::<W, M>::new(base) });
    // SAFETY: `cell` is of these types, and this thread is in its turn, the only user of its code.
    let code = || unsafe {
        Code::<B, B::Future>::new(NonNull::from(&cell.code).cast(), &cell.front.base.stage)
    };
    // SAFETY: the turn outlives the call.
    let polled = B::turn(code(), unsafe { InTurn::new(&me) }, cx);
    let Poll::Ready(last) = polled else { return Polled::Pending };
    code().clear();
    // SAFETY: this is the last turn, so the code is not accessed again. No thread reads the exit
    // status before the inbox is closed.
    unsafe { place_of_exit_status::<W, M, B>(base).write(UnsafeCell::new(last)) };
    Polled::Ended
}

/// Drops a message that no process receives.
///
/// # Safety
/// The caller owns the header of an envelope of an `M`.
unsafe fn discard<W: RuntimeTypes, M>(header: NonNull<Header>) {
    // SAFETY: by the contract.
    W::contain(|| drop(unsafe { Envelope::<M>::open(header) }));
}

/// # Safety
/// `base` is a cell of these types and no reference to it remains.
unsafe fn free<W: RuntimeTypes, M: Send + 'static, B: Body<W, M>>(base: NonNull<Base>) {
    // SAFETY: the block was taken for this same type. The process has ended, so the code is its
    // exit status. The inbox was emptied and the private state taken at the end.
    unsafe {
        let front = base.cast::<Front<W>>().as_ptr();
        (&raw mut (*front).base).drop_in_place();
        (&raw mut (*front).shared).drop_in_place();
        let cell = base.cast::<CellOf<W, M, B>>();
        place_of_exit_status::<W, M, B>(base).drop_in_place();
        (&raw mut (*cell.as_ptr()).bound).drop_in_place();
        pool::free(cell);
    }
}
