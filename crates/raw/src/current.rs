//! Which process this thread is running, and what is left of its budget.
//!
//! A *turn* is one poll of a process by a worker. A thread runs one at a time. Everything that only
//! the process itself may do asks [`is_running`] first, so a handle that has wandered to another
//! thread cannot do harm.
//!
//! COST: a read of a thread-local that needs no initialisation.

use std::any::TypeId;
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::task::Waker;

use crate::World;
use crate::address::Ref;
use crate::cell::{self, AGAIN, Base, Front};
use crate::credit;
use crate::sync::{Ordering, thread_local, thread_number};
use crate::table::Slot;
use crate::wake;

/// Units of work in one turn: receiving a message, sending in a loop that asks, and so on. When
/// they are used up a process yields at its next opportunity.
pub const BUDGET: u32 = 512;

/// What a spawn costs of it. WHY so much: it takes as long as the receipt of some eight messages; and
/// a process that spawns in a loop then yields after some fifty, whose cells are still in the first
/// cache when they run.
const SPAWN: u32 = 7;

/// In [`Now::sent`]: the turn is traced. WHY there: whoever counts a send sees it by the sign of the sum.
const TRACED: u32 = 1 << 31;

/// What a thread knows of the turn that it is in.
///
/// WHY in one: the compiler then finds all of it from one address.
struct Now {
    running: Cell<*const Base>,
    /// What is left of the budget.
    left: Cell<u32>,
    /// What this thread has sent in the turn that it is in, or was in last.
    sent: Cell<u32>,
    /// The number of the sender outside of any turn, and one; 0 until it matters.
    sender: Cell<u32>,
    work: Cell<u64>,
    /// What was sent in turns that are over.
    sends: Cell<u64>,
}

thread_local! {
    static NOW: Now = const {
        Now {
            running: Cell::new(ptr::null()),
            left: Cell::new(0),
            sent: Cell::new(0),
            sender: Cell::new(0),
            work: Cell::new(0),
            sends: Cell::new(0),
        }
    };
}

#[inline(always)]
fn now<R>(f: impl FnOnce(&Now) -> R) -> R {
    NOW.with(f)
}

/// Marks the thread as running a process until it is dropped.
pub(crate) struct Turn {
    before: (*const Base, u32),
}

impl Turn {
    #[inline]
    pub(crate) fn begin(base: NonNull<Base>, turn: u8) -> Self {
        now(|now| {
            now.sent.set(u32::from(turn & cell::TRACED) * (TRACED / u32::from(cell::TRACED)));
            Self { before: (now.running.replace(base.as_ptr()), now.left.replace(BUDGET)) }
        })
    }

    /// Counts the turn as done; says what it has sent, and the rest of its reductions: the poll itself, and what
    /// it has used of its budget.
    #[inline]
    pub(crate) fn account(&self) -> (u64, u64) {
        now(|now| {
            let work = u64::from(BUDGET - now.left.get()) + 1;
            now.work.set(now.work.get() + work);
            let sent = u64::from(now.sent.get() & !TRACED);
            now.sends.set(now.sends.get().wrapping_add(sent));
            (sent, work)
        })
    }

    /// The process has ended, and `f` clears up: the thread runs nothing meanwhile, but what it
    /// sends is still the process's.
    pub(crate) fn over(self, slot: Slot, f: impl FnOnce()) {
        let thread = now(|now| {
            now.running.set(ptr::null());
            now.sender.replace(slot.index() + 1)
        });
        f();
        now(|now| now.sender.set(thread));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        now(|now| {
            now.running.set(self.before.0);
            now.left.set(self.before.1);
        });
    }
}

/// What this thread has done for processes: their turns, and the budget they have spent in those
/// that are over.
// WHY never inlined: see `pool`.
#[inline(never)]
pub fn work_done() -> u64 {
    now(|now| now.work.get())
}

/// Messages and signals that processes have sent in turns on this thread that are over.
#[inline(never)]
pub fn sends_done() -> u64 {
    now(|now| now.sends.get())
}

/// Shows to those who look that the process whose turn this thread is in waits for an answer of `whom`, if
/// that lives in the same realm. It does until [`waits_for_nobody`] is called in a turn of its; an
/// [`Answer`](crate::Answer) that is given up sees to that itself.
#[inline]
pub fn waits_for<W: World>(whom: &Ref<W>) {
    let Some(base) = NonNull::new(running().cast_mut()) else { return };
    // SAFETY: as in `current_slot`.
    let base = unsafe { base.as_ref() };
    if whom.is_beside(base) {
        // ORDER: relaxed, here and below: it is something to look at.
        base.waits_for.store(whom.slot().index() + 1, Ordering::Relaxed);
    }
}

/// The process whose turn this thread is in waits for nobody's answer any more.
#[inline]
pub fn waits_for_nobody() {
    let Some(base) = NonNull::new(running().cast_mut()) else { return };
    // SAFETY: as in `current_slot`.
    unsafe { base.as_ref() }.waits_for.store(0, Ordering::Relaxed);
}

/// The process whose turn this thread is in, or null.
#[inline(always)]
fn running() -> *const Base {
    now(|now| now.running.get())
}

