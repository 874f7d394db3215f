//! Parking of a thread, with the functions of crossbeam's `Parker`: the algorithm of `std` on Linux.

use std::sync::Arc;
use std::time::Duration;

use crate::run;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::time::Instant;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// Word of a parker, on a line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Word(AtomicU32);

/// The waiting end.
#[derive(Debug)]
pub struct Parker(Unparker);

/// The end that ends the present or the next wait.
#[derive(Debug, Clone)]
pub struct Unparker(Arc<Word>);

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// Creates a parker.
    pub fn new() -> Self {
        Self(Unparker(Arc::default()))
    }

    /// Returns the other end.
    pub fn unparker(&self) -> &Unparker {
        &self.0
    }

    /// Waits for an unpark.
    pub fn park(&self) {
        self.park_until(None);
    }

    /// Waits for an unpark or a timeout.
    pub fn park_timeout(&self, time: Duration) {
        self.park_until(Some(Instant::now() + time));
    }

    /// Waits for an unpark or a deadline.
    pub fn park_deadline(&self, deadline: Instant) {
        self.park_until(Some(deadline));
    }

    fn park_until(&self, deadline: Option<Instant>) {
        let word = &self.0.0.0;
        let notified =
            word.compare_exchange(EMPTY, PARKED, Ordering::Acquire, Ordering::Acquire).is_err();
        if !notified {
            run::sleep(self.0.address(), deadline.map(Instant::time));
        }
        word.swap(EMPTY, Ordering::Acquire);
    }
}

impl Unparker {
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.0.0).addr()
    }

    /// Ends the present or the next wait.
    pub fn unpark(&self) {
        if self.0.0.swap(NOTIFIED, Ordering::Release) == PARKED {
            run::wake(self.address(), 1);
        }
    }
}
