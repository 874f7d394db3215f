//! Atomics, locks and thread-locals: `std`'s, or loom's or shuttle's with `--cfg loom` or `--cfg
//! shuttle`.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
    thread_local,
};

/// Declares thread-locals of shuttle, whose threads all run on one OS thread.
#[cfg(shuttle)]
macro_rules! locals_of_a_model {
    ($($(#[$attr:meta])* static $name:ident: $type:ty = const $init:block;)*) => {
        $($(#[$attr])* static $name: $crate::sync::LocalKey<$type> = $crate::sync::LocalKey::new(|| $init);)*
    };
}
#[cfg(shuttle)]
pub(crate) use locals_of_a_model as thread_local;

/// Shuttle's thread-local with the methods of `std`'s that it lacks.
#[cfg(shuttle)]
pub(crate) struct LocalKey<T: 'static>(shuttle::thread::LocalKey<T>);

#[cfg(shuttle)]
impl<T> LocalKey<T> {
    pub(crate) const fn new(init: fn() -> T) -> Self {
        Self(shuttle::thread::LocalKey { init, _p: std::marker::PhantomData })
    }

    pub(crate) fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.0.with(f)
    }
}

#[cfg(shuttle)]
impl<T: Copy> LocalKey<std::cell::Cell<T>> {
    pub(crate) fn get(&'static self) -> T {
        self.0.with(|cell| cell.get())
    }

    pub(crate) fn set(&'static self, value: T) {
        self.0.with(|cell| cell.set(value));
    }
}

/// Returns a unique number for a thread that asks for the first time.
#[cfg(not(shuttle))]
pub(crate) fn thread_number() -> u32 {
    static THREADS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    THREADS.fetch_add(1, Ordering::Relaxed)
}

/// WHY not a counter: an execution of a model must not depend on earlier ones.
#[cfg(shuttle)]
pub(crate) fn thread_number() -> u32 {
    usize::from(shuttle::current::me()) as u32
}

/// `std`'s `UnsafeCell` with the closure interface of loom's, which checks every access in a model.
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

/// Thread-local of a model's threads, which all run on one OS thread, with the shorthands of
/// `std`'s.
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
