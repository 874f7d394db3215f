//! Stands in for crossbeam's `Parker` in shuttle's models: a token behind a lock.
//!
//! It waits in the time of the model (`time`), so whoever is parked for a while and is not unparked
//! stays parked until a test moves that time.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use shuttle::sync::{Condvar, Mutex, MutexGuard};

use super::time::{self, Instant};

/// The end that waits.
pub(crate) struct Parker(Unparker);

/// The end that ends the wait, this one or the next.
#[derive(Clone)]
pub(crate) struct Unparker(Arc<Token>);

/// What an unpark leaves for a park.
pub(super) struct Token {
    given: Mutex<bool>,
    changed: Condvar,
}

impl Token {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the one who waits for it look at the time.
    pub(super) fn look(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self(Unparker(Arc::new(Token { given: Mutex::new(false), changed: Condvar::new() })))
    }

    pub(crate) fn unparker(&self) -> &Unparker {
        &self.0
    }

    pub(crate) fn park(&self) {
        self.park_until(|| false);
    }

    pub(crate) fn park_timeout(&self, time: Duration) {
        self.park_deadline(Instant::now() + time);
    }

    pub(crate) fn park_deadline(&self, deadline: Instant) {
        let token = &self.0.0;
        time::watch(token);
        self.park_until(|| Instant::now() >= deadline);
        time::forget(token);
    }

    fn park_until(&self, over: impl Fn() -> bool) {
        let token = &self.0.0;
        let mut given = token.lock();
        while !*given && !over() {
            given = token.changed.wait(given).unwrap_or_else(PoisonError::into_inner);
        }
        *given = false;
    }
}

impl Unparker {
    pub(crate) fn unpark(&self) {
        *self.0.lock() = true;
        self.0.changed.notify_all();
    }
}
