//! Calls: a request to a process and its reply.
//!
//! The caller may be a process, a task of any runtime, or a plain thread. It sends a message that
//! carries one end of a one-shot block and waits at the other end. Messages that arrive meanwhile
//! do not wake a process that only waits for the reply, however many they are (R5).
//!
//! A call sets up no monitor. A server that ends drops the right to reply, wherever it was, and
//! that wakes the caller. Only then does the caller ask whether the server is alive, with a signal
//! that a live process answers at its next turn and that is returned if the process has ended.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use purlin_raw::{ReplyReceiver, SendMode, clear_waits_for, oneshot, set_waits_for};
use purlin_sched::poll_after;

use crate::mailbox::deadline::{Deadline, LONG};
use crate::node::erlang_types::Peer;
use crate::process::pid::ended;
use crate::process::yielding::{must_yield, without_wait};
use crate::signals::signal::Signal;
use crate::{ExitReason, Pid, Reply, SendError};

/// Default timeout of [`Pid::call`]: 5 seconds, as for `gen_server:call`.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Error of a call that got no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The process had already ended: Erlang's `noproc`.
    NoProcess,
    /// The process ended before it replied.
    Ended(ExitReason),
    /// The process is alive, but dropped the [`Reply`]. A server that waits in its `terminate` is
    /// still alive.
    NoReply,
    /// No reply arrived within this time. A later reply is dropped (C1).
    Timeout(Duration),
    /// The mailbox of the process is full and rejects messages (B1).
    Full,
    /// A process called itself, which would deadlock (C3).
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
    /// Sends a message that carries a [`Reply`] and waits for the reply, at most 5 seconds (C1).
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
    /// Works in a process and in any task of a tokio runtime. Use [`Pid::call_blocking`] on a plain
    /// thread.
    ///
    /// *Cancellation*: dropping the future abandons the call; a later reply is dropped.
    ///
    /// # Errors
    /// Returns [`CallError`] if no reply arrives. The end of the process is reported without
    /// waiting for the timeout, unless it has handed on the [`Reply`].
    ///
    /// # Panics
    /// Panics if the call has to wait on a thread with neither a node nor a tokio runtime, because
    /// no timer is available there.
    ///
    /// COST: two blocks of memory (the message and the reply), usually from this thread's free
    /// list. Unless the call wakes the process on the caller's worker and the process replies in its
    /// next turn, a reading of the clock, and now and then a timer: the calls of a process share one,
    /// which it keeps. The time of a timeout of a second or more begins after that turn.
    // WHY no `async fn`, here and in `ServerRef`: each layer of futures costs a dispatch per poll.
    pub fn call<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> M,
    ) -> impl Future<Output = Result<T, CallError>> {
        self.call_timeout(message, CALL_TIMEOUT)
    }

    /// [`Pid::call`] with a given timeout; `Duration::MAX` waits without limit. Errors, panics and
    /// cost are the same, except that a timeout of less than a second may cost another reading of the
    /// clock, and sets a separate timer.
    pub async fn call_timeout<T>(
        &self,
        message: impl FnOnce(Reply<T>) -> M,
        timeout: Duration,
    ) -> Result<T, CallError> {
        let mut deadline = CallDeadline::new(timeout);
        let failed = match self.ask(message) {
            Ok(mut answer) => {
                let mut yielded = false;
                let replied = poll_fn(|cx| {
                    // WHY: a process that this one has just woken on its worker usually replies in
                    // its next turn. The caller then needs no timer, does not sleep, and need not be
                    // woken.
                    if !yielded {
                        yielded = true;
                        if poll_after(self.address(), cx.waker()) {
                            deadline.begin();
                            return Poll::Pending;
                        }
                    }
                    deadline.limit(publish_wait(self.address(), answer.poll(cx)), cx)
                });
                match replied.await? {
                    Some(answer) => return Ok(answer),
                    None => None,
                }
            }
            Err(error) => Some(error),
        };
        // WHY one await for both: another state made the poll of every call longer.
        Err(no_answer(self.address(), failed, &mut deadline).await)
    }

    /// [`Pid::call`] for a thread that runs no process: blocks the thread.
    ///
    /// In a process it would stall the worker; use [`Pid::call`] there, or
    /// [`SpawnOptions::blocking`](crate::SpawnOptions::blocking).
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
    ) -> Result<ReplyReceiver<T>, CallError> {
        if self.address().is_current() {
            return Err(CallError::OwnProcess);
        }
        let (to, answer) = oneshot();
        let mut failed = None;
        // WHY: past the bound if senders wait, because this sender waits for the reply anyway.
        self.address().send_made(
            || message(Reply::new(to)),
            SendMode::Send,
            |_, outcome| {
                failed = match outcome {
                    Ok(_) => None,
                    Err(SendError::NoProcess(_)) => Some(CallError::NoProcess),
                    Err(SendError::Full(_)) => Some(CallError::Full),
                };
            },
        );
        match failed {
            None => Ok(answer),
            Some(error) => Err(error),
        }
    }

    /// Calls, without a timeout, a process that always replies. Returns its exit reason if it ends
    /// first.
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

    /// [`Pid::ended`] with a time limit; returns `None` if the process is still alive then.
    pub(crate) async fn ended_within(&self, time: Duration) -> Option<ExitReason> {
        let mut ended = pin!(self.ended());
        CallDeadline::new(time).wait(|cx| ended.as_mut().poll(cx)).await.ok()
    }
}

