//! Per-thread context: the current process and its remaining budget.
//!
//! A *turn* is one poll of a process by a worker. A thread runs one turn at a time. Each operation
//! reserved to the process itself checks [`is_running`] first, so a handle moved to another thread
//! cannot be misused.
//!
//! COST: a read of a thread-local that needs no lazy initialisation.

use std::any::TypeId;
use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::RuntimeTypes;
use crate::process::cell::{self, Base, Front};
use crate::sync::{Ordering, thread_local, thread_number};
use crate::table::Slot;

/// Units of work in one turn, such as receiving a message, or sending in a loop that calls
/// [`spend_budget`]. A process that has used them up yields at its next opportunity.
pub const BUDGET: u32 = 512;

/// Units that a spawn costs.
/// WHY 7: a spawn takes as long as receiving about eight messages. A process that spawns in a loop
/// then yields after about fifty, whose cells are still in the L1 cache when they run.
const SPAWN: u32 = 7;

/// Bit of [`Context::sent`]: the turn is traced.
/// WHY there: counting a send then reveals it by the sign of the sum. A turn sends less than 2^63
/// signals.
const TRACED: u64 = 1 << 63;

/// State of a thread's current turn.
///
/// WHY one struct: the compiler then computes one address for all of it.
struct Context {
    running: Cell<*const Base>,
    /// Remaining budget.
    left: Cell<u32>,
    /// Signals sent by this thread in its current or most recent turn.
    sent: Cell<u64>,
    /// Number of the thread as a sender, plus one; 0 until it is needed.
    sender: Cell<u32>,
    /// Number of the sender for which this thread sends, plus one; 0 outside of [`with_sender`].
    acting: Cell<u32>,
    work: Cell<u64>,
    /// Signals sent in completed turns.
    sends: Cell<u64>,
}

thread_local! {
    static NOW: Context = const {
        Context {
            running: Cell::new(ptr::null()),
            left: Cell::new(0),
            sent: Cell::new(0),
            sender: Cell::new(0),
            acting: Cell::new(0),
            work: Cell::new(0),
            sends: Cell::new(0),
        }
    };
}

#[inline(always)]
fn context<R>(f: impl FnOnce(&Context) -> R) -> R {
    NOW.with(f)
}

/// Marks the thread as running a process until dropped.
pub(crate) struct Turn {
    before: (*const Base, u32),
}

impl Turn {
    /// # Safety
    /// This thread holds the right to run the process. Once it has given that up, it runs no other
    /// code until the `Turn` is dropped.
    #[inline]
    pub(crate) unsafe fn begin(base: NonNull<Base>, turn: u8) -> Self {
        context(|now| {
            now.sent.set(u64::from(turn & cell::TRACED) * (TRACED / u64::from(cell::TRACED)));
            Self { before: (now.running.replace(base.as_ptr()), now.left.replace(BUDGET)) }
        })
    }

    /// Adds the turn to the thread's totals. Returns the number of signals it sent, and its other
    /// reductions: one for the poll, and the budget it used.
    #[inline]
    pub(crate) fn finish(&self) -> (u64, u64) {
        context(|now| {
            let work = u64::from(BUDGET - now.left.get()) + 1;
            now.work.set(now.work.get() + work);
            let sent = now.sent.get() & !TRACED;
            now.sends.set(now.sends.get().wrapping_add(sent));
            (sent, work)
        })
    }

    /// Runs the cleanup `f` of a process that has ended. The thread runs no process meanwhile, but
    /// sends by `f` use the process's sender number.
    pub(crate) fn end(self, slot: Slot, f: impl FnOnce()) {
        context(|now| now.running.set(ptr::null()));
        with_sender(slot.index(), f);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        context(|now| {
            now.running.set(self.before.0);
            now.left.set(self.before.1);
        });
    }
}

/// Returns the work of this thread in completed turns: one unit per turn, plus the budget spent.
// WHY never inlined: see `pool`.
#[inline(never)]
pub fn work_done() -> u64 {
    context(|now| now.work.get())
}

/// Returns the number of messages and signals sent in completed turns on this thread.
#[inline(never)]
pub fn sends_done() -> u64 {
    context(|now| now.sends.get())
}

