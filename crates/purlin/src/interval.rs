//! A message that is sent again and again, by a process that does nothing else.
//!
//! WHY a process: making the message is the user's code. It may panic or take long, and must hold up
//! neither the wheel nor whoever fires timers.
//!
//! The state is under a lock, so that a message and a cancelling come one after the other: once it is
//! cancelled nothing is sent any more. Nothing of the user's runs under the lock.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use purlin_sched::TimerWheel;

use crate::deadline::Deadline;
use crate::pid::nobody_receives;
use crate::signal::Signal;
use crate::{ExitReason, Pid, Process, SendError, consume_budget};

/// The shortest time between two messages.
const SHORTEST: Duration = Duration::from_millis(1);

/// A timer that sends again and again.
#[derive(Clone)]
pub(crate) struct Interval {
    state: Arc<Mutex<State>>,
    timers: TimerWheel,
}

struct State {
    /// When the next message is due, on the node's clock.
    next: Duration,
    /// Cancelled, or ended by itself.
    over: bool,
    /// The process that sends.
    sender: Option<Pid<Infallible>>,
}

/// What the process that sends is made of.
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

    /// The process that sends has been spawned.
    pub(crate) fn sent_by(self, sender: Pid<Infallible>) -> Self {
        self.lock().sender = Some(sender);
        self
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // WHY: nothing of the user's runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it and says how much of the present period was left; `None` if it is over.
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
            // One that has ended meanwhile need not be told.
            let _ =
                sender.address().signal(Signal::Exit { from: None, reason: ExitReason::Shutdown });
        }
        Some(left)
    }

    /// How much of the present period is left; `None` if it is over.
    pub(crate) fn read(&self) -> Option<Duration> {
        let state = self.lock();
        let next = (!state.over).then_some(state.next);
        drop(state);
        next.map(|next| next.saturating_sub(self.timers.now()))
    }
}

impl<M: Send + 'static, F: FnMut() -> M> Sender<M, F> {
    /// The process that sends.
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

    /// Sends, unless it is over, and looks forward to the next; `false` if there is none.
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
            Err(SendError::NoProcess(message)) => nobody_receives(message),
            // B1: as the mailbox has it.
            Err(SendError::Full(message)) => self.to.send(message),
        }
        !over
    }
}

/// However the process has ended, and also if there was never one.
impl<M, F> Drop for Sender<M, F> {
    fn drop(&mut self) {
        self.interval.lock().over = true;
    }
}
