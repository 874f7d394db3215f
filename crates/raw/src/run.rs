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
//!    into the process. Then the slot is vacated, the inbox closed, what waited in it dropped or
//!    handed to the world, the world told, those who wait for room in its mailbox let go, and the
//!    table's reference given up. A process that nobody else refers to needs no closing: once it
//!    has left the table nobody can find it.

use std::ptr::NonNull;
use std::task::Context;

use crate::cell::{AGAIN, Base, KEPT, LET_GO, LISTENING, Polled, RUNNING, count, edge};
use crate::credit;
use crate::current::Turn;
use crate::head::Slept;
use crate::realm::RealmBase;
use crate::sync::Ordering;
use crate::table::Slot;
use crate::wake;

/// Cache lines that are fetched ahead: those of the cell with most of a short body.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LINES: usize = 4;

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
    // WHY always: it is the body of the workers' loop, and a call of its own saves and restores six registers.
    #[inline(always)]
    pub fn run(self) -> Ran {
        let base = self.0;
        // SAFETY: the process lives until it sleeps or ends, since only its right to run, which we
        // hold, can end it.
        let cell = unsafe { base.as_ref() };
        let turn = Turn::begin(base, cell.set_running(RUNNING));
        let waker = wake::borrowed(base);
        // SAFETY: the vtable is the cell's own, and this thread is in its turn.
        let polled = unsafe { (cell.vtable.poll)(base, &mut Context::from_waker(&waker)) };
        let (sent, work) = turn.account();
        count(&cell.sent, sent);
        count(&cell.reductions, sent + work);
        if polled != Polled::Pending {
            // SAFETY: the turn has ended the process, and the right to run is ours.
            turn.over(cell.slot, || unsafe { end(base) });
            return Ran::Ended;
        }
        let asked = cell.turn.load(Ordering::Relaxed);
        cell.set_running(0);
        if asked & AGAIN != 0 || cell.head.sleep(asked & LISTENING == 0) == Slept::Again {
            // The process does not sleep, so the right to run is still ours.
            return Ran::Again(self);
        }
        Ran::Asleep
    }

    /// Has the processor fetch what the turn will touch first, while something else runs.
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        for line in 0..LINES {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let address = self.0.as_ptr().cast::<i8>().wrapping_add(line * 64);
            // SAFETY: the processor may fetch any address or none, and does not fault.
            unsafe { _mm_prefetch(address, _MM_HINT_T0) };
        }
    }

    /// Whether the turn may block the thread.
    #[inline]
    pub fn blocking(&self) -> bool {
        // SAFETY: as in `run`.
        unsafe { self.0.as_ref() }.vtable.blocking
    }

    /// The slot of the process.
    #[inline]
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

/// WHY in four: a process to which nobody refers ends without a call before its cell is freed, so that
/// no register is saved.
///
/// # Safety
/// `base` is a cell whose last turn has just ended on this thread, which is not marked as running it
/// any more.
unsafe fn end(base: NonNull<Base>) {
    // SAFETY: the table's reference keeps the cell, and the worker that runs this keeps the realm.
    let (cell, realm) = unsafe { (base.as_ref(), base.as_ref().realm.as_ref()) };
    if realm.vacate_at_once(cell.slot) {
        // SAFETY: by the contract; the process has left its table.
        unsafe { leave(base) }
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
    let (cell, realm) = unsafe { (base.as_ref(), base.as_ref().realm.as_ref()) };
    realm.vacate(cell.slot);
    // SAFETY: by the contract; the process has left its table.
    unsafe { leave(base) }
}

/// # Safety
/// As for [`end`], and the process has left its table.
#[inline(always)]
unsafe fn leave(base: NonNull<Base>) {
    // SAFETY: the table's reference keeps the cell.
    let cell = unsafe { base.as_ref() };
    let turn = cell.turn.load(Ordering::Relaxed);
    let own = 1 + u32::from(turn & LET_GO != 0);
    // SAFETY: the table's reference is ours now, and so is that of a handle that was let go.
    let (references, alone) = unsafe { credit::gather(base, own) };
    let waiting = cell.waiting.load(Ordering::Relaxed);
    let keeps = turn & KEPT != 0;
    if alone && waiting == 0 && !keeps && !cell.head.has_news() {
        // SAFETY: the references were all there are.
        unsafe { (cell.vtable.free)(base) }
    } else {
        // SAFETY: by the contract, and the references are ours.
        unsafe { wind_up(base, references, alone) }
    }
}

/// # Safety
/// As for [`leave`]; the caller has gathered these references, which are all there are if `alone`.
#[inline(never)]
unsafe fn wind_up(base: NonNull<Base>, references: u32, alone: bool) {
    // SAFETY: the table's reference keeps the cell until the end of this function.
    let cell = unsafe { base.as_ref() };
    let arrived = if alone { cell.head.rest() } else { cell.head.close() };
    let keeps = cell.turn.load(Ordering::Relaxed) & KEPT != 0;
    if keeps || cell.waiting.load(Ordering::Relaxed) > 0 || arrived.len > 0 {
        // SAFETY: the vtable is the cell's own, and the chain came out of the word.
        unsafe { (cell.vtable.wind_up)(base, &arrived) };
    }
    // SAFETY: the table's reference keeps the cell.
    if let Some(edge) = unsafe { edge(base) } {
        edge.line.let_go();
    }
    // ORDER: release to `Ref::is_over`: what waited has been dropped and counted.
    cell.turn.store(0, Ordering::Release);
    // SAFETY: these are the table's reference, that of a handle that was let go, and this thread's
    // credit; the cell is not touched again.
    unsafe { credit::count_down(base, references) };
}
