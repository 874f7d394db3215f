//! End of a process, after its last turn.
//!
//! The slot is vacated, the inbox closed, its contents handed to the layer above or dropped,
//! `RuntimeTypes::closed` called, the wait list of the mailbox released, and the table's reference
//! dropped. A process without other references needs no closing: once it has left the table, no
//! thread can find it.

use std::ptr::NonNull;

use crate::catch_panic::catch_panic;
use crate::inbox::batch::Batch;
use crate::inbox::bound::Overflow;
use crate::inbox::header::{Class, Envelope, Header, MARKED};
use crate::process::cell::{
    Base, Front, HANDLE_DROPPED, HAS_LOCAL, NodeCoreBase, bound, exit_status,
};
use crate::process::deferred_rc;
use crate::process::node_base::NodeCoreInner;
use crate::sync::Ordering;
use crate::table::entry::TABLE_REFERENCES;
use crate::{End, RuntimeTypes};

/// WHY four functions: a process without other references then ends without a call before its cell
/// is freed, so no register is saved.
///
/// # Safety
/// `base` is a cell whose last turn has just ended on this thread, whose context no longer names
/// it.
pub(super) unsafe fn end(base: NonNull<Base>) {
    // SAFETY: the process is in its table, which keeps the cell and the node core alive. If
    // `try_vacate` removes it, the thread is a worker of the node core and holds a handle.
    let (cell, node_core) = unsafe { (base.as_ref(), base.as_ref().node.as_ref()) };
    // SAFETY: by the contract.
    if let Some(references) = unsafe { node_core.try_vacate(cell.slot) } {
        // SAFETY: by the contract; the process has left its table.
        unsafe { leave(base, references) }
    } else {
        // SAFETY: by the contract.
        unsafe { end_slowly(base) }
    }
}

/// [`end`] if the slot cache is full, or the thread is not a worker.
///
/// # Safety
/// As for [`end`].
#[cold]
#[inline(never)]
unsafe fn end_slowly(base: NonNull<Base>) {
    // SAFETY: by the contract: the process is in its table, which keeps both alive. The process
    // has left the table before `leave`, or the node core is leaked and nothing looks into its table
    // any more.
    unsafe {
        let cell = base.as_ref();
        NodeCoreBase::with_handle(cell.node, |counted| {
            let references = match counted {
                true => cell.node.as_ref().vacate(cell.slot),
                false => TABLE_REFERENCES,
            };
            leave(base, references);
        });
    }
}

/// # Safety
/// As for [`end`], no look-up finds the process any more, and the table's `references` are the
/// caller's.
#[inline(always)]
unsafe fn leave(base: NonNull<Base>, references: u32) {
    // SAFETY: the table's references, now this thread's, keep the cell alive.
    let cell = unsafe { base.as_ref() };
    let turn = cell.turn.load(Ordering::Relaxed);
    let own = references + u32::from(turn & HANDLE_DROPPED != 0);
    // SAFETY: this thread holds the table's references and, with `HANDLE_DROPPED`, that of the
    // handle.
    let (references, alone) = unsafe { deferred_rc::take_deferred(base, own) };
    let has_local = turn & HAS_LOCAL != 0;
    // WHY not with a bound: its list of spilled signals may not be empty.
    let unbounded = cell.vtable.bound_offset == 0;
    if alone && unbounded && cell.inbox.saved() == 0 && !has_local && !cell.inbox.has_arrivals() {
        // SAFETY: this thread holds all references that exist.
        unsafe { (cell.vtable.free)(base) }
    } else {
        // SAFETY: by the contract, and this thread holds the references.
        unsafe { close(base, references, alone) }
    }
}

