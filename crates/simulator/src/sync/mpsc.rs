//! Channel with the functions of `std::sync::mpsc` that purlin uses.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvError, SendError};
use std::sync::{Arc, PoisonError};

use super::condvar::Condvar;
use super::mutex::{Mutex, MutexGuard};

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    has_receiver: bool,
}

#[derive(Debug)]
struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Channel<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sending end.
#[derive(Debug)]
pub struct Sender<T>(Arc<Channel<T>>);

/// Receiving end.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Channel<T>>);

/// Creates a channel without a bound.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { queue: VecDeque::new(), senders: 1, has_receiver: true };
    let channel = Arc::new(Channel { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends a value.
    ///
    /// # Errors
    /// The value, if there is no receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut state = self.0.lock();
        if !state.has_receiver {
            return Err(SendError(value));
        }
        state.queue.push_back(value);
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.lock().senders -= 1;
        self.0.changed.notify_all();
    }
}

impl<T> Receiver<T> {
    /// Waits for a value.
    ///
    /// # Errors
    /// If the channel is empty and has no sender.
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut state = self.0.lock();
        loop {
            if let Some(value) = state.queue.pop_front() {
                return Ok(value);
            }
            if state.senders == 0 {
                return Err(RecvError);
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns an iterator over the values until no sender is left.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let left = {
            let mut state = self.0.lock();
            state.has_receiver = false;
            std::mem::take(&mut state.queue)
        };
        drop(left);
    }
}
