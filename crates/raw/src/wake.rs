//! A cell as a `std::task::Waker`: any library that awaits can wake a process.
//!
//! COST: cloning and dropping a waker is one atomic operation; waking is one.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::credit;
use crate::cell::Base;
use crate::run::Runnable;

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// A waker that holds no reference: good while the caller keeps the cell.
pub(crate) fn borrowed(base: NonNull<Base>) -> ManuallyDrop<Waker> {
    // SAFETY: the functions below keep the contract of a waker for a pointer to a cell; as this
    // one is never dropped, it need not hold a reference.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(base.as_ptr().cast(), &VTABLE)) })
}

/// Whether a waker wakes the process whose cell lies at this address, and nothing else.
#[inline]
pub(crate) fn is_own<T>(waker: &Waker, cell: *const T) -> bool {
    waker.data() == cell.cast() && std::ptr::eq(waker.vtable(), &VTABLE)
}

/// The cell that a waker wakes, with the reference the waker held; or the waker of another runtime.
#[inline]
pub(crate) fn into_cell(waker: Waker) -> Result<NonNull<Base>, Waker> {
    if !std::ptr::eq(waker.vtable(), &VTABLE) {
        return Err(waker);
    }
    let waker = ManuallyDrop::new(waker);
    // SAFETY: the waker was made here, of a pointer to a cell.
    Ok(unsafe { base(waker.data()) })
}

/// The waker of a cell.
///
/// # Safety
/// The waker gets a reference to the cell at this address.
#[inline]
pub(crate) unsafe fn from_cell(cell: *const Base) -> Waker {
    // SAFETY: the functions below keep the contract of a waker for a pointer to a cell.
    unsafe { Waker::from_raw(RawWaker::new(cell.cast(), &VTABLE)) }
}

/// # Safety
/// `data` is a pointer to a cell that somebody holds a reference to.
unsafe fn base(data: *const ()) -> NonNull<Base> {
    // SAFETY: a waker's pointer comes from `borrowed` and is not null.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned keeps the cell.
    unsafe { credit::retain(base(data)) };
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: this consumes a waker and with it the reference it holds.
    unsafe {
        wake_by_ref(data);
        drop(data);
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker keeps the cell; a process that was asleep has not left its table.
    unsafe {
        let base = base(data);
        if base.as_ref().head.wake() {
            Runnable::new(base).schedule();
        }
    }
}

unsafe fn drop(data: *const ()) {
    // SAFETY: a waker that is dropped gives up the reference it holds.
    unsafe { credit::release(base(data)) }
}
