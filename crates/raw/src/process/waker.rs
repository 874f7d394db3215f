//! `std::task::Waker` of a process, so that any async library can wake it.
//!
//! COST: one atomic operation to clone or drop a waker, one to wake.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::process::cell::{Base, RESCHEDULE, Runnable};
use crate::process::context::running;
use crate::process::deferred_rc;

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// Creates a waker that holds no reference.
///
/// # Safety
/// The caller keeps the cell alive while the waker is used.
pub(crate) unsafe fn borrowed(base: NonNull<Base>) -> ManuallyDrop<Waker> {
    // SAFETY: the functions below meet the contract of `RawWaker` for a pointer to a cell. This
    // waker is never dropped, so it needs no reference.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(base.as_ptr().cast(), &VTABLE)) })
}

/// Returns whether a waker wakes the process whose cell is at this address, and nothing else.
#[inline]
pub(crate) fn wakes_cell<T>(waker: &Waker, cell: *const T) -> bool {
    waker.data() == cell.cast() && std::ptr::eq(waker.vtable(), &VTABLE)
}

/// Returns the cell that a waker wakes, with the waker's reference. Returns the waker itself if it
/// belongs to another runtime.
#[inline]
pub(crate) fn into_cell(waker: Waker) -> Result<NonNull<Base>, Waker> {
    if !std::ptr::eq(waker.vtable(), &VTABLE) {
        return Err(waker);
    }
    let waker = ManuallyDrop::new(waker);
    // SAFETY: the vtable is that of this module, so the data is a pointer to a cell.
    Ok(unsafe { base(waker.data()) })
}

/// Creates the waker of a cell.
///
/// # Safety
/// The waker takes over a reference to the cell at this address.
#[inline]
pub(crate) unsafe fn from_cell(cell: *const Base) -> Waker {
    // SAFETY: the functions below meet the contract of `RawWaker` for a pointer to a cell.
    unsafe { Waker::from_raw(RawWaker::new(cell.cast(), &VTABLE)) }
}

/// Returns a waker of the process whose turn this thread is in.
pub fn current_waker() -> Option<Waker> {
    let base = NonNull::new(running().cast_mut())?;
    // SAFETY: as in `context::current_slot`; the waker takes over the reference counted here.
    unsafe {
        deferred_rc::retain(base);
        Some(from_cell(base.as_ptr()))
    }
}

/// Requests that the future being polled is polled again, after other processes. Costs one flag if
/// `waker` is that of the current process; otherwise calls the waker.
#[inline]
pub fn poll_again(waker: &Waker) {
    if !reschedule(waker) {
        waker.wake_by_ref();
    }
}

/// Returns whether `waker` is that of the current process.
#[inline]
pub fn is_current_waker(waker: &Waker) -> bool {
    let cell = running();
    !cell.is_null() && wakes_cell(waker, cell)
}

/// Requests another turn of the current process if `waker` is its waker. Returns `false` otherwise.
#[inline]
pub fn reschedule(waker: &Waker) -> bool {
    match NonNull::new(running().cast_mut()) {
        Some(base) if wakes_cell(waker, base.as_ptr()) => {
            // SAFETY: this thread is in the turn of that process, which outlives its turn.
            unsafe { base.as_ref() }.set_flag(RESCHEDULE);
            true
        }
        _ => false,
    }
}

/// # Safety
/// `data` is a pointer to a cell to which a reference exists.
unsafe fn base(data: *const ()) -> NonNull<Base> {
    // SAFETY: the pointer of a waker of this module comes from a `NonNull`.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned holds a reference.
    unsafe { deferred_rc::retain(base(data)) };
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: this consumes a waker, and with it the reference it holds.
    unsafe {
        wake_by_ref(data);
        drop(data);
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker keeps the cell alive; a process that was asleep is in its table.
    unsafe {
        let base = base(data);
        if base.as_ref().inbox.wake() {
            Runnable::new(base).schedule();
        }
    }
}

unsafe fn drop(data: *const ()) {
    // SAFETY: a waker that is dropped releases the reference it holds.
    unsafe { deferred_rc::release(base(data)) }
}
