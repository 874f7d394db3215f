//! One turn of a process: from the run queue to sleep, back to the run queue, or to its end.
//!
//! Called by workers. The right to run is a [`Runnable`], of which a process has at most one at any
//! time; running it consumes it.
//!
//! # A turn
//!
//! 1. The thread's context is set to this process, with a full budget.
//! 2. The body handles its signals and polls its future; it never unwinds.
//! 3. *Pending*: the process sleeps, unless it asked to run again, was woken, or has mail. Once it
//!    sleeps, another thread may run and even free it, so the cell is not accessed afterwards.
//! 4. *Ready*: the thread's context is cleared, so that no destructor can re-enter the process.
//!    Then the slot is vacated, the inbox closed, its contents dropped or handed to the layer
//!    above, `RuntimeTypes::closed` called, the wait list of the mailbox released, and the table's
//!    reference dropped. A process without other references needs no closing: once it has left the
//!    table, no thread can find it.

use std::ptr::NonNull;
use std::task::Context;

use crate::inbox::state::SleepOutcome;
use crate::process::cell::{
    Base, HANDLE_DROPPED, HAS_LOCAL, LISTENING, Polled, RESCHEDULE, RUNNING, Runnable, bound, count,
};
use crate::process::context::{Turn, is_running};
use crate::process::deferred_rc;
use crate::process::waker;
use crate::sync::Ordering;
use crate::table::Slot;

/// Cache lines to prefetch: those of the cell, with most of a short body.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LINES: usize = 4;

/// Result of a turn.
#[must_use]
#[derive(Debug)]
pub enum TurnOutcome {
    /// The process sleeps. The thread that wakes it schedules it.
    Asleep,
    /// The process must be queued again, behind the others.
    Again(Runnable),
    /// The process has ended.
    Ended,
}

impl Runnable {
    /// Runs one turn.
    // WHY `inline(always)`: this is the body of the worker loop; a call would save and restore six
    // registers.
    #[inline(always)]
    pub fn run(self) -> TurnOutcome {
        let base = self.0;
        // SAFETY: the process lives until it sleeps or ends, because only its right to run, which
        // is held here, can end it.
        let cell = unsafe { base.as_ref() };
        // SAFETY: this thread holds the right to run the process.
        let turn = unsafe { Turn::begin(base, cell.set_running(RUNNING)) };
        // SAFETY: the process lives at least until the turn ends.
        let waker = unsafe { waker::borrowed(base) };
        // SAFETY: the vtable belongs to the cell, and this thread is in its turn.
        let polled = unsafe { (cell.vtable.poll)(base, &mut Context::from_waker(&waker)) };
        let (sent, work) = turn.finish();
        count(&cell.sent, sent);
        count(&cell.reductions, sent + work);
        if polled != Polled::Pending {
            // SAFETY: the turn has ended the process, and this thread holds the right to run.
            turn.end(cell.slot, || unsafe { end(base) });
            return TurnOutcome::Ended;
        }
        let asked = cell.turn.load(Ordering::Relaxed);
        cell.set_running(0);
        if asked & RESCHEDULE != 0
            // SAFETY: the right to run is held here, and given up if the process sleeps.
            || unsafe { cell.inbox.sleep(asked & LISTENING == 0) } == SleepOutcome::Again
        {
            // The process does not sleep, so this thread still holds the right to run.
            return TurnOutcome::Again(self);
        }
        TurnOutcome::Asleep
    }

    /// Prefetches the memory that the turn accesses first, while other code runs.
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        for line in 0..LINES {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let address = self.0.as_ptr().cast::<i8>().wrapping_add(line * 64);
            // SAFETY: a prefetch of any address is harmless and does not fault.
            unsafe { _mm_prefetch(address, _MM_HINT_T0) };
        }
    }

    /// Returns whether the turn may block the thread.
    #[inline]
    pub fn blocking(&self) -> bool {
        // SAFETY: as in `run`.
        unsafe { self.0.as_ref() }.vtable.blocking
    }

    /// Returns the slot of the process.
    #[inline]
    pub fn slot(&self) -> Slot {
        // SAFETY: as in `run`.
        unsafe { self.0.as_ref() }.slot
    }
}

