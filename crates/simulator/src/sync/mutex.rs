//! Mutex: the algorithm of `std`'s on Linux, on a simulated word.
//!
//! The word is 0 (unlocked), 1 (locked) or 2 (locked, and threads may wait). A thread that finds the
//! mutex locked spins up to 100 times and then sleeps; an unlock of 2 wakes one thread.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self as real, LockResult, PoisonError, TryLockError, TryLockResult};

use super::atomic::{AtomicU32, Ordering};
use crate::{hint, run};

/// Spins before a thread sleeps, as in `std`.
const SPINS: usize = 100;

/// Mutex. Never poisoned, since a panic ends the simulation.
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    word: AtomicU32,
    value: real::Mutex<T>,
}

/// Guard of a [`Mutex`].
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// `None` only while the guard is dropped.
    value: Option<real::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self { word: AtomicU32::new(0), value: real::Mutex::new(value) }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    pub fn into_inner(self) -> LockResult<T> {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.word).addr()
    }

    fn acquire(&self) -> bool {
        self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        // The lock of `std` is free in a simulation, where the word decides.
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        MutexGuard { mutex: self, value: Some(value) }
    }

    /// Spins while the mutex is locked and no thread waits for it.
    fn spin(&self) -> u32 {
        for _ in 0..SPINS {
            let word = self.word.load(Ordering::Relaxed);
            if word != 1 {
                return word;
            }
            hint::spin_loop();
        }
        self.word.load(Ordering::Relaxed)
    }

    fn wait(&self) {
        if self.spin() == 0 && self.acquire() {
            return;
        }
        while self.word.swap(2, Ordering::Acquire) != 0 {
            if self.word.load(Ordering::Relaxed) == 2 {
                run::sleep(self.address(), None);
            }
            self.spin();
        }
    }

    /// Locks the mutex.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if run::is_running() && !self.acquire() {
            self.wait();
        }
        Ok(self.guard())
    }

    /// Locks the mutex if it is free.
    ///
    /// # Errors
    /// `WouldBlock` if it is locked.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if run::is_running() && !self.acquire() {
            return Err(TryLockError::WouldBlock);
        }
        Ok(self.guard())
    }

    /// Returns the value of a mutex that no other thread can access.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.value.get_mut()
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.mutex
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.value = None;
        if run::is_running() && self.mutex.word.swap(0, Ordering::Release) == 2 {
            run::wake(self.mutex.address(), 1);
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("the guard is alive")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("the guard is alive")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
