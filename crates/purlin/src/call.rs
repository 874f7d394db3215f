//! Asking a process and waiting for its answer.
//!
//! The caller may be a process, a task of any runtime, or a plain thread. It sends a message with
//! the one end of an answer in it and waits at the other end, deaf: messages that arrive meanwhile
//! do not wake a process that only waits for this, however many they are (R5).
//!
//! No monitor is set up for a call. A server that ends drops the right to reply, wherever it was,
//! and that wakes the caller; only then does the caller ask whether the server lives, with a signal
//! that a living process answers at its next turn and that comes back from an ended one.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use purlin_raw::{Answer, Manner, Refused, Unsent, oneshot, waits_for, waits_for_nobody};

use crate::deadline::Deadline;
use crate::signal::Signal;
use crate::{ExitReason, Pid, Reply};

/// How long [`Pid::call`] waits: five seconds, as `gen_server:call` does.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a call got no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The process had already ended: Erlang's `noproc`.
    NoProcess,
    /// The process ended before it answered.
    Ended(ExitReason),
    /// The process lives, but has dropped the [`Reply`].
    NoReply,
    /// No answer came in that time. One that comes later is dropped (C1).
    Timeout(Duration),
    /// The mailbox of the process is full, and rejects what comes (B1).
    Full,
    /// A process called itself, and would have waited for ever (C3).
    OwnProcess,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess => f.write_str("noproc: the process has ended"),
            Self::Ended(reason) => write!(f, "the process ended before it answered: {reason}"),
            Self::NoReply => f.write_str("the process dropped the call without an answer"),
            Self::Timeout(time) => write!(f, "timeout: no answer within {time:?}"),
            Self::Full => f.write_str("the mailbox of the process is full"),
            Self::OwnProcess => f.write_str("calling_self: a process cannot wait for itself"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Ended(reason) => Some(reason),
            _ => None,
        }
    }
}

