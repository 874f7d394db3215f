//! Asynchronous call: the request is sent immediately and its reply is awaited later, as with
//! OTP's `gen_server:send_request`.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use purlin_raw::ReplyReceiver;

use crate::call::request::{CallDeadline, publish_wait, unanswered};
use crate::node::erlang_types::Peer;
use crate::process::yielding::must_yield;
use crate::{CALL_TIMEOUT, CallError, Pid, ProcessId, Recipient, Reply, task};

/// A request that has been sent, and whose reply is a future: created by [`Pid::send_request`] or
/// [`ServerRef::send_request`](crate::server::ServerRef::send_request).
///
/// Several requests may be outstanding, to one process or to many:
///
/// ```
/// use purlin::{Process, Reply, spawn};
///
/// # #[purlin::main] async fn main() -> Result<(), purlin::CallError> {
/// let squarer = spawn(async |mut me: Process<(u32, Reply<u32>)>| {
///     loop {
///         let (n, reply) = me.receive().await;
///         reply.send(n * n);
///     }
/// });
/// let six = squarer.send_request(|reply| (6, reply));
/// let seven = squarer.send_request(|reply| (7, reply));
/// // Both are being answered meanwhile.
/// assert_eq!(seven.await? - six.await?, 13);
/// # Ok(())
/// # }
/// ```
///
/// Awaiting it returns what [`Pid::call`] would have returned. The time of the timeout, five
/// seconds by default, begins with the first poll. To receive the reply among other messages, use
/// [`Request::forward_to`].
///
/// *Cancellation*: a request may be awaited through `&mut`, as in a `select!`, and awaited again
/// later. Dropping it abandons the request; a later reply is dropped and never seen as a message
/// (C1).
///
/// # Panics
/// Panics if it is polled after it was ready, and otherwise as [`Pid::call`].
///
/// COST: as [`Pid::call`].
#[must_use = "dropping a request abandons its reply"]
pub struct Request<T> {
    process: Peer,
    deadline: CallDeadline,
    wait: Wait<T>,
}

/// Event that completes a request.
enum Wait<T> {
    Reply(ReplyReceiver<T>),
    /// The reason why no reply comes.
    Reason(Pin<Box<dyn Future<Output = CallError> + Send + Sync>>),
    /// The request was not sent.
    NotSent(CallError),
    Over,
}

// The futures and receivers inside are moved between polls.
impl<T> Unpin for Request<T> {}

impl<M: Send + 'static> Pid<M> {
    /// Sends a message that carries a [`Reply`], as [`Pid::call`] does, and returns immediately.
    /// Awaiting the result waits for the reply.
    pub fn send_request<T>(&self, message: impl FnOnce(Reply<T>) -> M) -> Request<T> {
        let wait = match self.ask(message) {
            Ok(reply) => Wait::Reply(reply),
            Err(error) => Wait::NotSent(error),
        };
        let process = self.address().clone().untyped();
        Request { process, deadline: CallDeadline::new(CALL_TIMEOUT), wait }
    }
}

impl<T> Request<T> {
    /// Sets the timeout, which begins with the first poll; `Duration::MAX` waits without limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.deadline = CallDeadline::new(timeout);
        self
    }

    /// Returns the id of the process that was sent the request.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.process)
    }
}

impl<T: Send + 'static> Request<T> {
    /// Has the result sent to a recipient, usually this process itself: the reply arrives as a
    /// message among others, and one receive waits for all of them.
    ///
    /// ```
    /// use purlin::{CallError, Process, Reply, receive, spawn};
    ///
    /// enum Msg { Price(Result<u32, CallError>), Stop }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Msg>) {
    ///     let market = spawn(async |mut me: Process<Reply<u32>>| me.receive().await.send(1250));
    ///     let price = me.pid().map(Msg::Price);
    ///     market.send_request(|reply| reply).forward_to(&price);
    ///     let price = receive!(me, {
    ///         Msg::Price(price) => price,
    ///         Msg::Stop => return,
    ///     });
    ///     assert_eq!(price, Ok(1250));
    /// }
    /// ```
    ///
    /// The reply is awaited by a process, which outlives the caller and ends at the latest with the
    /// timeout. If the node has no room for it, nothing is sent, and the log has an error.
    ///
    /// # Panics
    /// As [`spawn()`](crate::spawn()).
    ///
    /// COST: the process.
    pub fn forward_to(self, recipient: &Recipient<Result<T, CallError>>) {
        let recipient = recipient.clone();
        drop(task::spawn(async move { recipient.send(self.await) }));
    }
}

impl<T> Future for Request<T> {
    type Output = Result<T, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { process, deadline, wait } = &mut *self;
        loop {
            let result = match wait {
                Wait::Reply(reply) => {
                    let replied =
                        pin!(deadline.wait(|cx| publish_wait(process, reply.poll(cx)))).poll(cx);
                    match replied {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(Ok(Some(reply))) => Ok(reply),
                        Poll::Ready(Ok(None)) => {
                            let process = process.clone();
                            let reason = async move { unanswered(&process).await };
                            *wait = Wait::Reason(Box::pin(reason));
                            continue;
                        }
                        Poll::Ready(Err(timeout)) => Err(timeout),
                    }
                }
                Wait::Reason(reason) => {
                    let polled = pin!(deadline.wait(|cx| reason.as_mut().poll(cx))).poll(cx);
                    match polled {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(reason) => Err(reason.unwrap_or_else(|timeout| timeout)),
                    }
                }
                Wait::NotSent(_) if must_yield(cx) => return Poll::Pending,
                Wait::NotSent(error) => Err(error.clone()),
                Wait::Over => panic!("a request was polled after it was ready"),
            };
            *wait = Wait::Over;
            return Poll::Ready(result);
        }
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request").field(&self.id()).finish()
    }
}