/// Releases the reference of a process's own handle.
///
/// # Safety
/// As for [`deferred_rc::release`].
pub(crate) unsafe fn release_handle(base: NonNull<Base>) {
    if is_running(base) {
        // SAFETY: a process lives at least as long as its turn.
        unsafe { base.as_ref() }.set_flag(HANDLE_DROPPED);
    } else {
        // SAFETY: by the contract.
        unsafe { deferred_rc::release(base) }
    }
}

/// WHY four functions: a process without other references then ends without a call before its cell
/// is freed, so no register is saved.
///
/// # Safety
/// `base` is a cell whose last turn has just ended on this thread, whose context no longer names
/// it.
unsafe fn end(base: NonNull<Base>) {
    // SAFETY: the table's reference keeps the cell alive, and the calling worker's handle the
    // node core.
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

/// # Safety
/// As for [`end`].
#[cold]
#[inline(never)]
unsafe fn end_slowly(base: NonNull<Base>) {
    // SAFETY: as in `end`.
    let (cell, node_core) = unsafe { (base.as_ref(), base.as_ref().node.as_ref()) };
    // SAFETY: by the contract; the process has left its table before `leave`.
    unsafe {
        let references = node_core.vacate(cell.slot);
        leave(base, references);
    }
}

/// # Safety
/// As for [`end`], and the process has left its table, whose `references` are the caller's.
#[inline(always)]
unsafe fn leave(base: NonNull<Base>, references: u32) {
    // SAFETY: the table's references, now this thread's, keep the cell alive.
    let cell = unsafe { base.as_ref() };
    let turn = cell.turn.load(Ordering::Relaxed);
    let own = references + u32::from(turn & HANDLE_DROPPED != 0);
    // SAFETY: this thread holds the table's references and, with `HANDLE_DROPPED`, that of the
    // handle.
    let (references, alone) = unsafe { deferred_rc::take_deferred(base, own) };
    let waiting = cell.waiting.load(Ordering::Relaxed);
    let has_local = turn & HAS_LOCAL != 0;
    if alone && waiting == 0 && !has_local && !cell.inbox.has_arrivals() {
        // SAFETY: this thread holds all references that exist.
        unsafe { (cell.vtable.free)(base) }
    } else {
        // SAFETY: by the contract, and this thread holds the references.
        unsafe { wind_up(base, references, alone) }
    }
}

/// # Safety
/// As for [`leave`]; the caller holds `references` references, which are all that exist if `alone`.
#[inline(never)]
unsafe fn wind_up(base: NonNull<Base>, references: u32, alone: bool) {
    // SAFETY: the table's reference keeps the cell alive until the end of this function.
    let cell = unsafe { base.as_ref() };
    // SAFETY: this thread ran the last turn, which wrote the exit status. If `alone`, it holds all
    // references.
    let arrived = unsafe { if alone { cell.inbox.take_exclusive() } else { cell.inbox.close() } };
    let has_local = cell.turn.load(Ordering::Relaxed) & HAS_LOCAL != 0;
    if has_local || cell.waiting.load(Ordering::Relaxed) > 0 || arrived.len > 0 {
        // SAFETY: the vtable belongs to the cell, and the batch came from its inbox.
        unsafe { (cell.vtable.wind_up)(base, &arrived) };
    }
    // SAFETY: the table's reference keeps the cell alive.
    if let Some(bound) = unsafe { bound(base) } {
        bound.wait_list.wake_all();
    }
    // ORDER: release to `Ref::is_drained`: the queued messages have been dropped and counted.
    cell.turn.store(0, Ordering::Release);
    // SAFETY: these are the table's reference, that of a dropped handle, and this thread's deferred
    // ones; the cell is not accessed again.
    unsafe { deferred_rc::count_down(base, references) };
}
