//! Periodic timers: a process that sends one message per period.
//!
//! WHY: a process, because creating the message is user code. It may panic or take long, and must
//! stall neither the timing wheel nor the thread that fires timers.
//!
//! The state is behind a lock, so that a send and a cancellation cannot overlap: no message is sent
//! after a cancellation. No user code runs under the lock.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use purlin_sched::TimerWheel;

use crate::mailbox::deadline::Deadline;
use crate::mailbox::send::drop_undelivered;
use crate::signals::signal::Signal;
use crate::{ExitReason, Pid, Process, SendError, consume_budget};

/// Shortest period.
const SHORTEST: Duration = Duration::from_millis(1);

/// Periodic timer.
#[derive(Clone)]
pub(crate) struct Interval {
    state: Arc<Mutex<State>>,
    timers: TimerWheel,
}

/// The part of an interval behind the lock.
struct State {
    /// Due time of the next message, on the node's clock.
    next: Duration,
    /// Set once the timer is cancelled or has ended.
    over: bool,
    /// The sending process.
    sender: Option<Pid<Infallible>>,
}

/// State of the sending process.
pub(crate) struct Sender<M, F> {
    interval: Interval,
    to: Pid<M>,
    period: Duration,
    message: F,
}

impl Interval {
    pub(crate) fn new<M, F>(
        timers: &TimerWheel,
        to: Pid<M>,
        period: Duration,
        message: F,
    ) -> (Self, Sender<M, F>) {
        let period = period.max(SHORTEST);
        let next = timers.now().saturating_add(period);
        let state = State { next, over: false, sender: None };
        let interval = Self { state: Arc::new(Mutex::new(state)), timers: timers.clone() };
        (interval.clone(), Sender { interval, to, period, message })
    }

    /// Records the sending process, which has been spawned.
    pub(crate) fn sent_by(self, sender: Pid<Infallible>) -> Self {
        self.lock().sender = Some(sender);
        self
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // WHY: no user code runs under the lock, so it is never poisoned.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels the timer and returns the time left in the current period. Returns `None` if the
    /// timer has ended.
    pub(crate) fn cancel(&self) -> Option<Duration> {
        let left = self.read()?;
        let sender = {
            let mut state = self.lock();
            if std::mem::replace(&mut state.over, true) {
                return None;
            }
            state.sender.take()
        };
        if let Some(sender) = sender {
            // The signal fails if the process has ended meanwhile.
            let _ =
                sender.address().signal(Signal::Exit { from: None, reason: ExitReason::Shutdown });
        }
        Some(left)
    }

    /// Returns the time left in the current period. Returns `None` if the timer has ended.
    pub(crate) fn read(&self) -> Option<Duration> {
        let state = self.lock();
        let next = (!state.over).then_some(state.next);
        drop(state);
        next.map(|next| next.saturating_sub(self.timers.now()))
    }
}

impl<M: Send + 'static, F: FnMut() -> M> Sender<M, F> {
    /// Runs the sending process.
    pub(crate) async fn run(mut self, _: Process<Infallible>) {
        while let Some(left) = self.interval.read() {
            let mut deadline = Deadline::after(left);
            poll_fn(|cx| deadline.poll(cx)).await;
            let message = (self.message)();
            if !self.send(message) {
                return;
            }
            consume_budget().await;
        }
    }

    /// Sends the message, unless the timer has ended, and sets the next due time. Returns `false`
    /// if there is no next message.
    fn send(&self, message: M) -> bool {
        let mut state = self.interval.lock();
        if state.over {
            drop(state);
            drop(message);
            return false;
        }
        let sent = self.to.try_send(message);
        state.next = state.next.saturating_add(self.period);
        state.over = matches!(sent, Err(SendError::NoProcess(_)));
        let over = state.over;
        drop(state);
        match sent {
            Ok(()) => {}
            Err(SendError::NoProcess(message)) => drop_undelivered(message),
            // B1: the overflow policy of the mailbox decides.
            Err(SendError::Full(message)) => self.to.send(message),
        }
        !over
    }
}

/// Marks the timer as ended, however the process ended and also if it was never spawned.
impl<M, F> Drop for Sender<M, F> {
    fn drop(&mut self) {
        self.interval.lock().over = true;
    }
}
