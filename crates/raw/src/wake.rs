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

/// Whether a waker wakes this very process and nothing else.
#[inline]
pub(crate) fn is_own(waker: &Waker, base: NonNull<Base>) -> bool {
    waker.data() == base.as_ptr().cast_const().cast() && std::ptr::eq(waker.vtable(), &VTABLE)
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
