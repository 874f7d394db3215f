//! Atomics, locks and thread-locals: `std`'s, or loom's or shuttle's with `--cfg loom` or `--cfg
//! shuttle`, or those of the simulator of many cores with `--cfg purlin_cores`.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
};
#[cfg(purlin_cores)]
pub(crate) use purlin_simulator::{
    core_count,
    sync::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
    thread_local, thread_number,
};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
    thread_local,
};
#[cfg(not(any(loom, purlin_cores, shuttle)))]
pub(crate) use std::{
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Mutex, MutexGuard},
    thread_local,
};

/// Returns the number of cores that the process may use.
#[cfg(not(any(loom, purlin_cores, shuttle)))]
pub(crate) fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns a unique number for a thread that asks for the first time.
#[cfg(not(any(purlin_cores, shuttle)))]
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
#[cfg(not(any(loom, purlin_cores)))]
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(any(loom, purlin_cores)))]
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

/// Declares thread-locals of loom, whose macro does not accept a `const` block.
#[cfg(loom)]
macro_rules! locals_of_a_model {
    ($($(#[$attr:meta])* static $name:ident: $type:ty = const $init:block;)*) => {
        loom::thread_local! { $($(#[$attr])* static $name: $type = $init;)* }
    };
}
#[cfg(loom)]
pub(crate) use locals_of_a_model as thread_local;
