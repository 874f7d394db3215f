//! Primitives of the experiments: those of the simulator, or those of `std` on real cores.

#[cfg(purlin_cores)]
pub(crate) use purlin_simulator::{
    hint,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    sync::{Line, Mutex, MutexGuard},
    thread, work,
};
#[cfg(not(purlin_cores))]
pub(crate) use std::{
    hint,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    sync::{Mutex, MutexGuard},
    thread,
};

/// Returns the present time of this core in nanoseconds.
#[cfg(purlin_cores)]
pub(crate) fn now() -> f64 {
    purlin_simulator::now()
}

/// Returns the time in nanoseconds since the first call.
#[cfg(not(purlin_cores))]
pub(crate) fn now() -> f64 {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed().as_nanos() as f64
}

/// Charges a simulated core; real code takes its own time.
#[cfg(not(purlin_cores))]
pub(crate) fn work(_: f64) {}

/// Line of plain data: real code has the data.
#[cfg(not(purlin_cores))]
#[derive(Default)]
pub(crate) struct Line(());

#[cfg(not(purlin_cores))]
impl Line {
    pub(crate) fn read(&self) {}

    pub(crate) fn write(&self) {}
}