/// Waits for the reason why no reply came, or until the time is up. Returns `unsent`, the error of a
/// request that was not sent, without waiting.
///
/// WHY: boxed, because it is rare and would make the future of every call several times as large.
#[cold]
#[inline(never)]
pub(crate) fn no_answer(
    process: &Peer,
    unsent: Option<CallError>,
    deadline: &mut CallDeadline,
) -> NoAnswer<impl Future<Output = CallError>> {
    NoAnswer(Box::pin(async move {
        if let Some(error) = unsent {
            return without_wait(error).await;
        }
        let mut reason = pin!(unanswered(process));
        deadline.wait(|cx| reason.as_mut().poll(cx)).await.unwrap_or_else(|timeout| timeout)
    }))
}

/// Future returned by [`no_answer`].
pub(crate) struct NoAnswer<F>(Pin<Box<F>>);

impl<F: Future> Future for NoAnswer<F> {
    type Output = F::Output;

    // WHY: inlined, it kept the poll of every call from being inlined into its turn.
    #[cold]
    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll(cx)
    }
}

/// Finds out why no reply came, after the reply was dropped. The process may be alive, since a
/// function that returns may drop a reply. So this sends it a signal, which its next turn answers
/// or which is returned if the process has ended.
pub(crate) async fn unanswered(process: &Peer) -> CallError {
    let (still, mut there) = oneshot();
    let asked = process.signal(Signal::StillThere(still)).is_ok();
    if poll_fn(|cx| there.poll(cx)).await.is_some() && asked {
        return CallError::NoReply;
    }
    CallError::Ended(ended(process).await)
}

/// Returns `found`, the poll of the reply of `whom`, and publishes whether this process waits for
/// it.
pub(crate) fn publish_wait<R>(whom: &Peer, found: Poll<R>) -> Poll<R> {
    if found.is_pending() {
        set_waits_for(whom);
    } else {
        clear_waits_for();
    }
    found
}

/// Deadline shared by the successive waits of one call.
pub(crate) struct CallDeadline {
    timeout: Duration,
    deadline: Deadline,
}

impl CallDeadline {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, deadline: Deadline::after(timeout) }
    }

    /// Begins the timeout without a timer, if it is short.
    ///
    /// WHY only then: reading the clock costs more than the accuracy of a long timeout is worth.
    fn begin(&mut self) {
        if self.timeout < LONG {
            self.deadline.begin();
        }
    }

    /// Waits until `poll` is ready. Sets no timer if it is ready at the first poll.
    pub(crate) fn wait<R>(
        &mut self,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
    ) -> impl Future<Output = Result<R, CallError>> {
        poll_fn(move |cx| {
            let polled = poll(cx);
            self.limit(polled, cx)
        })
    }

    /// Maps the result of a poll: if it is pending, sets the timer or checks it.
    fn limit<R>(&mut self, polled: Poll<R>, cx: &mut Context<'_>) -> Poll<Result<R, CallError>> {
        match polled {
            Poll::Ready(ready) => Poll::Ready(Ok(ready)),
            // An unlimited wait needs no timer, which a plain thread does not have.
            Poll::Pending if self.timeout == Duration::MAX => Poll::Pending,
            // WHY `must_yield`: a time of zero has passed at the first poll.
            Poll::Pending if self.deadline.poll(cx).is_pending() || must_yield(cx) => Poll::Pending,
            Poll::Pending => Poll::Ready(Err(CallError::Timeout(self.timeout))),
        }
    }
}

/// Waker that unparks a thread blocked on a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to completion on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    block_on_for(future, Duration::MAX).unwrap_or_else(|| unreachable!("the time has no end"))
}

/// Runs a future on this thread, for at most `timeout`. Returns `None` when the time is up.
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
