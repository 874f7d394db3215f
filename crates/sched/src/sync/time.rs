//! Manual clock in place of the system clock for the shuttle models.
//!
//! WHY: a model then repeats exactly, and a model that does not advance the clock depends on
//! wake-ups alone.

use std::cell::RefCell;
use std::ops::{Add, Sub};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use shuttle::sync::{Condvar, Mutex, MutexGuard};

/// Time since the beginning of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

/// Token that an unpark leaves for a park.
#[derive(Default)]
pub(super) struct Token {
    pub(super) given: Mutex<bool>,
    pub(super) changed: Condvar,
}

impl Token {
    pub(super) fn lock(&self) -> MutexGuard<'_, bool> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the waiting thread, which checks the time again.
    fn recheck(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }
}

/// Time of the manual clock, and the threads that wait for it.
#[derive(Default)]
struct Time {
    now: Duration,
    watching: Vec<Arc<Token>>,
}

// WHY std's: all threads of a model run on one OS thread and share the value.
std::thread_local! {
    static TIME: RefCell<Time> = RefCell::default();
}

/// Begins an execution at time 0.
pub fn begin() {
    TIME.take();
}

/// Advances the clock, and wakes the threads whose timeout has expired.
pub fn forward(by: Duration) {
    let watching = TIME.with_borrow_mut(|time| {
        time.now += by;
        time.watching.clone()
    });
    watching.iter().for_each(|token| token.recheck());
}

pub(super) fn watch(token: &Arc<Token>) {
    TIME.with_borrow_mut(|time| time.watching.push(Arc::clone(token)));
}

pub(super) fn forget(token: &Arc<Token>) {
    TIME.with_borrow_mut(|time| time.watching.retain(|other| !Arc::ptr_eq(other, token)));
}

impl Instant {
    /// Returns the present time of the model.
    pub fn now() -> Self {
        Self(TIME.with_borrow(|time| time.now))
    }

    /// Returns the time since this moment.
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// Returns the time from `other` to this moment, or zero if `other` is later.
    pub fn saturating_duration_since(&self, other: Self) -> Duration {
        self.0.saturating_sub(other.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0 + time)
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0 - earlier.0
    }
}
