//! Atomics, locks, condition variables, channels and cells of simulated threads.

pub mod atomic;
mod cell;
mod condvar;
mod line;
pub mod mpsc;
mod mutex;

pub use cell::UnsafeCell;
pub use condvar::{Condvar, WaitTimeoutResult};
pub use line::Line;
pub use mutex::{Mutex, MutexGuard};