impl<M: Send + 'static> Pid<M> {
    /// Sends a message that carries a [`Reply`] and waits for the answer, at most five seconds (C1).
    ///
    /// ```
    /// # use purlin::{Process, Reply, spawn};
    /// struct Square(u64, Reply<u64>);
    ///
    /// # #[purlin::main] async fn main() {
    /// let squarer = spawn(async |mut me: Process<Square>| {
    ///     loop {
    ///         let Square(n, reply) = me.receive().await;
    ///         reply.send(n * n);
    ///     }
    /// });
    /// assert_eq!(squarer.call(|reply| Square(12, reply)).await, Ok(144));
    /// # }
    /// ```
    ///
    /// Works in a process, and in any task of a tokio runtime. From a plain thread use
    /// [`Pid::call_blocking`].
    ///
    /// *Cancellation*: dropping the future gives up; the answer is dropped.
    ///
    /// # Errors
    /// [`CallError`] says why no answer came; a process that ends is noticed at once.
    ///
    /// # Panics
    /// If it has to wait where there is neither a node nor a tokio runtime to measure time.
    ///
    /// COST: two blocks of memory (the message and the answer), as a rule ones that this thread
    /// freed before; a timer only if the answer is not there at the first look.
    pub async fn call<T>(&self, message: impl FnOnce(Reply<T>) -> M) -> Result<T, CallError> {
        self.call_timeout(message, CALL_TIMEOUT).await
    }

    /// [`Pid::call`] with another patience; `Duration::MAX` waits for ever. Errors, panics and cost
    /// are the same.
    pub async fn call_timeout<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> M,
        timeout: Duration,
    ) -> Result<T, CallError> {
        let mut patience = Patience::new(timeout);
        let mut answer = self.ask(message, own_waker().await)?;
        match patience.wait(|cx| shown(self, answer.poll(cx))).await? {
            Some(answer) => Ok(answer),
            // WHY boxed: it is rare, and would make every call several times as large.
            None => Err(Box::pin(self.unanswered(&mut patience)).await),
        }
    }

    /// [`Pid::call`] for a thread that is no process: it blocks.
    ///
    /// In a process it would hold up the worker; use [`Pid::call`] there, or
    /// [`spawn_blocking()`](crate::spawn_blocking()).
    ///
    /// # Errors
    /// As [`Pid::call`].
    pub fn call_blocking<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> M,
        timeout: Duration,
    ) -> Result<T, CallError> {
        let answered = self.call_timeout(message, Duration::MAX);
        block_on_for(answered, timeout).unwrap_or(Err(CallError::Timeout(timeout)))
    }

    pub(crate) fn ask<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> M,
        waiter: Waker,
    ) -> Result<Answer<T>, CallError> {
        if self.address().is_current() {
            return Err(CallError::OwnProcess);
        }
        let (to, answer) = oneshot(waiter);
        match self.address().send(message(Reply::new(to))) {
            Ok(()) => Ok(answer),
            Err(Unsent::Ended(_)) => Err(CallError::NoProcess),
            // WHY past the bound, where senders wait: this one waits for the answer anyway.
            Err(Unsent::Bounded(message)) => {
                match self.address().send_within(message, Manner::Send) {
                    Ok(_) => Ok(answer),
                    Err(Refused::Ended(_)) => Err(CallError::NoProcess),
                    Err(Refused::Full(_)) => Err(CallError::Full),
                }
            }
        }
    }

    /// Asks a process that answers, unless it ends before: then why it ended. For as long as it lives.
    pub(crate) async fn answer_or_end<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> M,
    ) -> Result<T, ExitReason> {
        match self.call_timeout(message, Duration::MAX).await {
            Ok(answer) => Ok(answer),
            Err(CallError::Ended(reason)) => Err(reason),
            Err(_) => Err(self.ended().await),
        }
    }

    /// [`Pid::ended`], but no longer than that; `None` if the process goes on.
    pub(crate) async fn ended_within(&self, time: Duration) -> Option<ExitReason> {
        let mut ended = pin!(self.ended());
        Patience::new(time).wait(|cx| ended.as_mut().poll(cx)).await.ok()
    }

    /// Why there is no answer, when the reply has been dropped: asks the process whether it still
    /// lives, since a reply may be dropped by a function that returns. The signal is answered by
    /// the next turn, or comes back when there is none.
    pub(crate) async fn unanswered(&self, patience: &mut Patience) -> CallError {
        let (still, mut there) = oneshot(own_waker().await);
        let asked = self.address().signal(Signal::StillThere(still)).is_ok();
        let lives = match patience.wait(|cx| there.poll(cx)).await {
            Ok(answer) => asked && answer.is_some(),
            Err(error) => return error,
        };
        if lives {
            return CallError::NoReply;
        }
        let mut ended = pin!(self.ended());
        patience
            .wait(|cx| ended.as_mut().poll(cx))
            .await
            .map_or_else(|error| error, CallError::Ended)
    }
}

/// Passes on what a look for the answer of `whom` has found, and shows to others whether it is waited for.
#[inline]
pub(crate) fn shown<M: Send + 'static, R>(whom: &Pid<M>, found: Poll<R>) -> Poll<R> {
    if found.is_pending() {
        waits_for(whom.address());
    } else {
        waits_for_nobody();
    }
    found
}

/// The waker of whoever polls this.
pub(crate) async fn own_waker() -> Waker {
    poll_fn(|cx| Poll::Ready(cx.waker().clone())).await
}

/// How long a call waits in all, for whatever it waits, one thing after the other.
pub(crate) struct Patience {
    timeout: Duration,
    deadline: Deadline,
}

impl Patience {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, deadline: Deadline::after(timeout) }
    }

    /// Waits until `poll` is ready. What is ready at the first look sets no timer.
    pub(crate) async fn wait<R>(
        &mut self,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
    ) -> Result<R, CallError> {
        poll_fn(|cx| match poll(cx) {
            Poll::Ready(ready) => Poll::Ready(Ok(ready)),
            // For ever is as long where nobody measures time, as on a plain thread.
            Poll::Pending if self.timeout == Duration::MAX => Poll::Pending,
            Poll::Pending => self.deadline.poll(cx).map(|()| Err(CallError::Timeout(self.timeout))),
        })
        .await
    }
}

/// Wakes a thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Some(output) = block_on_for(future.as_mut(), Duration::MAX) {
            return output;
        }
    }
}

/// Runs a future on this thread, at most for the given time.
fn block_on_for<F: Future>(future: F, timeout: Duration) -> Option<F::Output> {
    let deadline = Instant::now().checked_add(timeout);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        match deadline {
            None => thread::park(),
            Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return None,
            },
        }
    }
}
