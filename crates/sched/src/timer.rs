//! A timer that was set: taken back, looked at, or polled, from any thread.
//!
//! COST: a counted reference to the wheel it is on; each operation is one lock.

use std::task::{Poll, Waker};
use std::time::Duration;

use crate::slab::Key;
use crate::timers::{Alarm, TimerWheel};
use crate::wheel::Due;

/// A timer that was set, may have fired, and may have been cancelled. Dropping it changes nothing.
#[derive(Clone)]
pub struct Timer {
    pub(crate) wheel: TimerWheel,
    pub(crate) key: Key,
}

impl std::fmt::Debug for Timer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}

impl Timer {
    /// Takes the timer back and says how much of its time was left; `None` if it was too late, or
    /// had been done before. What would have happened is dropped.
    pub fn cancel(&self) -> Option<Duration> {
        let cancelled = self.wheel.lock().wheel.cancel(self.key);
        let (alarm, due) = cancelled?;
        alarm.discard();
        Some(self.left(due))
    }

    /// Takes the timer back and does not ask for the time.
    pub fn remove(&self) {
        let removed = self.wheel.lock().wheel.cancel(self.key);
        if let Some((alarm, _)) = removed {
            alarm.discard();
        }
    }

    /// For a timer that wakes a future: whether it has fired. From now on it wakes this waker.
    pub fn poll(&self, waker: &Waker) -> Poll<()> {
        let known = match self.wheel.lock().wheel.find(self.key) {
            None => return Poll::Ready(()),
            Some((Alarm::Wake(before), _)) => before.will_wake(waker),
            Some((Alarm::Send(_), _)) => true,
        };
        if known {
            return Poll::Pending;
        }
        // WHY the lock is taken twice: cloning and dropping a waker may run anybody's code.
        let new = Alarm::Wake(waker.clone());
        let mut state = self.wheel.lock();
        let (polled, old) = match state.wheel.find(self.key) {
            None => (Poll::Ready(()), new),
            Some((alarm, _)) => (Poll::Pending, std::mem::replace(alarm, new)),
        };
        drop(state);
        old.discard();
        polled
    }

    /// How much of its time is left; `None` if it has fired or was cancelled.
    pub fn read(&self) -> Option<Duration> {
        let due = self.wheel.lock().wheel.find(self.key).map(|(_, due)| due)?;
        Some(self.left(due))
    }

    fn left(&self, due: Due) -> Duration {
        match due {
            Due::In(length) => Duration::from_nanos(length),
            Due::At(moment) => Duration::from_nanos(moment.saturating_sub(self.wheel.clock_now())),
        }
    }
}
