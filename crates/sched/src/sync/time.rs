//! Stands in for the machine's time in shuttle's models: it stands still unless a test moves it.
//!
//! WHY: so a model is the same each time it is repeated, and one in which nobody moves the time has
//! nobody but wake-ups to rely on.

use std::cell::RefCell;
use std::ops::{Add, Sub};
use std::sync::Arc;
use std::time::Duration;

use super::parker::Token;

/// Time since the beginning of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

#[derive(Default)]
struct Time {
    now: Duration,
    watching: Vec<Arc<Token>>,
}

// WHY std's: all threads of a model run on one of the machine's, and share it.
std::thread_local! {
    static TIME: RefCell<Time> = RefCell::default();
}

/// Begins an execution.
pub fn begin() {
    TIME.take();
}

/// Moves the time, and wakes those whose time has come.
pub fn forward(by: Duration) {
    let watching = TIME.with_borrow_mut(|time| {
        time.now += by;
        time.watching.clone()
    });
    watching.iter().for_each(|token| token.look());
}

pub(super) fn watch(token: &Arc<Token>) {
    TIME.with_borrow_mut(|time| time.watching.push(Arc::clone(token)));
}

pub(super) fn forget(token: &Arc<Token>) {
    TIME.with_borrow_mut(|time| time.watching.retain(|other| !Arc::ptr_eq(other, token)));
}

impl Instant {
    /// What a test has moved the time to.
    pub fn now() -> Self {
        Self(TIME.with_borrow(|time| time.now))
    }

    /// The time since then.
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// The time from an earlier moment to this one.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        *self - earlier
    }

    /// The time from another moment to this one, or none if that is later.
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