/// # Safety
/// As for [`leave`]; the caller holds `references` references, which are all that exist if `alone`.
#[inline(never)]
unsafe fn close(base: NonNull<Base>, references: u32, alone: bool) {
    // SAFETY: the table's reference keeps the cell alive until the end of this function.
    let cell = unsafe { base.as_ref() };
    // SAFETY: this thread ran the last turn, which wrote the exit status. If `alone`, it holds all
    // references.
    let mut arrived =
        unsafe { if alone { cell.inbox.take_exclusive() } else { cell.inbox.close() } };
    // SAFETY: the table's reference keeps the cell alive.
    let bound = unsafe { bound(base) };
    // WHY not only while senders spill: one that has found the inbox open may be about to.
    if let Some(bound) = bound.filter(|bound| bound.overflow() == Overflow::DropOldest) {
        // SAFETY: both batches are owned here.
        unsafe { arrived.append(bound.take_spilled()) };
    }
    let has_local = cell.turn.load(Ordering::Relaxed) & HAS_LOCAL != 0;
    if has_local || cell.inbox.saved() > 0 || arrived.len > 0 {
        // SAFETY: the vtable belongs to the cell, and the batch came from its inbox.
        unsafe { (cell.vtable.wind_up)(base, &arrived) };
    }
    if let Some(bound) = bound {
        bound.wait_list.wake_all();
    }
    // ORDER: release to `Ref::is_drained`: the queued messages have been dropped and counted.
    cell.turn.store(0, Ordering::Release);
    // SAFETY: these are the table's reference, that of a dropped handle, and this thread's deferred
    // ones; the cell is not accessed again.
    unsafe { deferred_rc::count_down(base, references) };
}

/// Hands the queued messages and signals to the layer above, drops the messages that it returns,
/// and calls [`RuntimeTypes::closed`].
///
/// # Safety
/// `base` is a cell of these types that has ended and is in no turn. The caller owns the batch,
/// which came from the cell's inbox.
pub(super) unsafe extern "C" fn wind_up<W: RuntimeTypes, M: Send + 'static>(
    base: NonNull<Base>,
    arrived: &Batch,
) {
    // SAFETY: the caller holds a reference to the cell, and its thread a handle on the node core.
    let (front, node_state) = unsafe {
        let front = base.cast::<Front<W>>().as_ref();
        (front, &front.base.node.cast::<NodeCoreInner<W>>().as_ref().state)
    };
    // SAFETY: the process is in no turn, so only this thread accesses the field.
    let mut local = front.local.with(|local| unsafe { &*local }.take());
    let mut dropped = 0;
    let mut discard = |class: Class, header: NonNull<Header>| {
        // SAFETY: the header came from this process's inbox or save queue, where envelopes are of
        // class `Message` with payload `M`, or of class `Signal` with payload `W::Signal`.
        unsafe {
            match class {
                Class::Message => {
                    let from_signal = header.as_ref().tags() & MARKED != 0;
                    let (message, _) = Envelope::<M>::open(header);
                    let unread =
                        if from_signal { Some(message) } else { W::unread(&mut local, message) };
                    if let Some(message) = unread {
                        dropped += 1;
                        catch_panic(|| drop(message));
                    }
                }
                Class::Signal => {
                    W::undelivered(node_state, &mut local, Envelope::<W::Signal>::open(header).0);
                }
            }
        }
    };
    if let Some(extension) = front.base.inbox.extension() {
        // SAFETY: the process is in no turn, so only this thread accesses the save queue. No
        // reference to it is held while user code runs.
        let pop = || extension.save_queue.with_mut(|queue| unsafe { (*queue).pop() });
        while let Some(header) = pop() {
            discard(Class::Message, header);
        }
        extension.waiting.store(0, Ordering::Relaxed);
    }
    let mut rest = arrived.oldest;
    while let Some(header) = NonNull::new(rest) {
        // SAFETY: the caller owns the batch.
        let class = unsafe {
            rest = header.as_ref().next();
            header.as_ref().class()
        };
        discard(class, header);
    }
    // SAFETY: the caller holds a reference to the cell, which has ended.
    unsafe { exit_status::<W>(base).as_ref() }.with(|last| {
        // SAFETY: the last turn wrote the exit status, and it is never written again.
        let last = unsafe { &*last };
        let end = End { slot: front.base.slot, shared: &front.shared, exit_status: last, dropped };
        W::closed(node_state, &end, &mut local);
    });
}
