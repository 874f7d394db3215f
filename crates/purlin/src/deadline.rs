//! A deadline: what a receive or a call that must not take too long waits for beside.
//!
//! Polled by whoever waits, with any waker; kept and dropped like a future. Nothing is set before the
//! first poll, so what is there at the first look costs no timer.
//!
//! In a process the timer is one of the node's own: an entry in the wheel of the worker that first
//! polled it, found again from any thread. Elsewhere (a call from a task of somebody's tokio) it is
//! tokio's.
//!
//! COST: in a process no allocation; setting and dropping each a lock that is as a rule free, and
//! looking again one. The clock is not read. Elsewhere an allocation.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use purlin_sched::{Alarm, Timer};
use tokio::time::{Sleep, sleep};

use crate::home::{Here, here};

/// Ready once its time has passed, and not before.
#[derive(Debug)]
pub(crate) struct Deadline(Stage);

#[derive(Debug)]
enum Stage {
    /// Nobody has waited yet.
    Unset(Duration),
    Here(Timer),
    Elsewhere(Pin<Box<Sleep>>),
}

impl Deadline {
    /// So long after the first poll; `Duration::MAX` is for ever.
    pub(crate) fn after(time: Duration) -> Self {
        Self(Stage::Unset(time))
    }

    /// Whether the time has passed; if not, the waker is woken when it has.
    ///
    /// # Panics
    /// Where there is neither a node nor a tokio runtime.
    #[inline]
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
        let alarm = |here: &Here| here.timers.set(time, Alarm::Wake(cx.waker().clone()));
        if let Some(timer) = here(alarm) {
            self.0 = Stage::Here(timer);
            return Poll::Pending;
        }
        self.0 = Stage::Elsewhere(Box::pin(sleep(time)));
        self.poll(cx)
    }
}

impl Drop for Deadline {
    #[inline]
    fn drop(&mut self) {
        if let Stage::Here(timer) = &self.0 {
            timer.remove();
        }
    }
}
