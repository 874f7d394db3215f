//! Handle to a timer: set, cancel, read or poll it from any thread.
//!
//! COST: a reference count on its wheel; each operation takes one lock. Setting, reading and
//! cancelling read the clock; polling and removing do not.

use std::task::{Poll, Waker};
use std::time::Duration;

use crate::clock::nanos;
use crate::timers::slab::Key;
use crate::timers::wheel::tick_of;
use crate::timers::{TimerAction, TimerWheel};

/// Handle to a timer, which may have fired or been cancelled. Dropping it does not cancel the
/// timer.
#[derive(Clone)]
pub struct Timer {
    wheel: TimerWheel,
    key: Key,
}

impl std::fmt::Debug for Timer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}

impl TimerWheel {
    /// Sets a timer that fires after `time`, at most 146 years. Any thread may call it.
    #[inline]
    pub fn set(&self, time: Duration, action: TimerAction) -> Timer {
        let now = self.clock_now();
        let due = now + nanos(time);
        let mut state = self.lock();
        if state.closed {
            drop(state);
            action.discard();
            return self.fired();
        }
        let key = state.wheel.insert(now, due, action);
        let tick = tick_of(due);
        let first = tick < self.next();
        if first {
            self.publish(tick);
        }
        let unpark = first && state.asleep;
        drop(state);
        if unpark {
            self.worker().wake_by_ref();
        }
        Timer { wheel: self.clone(), key }
    }

    /// Returns a timer that has already fired.
    pub fn fired(&self) -> Timer {
        Timer { wheel: self.clone(), key: Key::NOTHING }
    }
}

impl Timer {
    /// Cancels the timer and returns the time that was left. Returns `None` if it has fired or was
    /// cancelled before. The timer's action is dropped.
    pub fn cancel(&self) -> Option<Duration> {
        self.take().map(|due| self.left(due))
    }

    /// Cancels the timer without reading the clock.
    pub fn remove(&self) {
        let _ = self.take();
    }

    fn take(&self) -> Option<u64> {
        let cancelled = self.wheel.lock().wheel.cancel(self.key);
        let (action, due) = cancelled?;
        action.discard();
        Some(due)
    }

    /// Returns `Ready` if the timer has fired; otherwise registers `waker`. For timers that wake a
    /// future.
    pub fn poll(&self, waker: &Waker) -> Poll<()> {
        let known = match self.wheel.lock().wheel.find(self.key) {
            None => return Poll::Ready(()),
            Some((TimerAction::Wake(before), _)) => before.will_wake(waker),
            Some((TimerAction::Send(_), _)) => true,
        };
        if known {
            return Poll::Pending;
        }
        // WHY two lockings: cloning and dropping a waker may run user code.
        let new = TimerAction::Wake(waker.clone());
        let mut state = self.wheel.lock();
        let (polled, old) = match state.wheel.find(self.key) {
            None => (Poll::Ready(()), new),
            Some((action, _)) => (Poll::Pending, std::mem::replace(action, new)),
        };
        drop(state);
        old.discard();
        polled
    }

    /// Returns the time left, or `None` if the timer has fired or was cancelled.
    pub fn read(&self) -> Option<Duration> {
        let due = self.wheel.lock().wheel.find(self.key).map(|(_, due)| due)?;
        Some(self.left(due))
    }

    fn left(&self, due: u64) -> Duration {
        Duration::from_nanos(due.saturating_sub(self.wheel.clock_now()))
    }
}
