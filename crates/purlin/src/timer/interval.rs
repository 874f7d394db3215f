//! Periodic timers: a process that sends one message per period.
//!
//! WHY: a process, because creating the message is user code. It may panic or take long, and must
//! stall neither the timing wheel nor the thread that fires timers.
//!
//! A cancellation waits until a send that is under way is over, so no message is sent after it. The
//! send may run user code, such as the destructor of a message that a full mailbox drops. Timers can be
//! read and cancelled there, too; such a cancellation does not wait.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use purlin_sched::TimerWheel;

use crate::mailbox::deadline::Deadline;
use crate::signals::signal::Signal;
use crate::{ExitReason, Pid, Process, SendError, consume_budget};

/// Shortest period.
const SHORTEST: Duration = Duration::from_millis(1);

/// Periodic timer.
#[derive(Clone)]
pub(crate) struct Interval {
    state: Arc<State>,
    timers: TimerWheel,
}

/// State shared by a timer's handles and its sending process.
struct State {
    /// Due time of the next message on the node's clock, in nanoseconds.
    next: AtomicU64,
    /// Set once the timer is cancelled or has ended.
    over: AtomicBool,
    /// The sending process, once it has been spawned.
    sender: OnceLock<Pid<Infallible>>,
    /// Held while a message is sent.
    sending: Mutex<()>,
}

thread_local! {
    /// Whether this thread is sending a message of a timer.
    static SENDING: Cell<bool> = const { Cell::new(false) };
}

/// A send under way.
struct Sending<'a> {
    _lock: MutexGuard<'a, ()>,
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        SENDING.set(false);
    }
}

/// State of the sending process.
pub(crate) struct Sender<M, F> {
    interval: Interval,
    to: Pid<M>,
    period: Duration,
    message: F,
}

/// Returns a time in nanoseconds, at most 584 years.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Interval {
    pub(crate) fn new<M, F>(
        timers: &TimerWheel,
        to: Pid<M>,
        period: Duration,
        message: F,
    ) -> (Self, Sender<M, F>) {
        let period = period.max(SHORTEST);
        let next = AtomicU64::new(nanos(timers.now().saturating_add(period)));
        let (over, sender, sending) = Default::default();
        let state = Arc::new(State { next, over, sender, sending });
        let interval = Self { state, timers: timers.clone() };
        (interval.clone(), Sender { interval, to, period, message })
    }

    /// Records the sending process, which has been spawned.
    pub(crate) fn sent_by(self, sender: Pid<Infallible>) -> Self {
        // It may have recorded itself.
        let _ = self.state.sender.set(sender);
        self
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.state.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a send. Waits for a cancellation that is under way.
    fn begin_send(&self) -> Sending<'_> {
        let sending = Sending { _lock: self.lock() };
        SENDING.set(true);
        sending
    }

    fn is_over(&self) -> bool {
        // ORDER: relaxed, here and below: `sending` orders a cancellation and a send.
        self.state.over.load(Ordering::Relaxed)
    }

    /// Marks the timer as ended. Returns whether it had ended before.
    fn end(&self) -> bool {
        self.state.over.swap(true, Ordering::Relaxed)
    }

    /// Cancels the timer and returns the time left in the current period. Returns `None` if the
    /// timer has ended.
    pub(crate) fn cancel(&self) -> Option<Duration> {
        let left = self.read()?;
        if self.end() {
            return None;
        }
        // WHY not within a send: the sender would wait for itself, or two senders for each other.
        if !SENDING.get() {
            drop(self.lock());
        }
        if let Some(sender) = self.state.sender.get() {
            // The signal fails if the process has ended meanwhile.
            let _ =
                sender.address().signal(Signal::Exit { from: None, reason: ExitReason::Shutdown });
        }
        Some(left)
    }

    /// Returns the time left in the current period. Returns `None` if the timer has ended.
    pub(crate) fn read(&self) -> Option<Duration> {
        let next = Duration::from_nanos(self.state.next.load(Ordering::Relaxed));
        (!self.is_over()).then(|| next.saturating_sub(self.timers.now()))
    }
}

impl<M: Send + 'static, F: FnMut() -> M> Sender<M, F> {
    /// Runs the sending process.
    pub(crate) async fn run(mut self, me: Process<Infallible>) {
        let _ = self.interval.state.sender.set(me.pid());
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
        let sending = self.interval.begin_send();
        if self.interval.is_over() {
            drop(sending);
            return false;
        }
        self.interval.state.next.fetch_add(nanos(self.period), Ordering::Relaxed);
        let unsent = self.to.send_or_return(message);
        let is_last = matches!(unsent, Some(SendError::NoProcess(_)));
        if is_last {
            self.interval.end();
        }
        drop(sending);
        if let Some(unsent) = unsent {
            self.to.drop_unsent(unsent);
        }
        !is_last
    }
}

/// Marks the timer as ended, however the process ended and also if it was never spawned.
impl<M, F> Drop for Sender<M, F> {
    fn drop(&mut self) {
        self.interval.end();
    }
}
