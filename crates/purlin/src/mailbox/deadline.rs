//! Deadline: the timer behind `receive … after` and call timeouts.
//!
//! The waiting future polls it with any waker, and stores and drops it like a future. The first
//! poll sets the timer, so an event that is there before costs no timer.
//!
//! In a process the timer is an entry in the timing wheel of the worker that first polled it, and
//! can be reached from any thread. Elsewhere (a call from a task of a tokio runtime) it is a tokio
//! timer.
//!
//! COST: in a process no allocation; setting, polling again and dropping take one lock each, which
//! is usually uncontended. The clock is not read. Elsewhere an allocation.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use purlin_sched::{Timer, TimerAction};
use tokio::time::{Sleep, sleep};

use crate::node::context::{NodeContext, with_context};

/// Timer that is ready once its time has passed, never earlier.
#[derive(Debug)]
pub(crate) struct Deadline(Stage);

/// Stage of a deadline: not started, or a timer of this node or of another runtime.
#[derive(Debug)]
enum Stage {
    /// Not polled yet.
    Unset(Duration),
    Here(Timer),
    Elsewhere(Pin<Box<Sleep>>),
}

impl Deadline {
    /// Creates a deadline at `time` after the first poll; `Duration::MAX` is never reached.
    pub(crate) fn after(time: Duration) -> Self {
        Self(Stage::Unset(time))
    }

    /// Returns `Ready` if the time has passed; otherwise registers the waker to be woken then.
    ///
    /// # Panics
    /// Panics on a thread with neither a node nor a tokio runtime.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Stage::Here(timer) => timer.poll(cx.waker()),
            Stage::Elsewhere(sleep) => sleep.as_mut().poll(cx),
            Stage::Unset(time) => {
                let time = *time;
                self.set(time, cx)
            }
        }
    }

    fn set(&mut self, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        if time.is_zero() {
            return Poll::Ready(());
        }
        let alarm =
            |here: &NodeContext| here.timers.set(time, TimerAction::Wake(cx.waker().clone()));
        if let Some(timer) = with_context(alarm) {
            self.0 = Stage::Here(timer);
            return Poll::Pending;
        }
        self.0 = Stage::Elsewhere(Box::pin(sleep(time)));
        self.poll(cx)
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Stage::Here(timer) = &self.0 {
            timer.remove();
        }
    }
}
