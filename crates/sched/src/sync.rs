//! Synchronization primitives: those of `std` and crossbeam, those of loom or shuttle when a model
//! is built with `--cfg loom` or `--cfg shuttle`, or those of the simulator of many cores with
//! `--cfg purlin_cores`.
//!
//! The loom models use only `idle` and `hand_off`. The shuttle models run the whole scheduler; the
//! queues, parking and the system clock, which shuttle does not control, are replaced by fakes.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(loom)]
pub(crate) use loom::thread::yield_now;
#[cfg(purlin_cores)]
pub(crate) use purlin_simulator::{
    Instant, Parker, Unparker, core_count, deque, hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
        mpsc,
    },
    thread,
    thread::yield_now,
    thread_local,
};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
        mpsc,
    },
    thread,
    thread::yield_now,
    thread_local,
};
#[cfg(not(any(loom, purlin_cores, shuttle)))]
pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(any(loom, purlin_cores, shuttle)))]
pub(crate) use std::thread::yield_now;
#[cfg(not(any(purlin_cores, shuttle)))]
pub(crate) use std::{hint, sync::mpsc, thread, thread_local};

#[cfg(not(any(purlin_cores, shuttle)))]
pub(crate) use crossbeam_deque as deque;
#[cfg(not(any(purlin_cores, shuttle)))]
pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
#[cfg(not(any(purlin_cores, shuttle)))]
pub(crate) use std::time::Instant;

#[cfg(shuttle)]
pub(crate) mod deque;
#[cfg(shuttle)]
mod parker;
#[cfg(shuttle)]
pub(crate) mod time;
#[cfg(shuttle)]
pub(crate) use parker::{Parker, Unparker};
#[cfg(shuttle)]
pub(crate) use time::Instant;

/// Returns the number of cores that the process may use.
#[cfg(not(purlin_cores))]
pub(crate) fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