/// Clears the record of [`set_waits_for`](crate::set_waits_for) for the current process.
#[inline]
pub fn clear_waits_for() {
    let Some(base) = NonNull::new(running().cast_mut()) else { return };
    // SAFETY: as in `current_slot`.
    if let Some(extension) = unsafe { base.as_ref() }.inbox.extension() {
        // ORDER: relaxed: read for statistics only.
        extension.waits_for.store(0, Ordering::Relaxed);
    }
}

/// Returns the process whose turn this thread is in, or null.
#[inline(always)]
pub(super) fn running() -> *const Base {
    context(|now| now.running.get())
}

/// Returns whether this thread is in a turn of the given process.
#[inline]
pub(crate) fn is_running(base: NonNull<Base>) -> bool {
    ptr::eq(running(), base.as_ptr())
}

/// Returns the number of this thread's sender: the one of [`with_sender`], otherwise that of the
/// process whose turn it is in, otherwise that of the thread. Two senders may share a number; one
/// sender always has the same.
pub(crate) fn sender_id() -> u32 {
    context(|now| {
        if let Some(acting) = now.acting.get().checked_sub(1) {
            return acting;
        }
        if let Some(slot) = current_slot() {
            return slot.index();
        }
        if now.sender.get() == 0 {
            now.sender.set(thread_number().wrapping_add(1));
        }
        now.sender.get().wrapping_sub(1)
    })
}

/// Calls `f`, which sends for the sender with this number, less than `u32::MAX`: that of a process's
/// [`Slot`], or any other. What different threads send for one sender arrives in the order in which
/// they send it, if something else orders these sends.
pub fn with_sender<R>(number: u32, f: impl FnOnce() -> R) -> R {
    struct Restore(u32);
    impl Drop for Restore {
        fn drop(&mut self) {
            context(|now| now.acting.set(self.0));
        }
    }
    let _restore = Restore(context(|now| now.acting.replace(number.wrapping_add(1))));
    f()
}

/// Returns whether this thread is in a turn of any process.
#[inline]
pub fn in_process() -> bool {
    !running().is_null()
}

/// Returns the slot of the process whose turn this thread is in.
pub fn current_slot() -> Option<Slot> {
    // SAFETY: a cell lives at least as long as its turn, which is on this thread's stack below us.
    NonNull::new(running().cast_mut()).map(|base| unsafe { base.as_ref() }.slot)
}

/// Calls `f` with the private state of the current process, if it is of type family `W`. As for
/// [`InTurn::local`](crate::InTurn::local), `f` runs no user code.
pub fn current_local<W: RuntimeTypes, R>(f: impl FnOnce(&mut W::Local) -> R) -> Option<R> {
    let base = NonNull::new(running().cast_mut())?;
    // SAFETY: as in `current_slot`.
    if (unsafe { base.as_ref() }.vtable.family)() != TypeId::of::<W>() {
        return None;
    }
    // SAFETY: the cell is of this type family, and this thread is in its turn.
    Some(unsafe { on_local::<W, R>(base, f) })
}

/// Calls `f` with the private state of a process.
///
/// # Safety
/// `base` is a cell of this type family, and this thread is in its turn.
#[inline]
pub(crate) unsafe fn on_local<W: RuntimeTypes, R>(
    base: NonNull<Base>,
    f: impl FnOnce(&mut W::Local) -> R,
) -> R {
    // SAFETY: by the contract.
    unsafe {
        take_local::<W, R>(base, |base, local| {
            let result = f(local);
            base.describe_local::<W>(local);
            result
        })
    }
}

/// Calls `f` with the private state of a process, which it does not change.
///
/// # Safety
/// As for [`on_local`].
#[inline]
pub(crate) unsafe fn read_local<W: RuntimeTypes, R>(
    base: NonNull<Base>,
    f: impl FnOnce(&W::Local) -> R,
) -> R {
    // SAFETY: by the contract.
    unsafe { take_local::<W, R>(base, |_, local| f(local)) }
}