/// Whether this thread is in a turn of that process.
#[inline]
pub(crate) fn is_running(base: NonNull<Base>) -> bool {
    ptr::eq(running(), base.as_ptr())
}

/// Who sends what this thread sends, as a number: the process whose turn or end it is in, else the
/// thread. Two senders may have the same number; one sender always has the same.
pub(crate) fn sender() -> u32 {
    if let Some(slot) = current_slot() {
        return slot.index();
    }
    now(|now| {
        if now.sender.get() == 0 {
            now.sender.set(thread_number().wrapping_add(1));
        }
        now.sender.get().wrapping_sub(1)
    })
}

/// Whether this thread is in a turn of any process.
#[inline]
pub fn in_process() -> bool {
    !running().is_null()
}

/// The slot of the process whose turn this thread is in.
pub fn current_slot() -> Option<Slot> {
    // SAFETY: a cell lives at least as long as its turn, which is on this thread's stack below us.
    NonNull::new(running().cast_mut()).map(|base| unsafe { base.as_ref() }.slot)
}

/// A waker of the process whose turn this thread is in.
pub fn current_waker() -> Option<Waker> {
    let base = NonNull::new(running().cast_mut())?;
    // SAFETY: as in `current_slot`; the reference that is counted is the waker's.
    unsafe {
        credit::retain(base);
        Some(wake::from_cell(base.as_ptr()))
    }
}

/// Runs `f` on what the process whose turn this thread is in keeps for itself, if it is one of that
/// world. As for [`Owner::local`](crate::Owner::local), `f` runs no user code.
pub fn current_local<W: World, R>(f: impl FnOnce(&mut W::Local) -> R) -> Option<R> {
    let base = NonNull::new(running().cast_mut())?;
    // SAFETY: as in `current_slot`.
    if (unsafe { base.as_ref() }.vtable.world)() != TypeId::of::<W>() {
        return None;
    }
    // SAFETY: a cell of this world, in whose turn this thread is.
    Some(unsafe { on_local::<W, R>(base, f) })
}

/// Runs `f` on what a process keeps for itself.
///
/// # Safety
/// `base` is a cell of this world, and this thread is in its turn.
#[inline]
pub(crate) unsafe fn on_local<W: World, R>(
    base: NonNull<Base>,
    f: impl FnOnce(&mut W::Local) -> R,
) -> R {
    // SAFETY: by the contract.
    let front = unsafe { base.cast::<Front<W>>().as_ref() };
    front.local.with(|local| {
        // SAFETY: by the contract; nobody else touches it meanwhile.
        let place = unsafe { &*local };
        let mut local = place.take();
        let result = f(&mut local);
        front.base.keeps(W::keeps(&local));
        // WHY not dropped: nothing is there, and the compiler does not know.
        std::mem::forget(place.replace(local));
        result
    })
}

/// Charges the process whose turn this thread is in for one that it spawns.
#[inline]
pub(crate) fn spawns() {
    now(|now| now.left.set(now.left.get().saturating_sub(SPAWN)));
}

/// Counts something that this thread sends; whether the turn that it is in is traced.
#[inline]
pub(crate) fn sends() -> bool {
    now(|now| {
        let sent = now.sent.get().wrapping_add(1);
        now.sent.set(sent);
        sent.cast_signed() < 0
    })
}

/// The turns of the process whose turn this thread is in are traced from now on, that one too, or no longer:
/// [`World::sent`] and [`World::received`] are called.
pub fn trace(on: bool) {
    let Some(base) = NonNull::new(running().cast_mut()) else { return };
    // SAFETY: as in `current_slot`.
    unsafe { base.as_ref() }.trace(on);
    trace_turn(on);
}

fn trace_turn(on: bool) {
    now(|now| now.sent.set(now.sent.get() & !TRACED | if on { TRACED } else { 0 }));
}

/// Whether the turn that this thread is in is traced; in none it may be said of the last.
#[inline]
pub fn is_traced() -> bool {
    now(|now| now.sent.get().cast_signed() < 0)
}

/// Runs `f` in a turn that is traced, which is not meanwhile: what `f` sends is not the process's doing.
#[cold]
pub(crate) fn untraced(f: impl FnOnce()) {
    if running().is_null() {
        // It is no process: what it has sent was counted so far.
        return trace_turn(false);
    }
    trace_turn(false);
    f();
    trace_turn(true);
}

/// Spends one unit of the budget; `false` when there was none left. Outside a process there is
/// always one left.
#[inline]
#[must_use]
pub fn spend() -> bool {
    now(|now| match now.left.get() {
        0 => now.running.get().is_null(),
        left => {
            now.left.set(left - 1);
            true
        }
    })
}

/// Spends all that is left of the budget: the process yields at its next opportunity.
pub fn exhaust() {
    now(|now| now.left.set(0));
}

/// Has the future that is being polled polled again, after the other processes: at no cost beyond
/// a flag if `waker` is that of the process whose turn this thread is in, else by waking it.
#[inline]
pub fn poll_again(waker: &Waker) {
    match NonNull::new(running().cast_mut()) {
        Some(base) if wake::is_own(waker, base.as_ptr()) => {
            // SAFETY: this thread is in the turn of that process, which lives meanwhile.
            unsafe { base.as_ref() }.ask(AGAIN);
        }
        _ => waker.wake_by_ref(),
    }
}
