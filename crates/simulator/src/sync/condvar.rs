//! Condition variable: the algorithm of `std`'s on Linux, on a simulated word.

use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::atomic::{AtomicU32, Ordering};
use super::mutex::MutexGuard;
use crate::costs::{Time, time};
use crate::run;

/// Condition variable.
#[derive(Debug, Default)]
pub struct Condvar {
    /// Number of notifications.
    word: AtomicU32,
}

/// Result of [`Condvar::wait_timeout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait ended by its timeout.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Self {
        Self { word: AtomicU32::new(0) }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(&self.word).addr()
    }

    fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Option<Time>,
    ) -> (MutexGuard<'a, T>, bool) {
        let mutex = guard.mutex();
        let notified = self.word.load(Ordering::Relaxed);
        drop(guard);
        let woken =
            self.word.load(Ordering::Relaxed) != notified || run::sleep(self.address(), deadline);
        (mutex.lock().unwrap_or_else(PoisonError::into_inner), woken)
    }

    /// Waits for a notification.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        Ok(self.wait_until(guard, None).0)
    }

    /// Waits for a notification or a timeout.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let deadline = run::read_clock().saturating_add(time(timeout.as_nanos() as f64));
        let (guard, woken) = self.wait_until(guard, Some(deadline));
        Ok((guard, WaitTimeoutResult(!woken)))
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.notify(usize::MAX);
    }

    fn notify(&self, count: usize) {
        self.word.fetch_add(1, Ordering::Relaxed);
        run::wake(self.address(), count);
    }
}
