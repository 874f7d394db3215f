//! One-shot timer whose message passes the bound of the mailbox (B2).
//!
//! WHY: a full mailbox rejects or drops the message of an ordinary timer, and a state machine whose
//! timeout is lost stays in its state for ever.
//!
//! COST: an allocation, in addition to the cost of a timer and of [`Pid::send_past_bound`].

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::time::Duration;

use purlin_sched::{Timer, TimerAction};

use crate::Pid;
use crate::node::context::with_context;

/// Message that the timer sends when it fires.
struct Delayed<M> {
    to: Pid<M>,
    message: Mutex<Option<M>>,
}

impl<M: Send + 'static> Wake for Delayed<M> {
    fn wake(self: Arc<Self>) {
        // WHY: no code panics under the lock, so it is never poisoned.
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(message) = message {
            self.to.send_past_bound(message);
        }
    }
}

/// Sends a message past the bound after `time`. Dropping the timer does not cancel it.
///
/// # Panics
/// Panics on a thread that runs no process.
pub(crate) fn send_past_bound_after<M: Send + 'static>(
    to: Pid<M>,
    time: Duration,
    message: M,
) -> Timer {
    let sends = Waker::from(Arc::new(Delayed { to, message: Mutex::new(Some(message)) }));
    let timer = with_context(|here| here.timers.set(time, TimerAction::Wake(sends)));
    timer.expect("a process runs on a node")
}