/// Calls `f` with the private state of a process, whose place holds the default meanwhile.
///
/// # Safety
/// As for [`on_local`].
#[inline]
unsafe fn take_local<W: RuntimeTypes, R>(
    base: NonNull<Base>,
    f: impl FnOnce(&Base, &mut W::Local) -> R,
) -> R {
    // SAFETY: by the contract.
    let front = unsafe { base.cast::<Front<W>>().as_ref() };
    front.local.with(|local| {
        // SAFETY: by the contract; no other thread accesses the state meanwhile.
        let place = unsafe { &*local };
        let mut local = place.take();
        let result = f(&front.base, &mut local);
        // WHY not dropped: the place holds the default, which needs no drop; the compiler cannot
        // tell.
        std::mem::forget(place.replace(local));
        result
    })
}

/// Charges the current process for a spawn.
#[inline]
pub(crate) fn charge_spawn() {
    context(|now| now.left.set(now.left.get().saturating_sub(SPAWN)));
}

/// Counts a send by this thread. Returns whether the current turn is traced.
#[inline]
pub(crate) fn count_send() -> bool {
    context(|now| {
        let sent = now.sent.get().wrapping_add(1);
        now.sent.set(sent);
        sent.cast_signed() < 0
    })
}

/// Turns tracing of the current process on or off, beginning with the current turn. While it is on,
/// [`RuntimeTypes::sent`] and [`RuntimeTypes::received`] are called.
pub fn trace(on: bool) {
    let Some(base) = NonNull::new(running().cast_mut()) else { return };
    // SAFETY: as in `current_slot`.
    unsafe { base.as_ref() }.set_persistent(cell::TRACED, if on { cell::TRACED } else { 0 });
    trace_turn(on);
}

fn trace_turn(on: bool) {
    context(|now| now.sent.set(now.sent.get() & !TRACED | if on { TRACED } else { 0 }));
}

/// Returns whether the current turn is traced. Outside of turns the result refers to the last turn.
#[inline]
pub fn is_traced() -> bool {
    context(|now| now.sent.get().cast_signed() < 0)
}

/// Calls `f` with tracing of the current turn suspended, so that sends by `f` are not traced.
#[cold]
pub(crate) fn without_trace(f: impl FnOnce()) {
    if running().is_null() {
        // No process is current: the bit is left over from the last turn and is cleared.
        return trace_turn(false);
    }
    trace_turn(false);
    f();
    trace_turn(true);
}

/// Spends one unit of the budget. Returns `false` if the budget was exhausted. Always returns
/// `true` outside of a process.
#[inline]
#[must_use]
pub fn spend_budget() -> bool {
    context(|now| match now.left.get() {
        0 => now.running.get().is_null(),
        left => {
            now.left.set(left - 1);
            true
        }
    })
}

/// [`spend_budget`] for a receive. If the budget was exhausted, the turn ends *behind*
/// ([`TurnOutcome::Again`](crate::TurnOutcome::Again)).
#[inline]
#[must_use]
pub fn spend_budget_on_receive() -> bool {
    spend_budget() || !fall_behind()
}

/// Marks the current turn as behind. Returns `false` outside of a process.
#[cold]
fn fall_behind() -> bool {
    let Some(base) = NonNull::new(running().cast_mut()) else { return false };
    // SAFETY: as in `current_slot`.
    unsafe { base.as_ref() }.set_flag(cell::BEHIND);
    true
}

/// Returns the remaining budget of this thread's turn.
pub(crate) fn budget() -> u32 {
    context(|now| now.left.get())
}

/// Spends units of the budget, at most those that remain.
pub(crate) fn spend(units: u32) {
    context(|now| now.left.set(now.left.get().saturating_sub(units)));
}

/// Spends the remaining budget: the process yields at its next opportunity.
pub fn exhaust_budget() {
    context(|now| now.left.set(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sender_of_a_scope_replaces_that_of_the_thread_until_its_end() {
        let thread = sender_id();
        with_sender(0, || {
            assert_eq!(sender_id(), 0);
            with_sender(7, || assert_eq!(sender_id(), 7));
            crate::catch_panic(|| with_sender(8, || panic!("on purpose")));
            assert_eq!(sender_id(), 0);
        });
        assert_eq!(sender_id(), thread);
    }
}
