//! Fake of crossbeam's `Parker` for the shuttle models: a token behind a lock.
//!
//! Timeouts use the model's clock (`time`): a thread parked with a timeout stays parked until it is
//! unparked or the model advances the clock.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::time::{self, Instant, Token};

/// The waiting end.
pub(crate) struct Parker(Unparker);

/// The end that ends the present or the next wait.
#[derive(Clone)]
pub(crate) struct Unparker(Arc<Token>);

impl Parker {
    pub(crate) fn new() -> Self {
        Self(Unparker(Arc::new(Token::default())))
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
