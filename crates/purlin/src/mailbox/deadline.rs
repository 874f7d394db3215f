//! Deadline: the timer behind `receive … after` and call timeouts.
//!
//! The waiting future polls it with any waker, and stores and drops it like a future. The first
//! poll sets the timer, so an event that is there before costs no timer. The time begins with that
//! poll, or before it with [`Deadline::begin`].
//!
//! In a process the timer is an entry in the timing wheel of the worker that first polled it, and
//! can be reached from any thread. Elsewhere (a call from a task of a tokio runtime) it is a tokio
//! timer.
//!
//! COST: in a process no allocation; setting, polling again and dropping take one lock each, which
//! is usually uncontended. The first poll reads the clock, and twice if `begin` has read it before.
//! Elsewhere an allocation.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use purlin_sched::{Timer, TimerAction};
use tokio::time::{Sleep, sleep};

use crate::Node;
use crate::node::context::{NodeContext, with_context};

/// Timer that is ready once its time has passed, never earlier.
#[derive(Debug)]
pub(crate) struct Deadline(Stage);

/// Stage of a deadline: not started, or a timer of this node or of another runtime.
#[derive(Debug)]
enum Stage {
    /// Not polled yet. The time begins with the first poll, or at `since`.
    Unset {
        time: Duration,
        since: Option<Duration>,
    },
    Here(Timer),
    Elsewhere(Pin<Box<Sleep>>),
}

impl Deadline {
    /// Creates a deadline at `time` after the first poll; `Duration::MAX` is never reached.
    pub(crate) fn after(time: Duration) -> Self {
        Self(Stage::Unset { time, since: None })
    }

    /// Begins the time now, on a thread of a node and before the first poll. Sets no timer.
    pub(crate) fn begin(&mut self) {
        if let Stage::Unset { since, .. } = &mut self.0 {
            *since = Node::current_uptime();
        }
    }

    /// Returns `Ready` if the time has passed; otherwise registers the waker to be woken then.
    ///
    /// # Panics
    /// Panics on a thread with neither a node nor a tokio runtime.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Stage::Here(timer) => timer.poll(cx.waker()),
            Stage::Elsewhere(sleep) => sleep.as_mut().poll(cx),
            Stage::Unset { time, since } => {
                let passed = since.and_then(|since| Node::current_uptime()?.checked_sub(since));
                let left = time.saturating_sub(passed.unwrap_or_default());
                self.set(left, cx)
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::mpsc;

    use super::*;
    use crate::Process;

    // The time between `begin` and the first poll counts
    #[test]
    fn time_begins_with_the_first_poll_unless_it_has_begun_before() {
        let node = Node::builder().workers(1).build().expect("a node starts");
        let (tx, rx) = mpsc::channel();
        node.spawn(async move |_: Process<()>| {
            for begins in [false, true] {
                let mut deadline = Deadline::after(Duration::from_nanos(1));
                if begins {
                    deadline.begin();
                }
                let began = Node::current_uptime();
                while Node::current_uptime() == began {}
                let _ = tx.send(poll_fn(|cx| Poll::Ready(deadline.poll(cx).is_ready())).await);
            }
        });
        assert_eq!(rx.iter().collect::<Vec<_>>(), [false, true]);
    }
}
