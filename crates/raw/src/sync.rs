//! The atomics of this crate: `std`'s, or loom's when a model is built with `--cfg loom`.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    hint,
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
    thread,
};
#[cfg(not(loom))]
pub(crate) use std::{
    hint,
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
    thread,
};

/// Stands before each load of `SeqCst` whose place in the one order matters; nothing, but in a model.
///
/// WHY: loom takes such a load for one that acquires, and so sees the order broken where it is not.
/// It does keep fences in one order. A fence here orders more than the load does, but nothing after
/// the load, and nothing before the store that is its partner.
#[inline(always)]
pub(crate) fn before_seq_cst_load() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// `std`'s cell with the closure interface of loom's, which checks every access in a model.
#[cfg(not(loom))]
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
