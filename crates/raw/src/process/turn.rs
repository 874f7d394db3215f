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
//! 4. *Ready*: the body is dropped. Then the thread's context is cleared, so that no destructor can
//!    re-enter the process, and the process [ends](crate::process::end).

use std::task::Context;

use crate::inbox::state::SleepOutcome;
use crate::process::cell::{BEHIND, LISTENING, Polled, RESCHEDULE, RUNNING, Runnable, count};
use crate::process::context::Turn;
use crate::process::end::end;
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
    Again {
        /// The process.
        runnable: Runnable,
        /// Whether the turn has used up its budget with receives: the process is behind its senders.
        behind: bool,
    },
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
            return TurnOutcome::Again { runnable: self, behind: asked & BEHIND != 0 };
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
