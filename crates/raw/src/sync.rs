//! The atomics and thread-locals of this crate: `std`'s, or loom's when a model is built with
//! `--cfg loom`.

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
    thread, thread_local,
};

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

/// A thread-local of a model's threads, which all run on one of the machine's; with the shorthands
/// that `std`'s has.
#[cfg(loom)]
pub(crate) struct Local<T: 'static>(pub(crate) &'static loom::thread::LocalKey<T>);

#[cfg(loom)]
impl<T> Local<T> {
    pub(crate) fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.0.with(f)
    }
}

#[cfg(loom)]
impl<T> Local<std::cell::Cell<T>> {
    pub(crate) fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(std::cell::Cell::get)
    }

    pub(crate) fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    pub(crate) fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

#[cfg(loom)]
macro_rules! local {
    ($($(#[$attr:meta])* static $name:ident: $type:ty = $init:expr;)*) => {$(
        $(#[$attr])*
        static $name: $crate::sync::Local<$type> = {
            loom::thread_local! { static KEY: $type = $init; }
            $crate::sync::Local(&KEY)
        };
    )*};
}
#[cfg(loom)]
pub(crate) use local as thread_local;
