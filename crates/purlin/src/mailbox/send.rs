//! Sending messages to a process.

use std::future::poll_fn;
use std::task::{Context, Poll};

use purlin_raw::{Address, SendMode, SendOutcome, Waiter};

use crate::mailbox::backpressure::suspend;
use crate::node::context::with_context;
use crate::node::erlang_types::ErlangTypes;
use crate::signals::signal::Signal;
use crate::{Pid, SendError};

impl<M: Send + 'static> Pid<M> {
    /// Sends a message (M1). Returns immediately and never blocks the thread.
    ///
    /// Messages from one process arrive in the order sent (M2). A message to a process that has
    /// ended is dropped, and counted if a worker of a node sent it (M4, see
    /// [`crate::Node::dropped_messages`]); use [`Pid::try_send`] to get it back. If the mailbox has
    /// a bound and is full, its policy decides ([`Overflow`](crate::Overflow), B1).
    ///
    /// COST: one block of `8 + size_of::<M>()` bytes, usually from this thread's free list, and one
    /// atomic read-modify-write; the message is moved (M5).
    pub fn send(&self, message: M) {
        self.address().send_with(message, SendMode::Send, |to, outcome| match outcome {
            Ok(SendOutcome::Done) => {}
            Ok(SendOutcome::Past) => suspend(to),
            Err(SendError::NoProcess(message)) => drop_undelivered(message),
            Err(SendError::Full(message)) => reject(to, message),
        });
    }

    /// [`Pid::send`] that returns a message which was not queued, for [`Pid::drop_unsent`].
    pub(crate) fn send_or_return(&self, message: M) -> Option<SendError<M>> {
        let mut unsent = None;
        self.address().send_with(message, SendMode::Send, |to, outcome| match outcome {
            Ok(SendOutcome::Done) => {}
            Ok(SendOutcome::Past) => suspend(to),
            Err(error) => unsent = Some(error),
        });
        unsent
    }

    /// Counts and drops a message that was not queued.
    pub(crate) fn drop_unsent(&self, unsent: SendError<M>) {
        match unsent {
            SendError::NoProcess(message) => drop_undelivered(message),
            SendError::Full(message) => reject(self.address(), message),
        }
    }

    /// Sends a message. Returns it if the process has ended, or if its mailbox is full and the
    /// policy is to wait or to reject ([`Overflow`](crate::Overflow)).
    ///
    /// `Ok` does not mean that the message will be received: the process may end first, and a full
    /// mailbox may drop the message.
    ///
    /// # Errors
    /// Returns [`SendError`] with the message if the process has ended or its mailbox is full.
    pub fn try_send(&self, message: M) -> Result<(), SendError<M>> {
        self.address().send(message, SendMode::Try).map(drop)
    }

    /// Sends a message that passes any bound of the mailbox (B2). Returns whether the process had not
    /// ended; a message to an ended process is dropped and counted (M4).
    ///
    /// COST: two blocks of memory, one of them for the message.
    pub(crate) fn send_past_bound(&self, message: M) -> bool {
        let sent = self.address().signal(Signal::Message(Box::new(message)));
        let is_sent = sent.is_ok();
        sent.unwrap_or_else(drop_undelivered);
        is_sent
    }

    /// Waits until the mailbox has capacity, then sends a message (B1).
    ///
    /// A mailbox without a bound, or one that drops its oldest message, always has capacity. Unlike
    /// [`send`](Pid::send), this method takes no other mailbox past its limit, and it works in a
    /// process and in a task of any runtime.
    ///
    /// ```
    /// # use purlin::{Overflow, Process, SpawnOptions};
    /// # #[purlin::main] async fn main() {
    /// let options = SpawnOptions::new().bound(10, Overflow::Wait);
    /// let slow = options.spawn(async |mut me: Process<u32>| {
    ///     for n in 0..100 {
    ///         assert_eq!(me.receive().await, n);
    ///         assert!(me.mailbox_len() <= 10);
    ///     }
    /// });
    /// let slow = slow.expect("there is room for a process");
    /// for n in 0..100 {
    ///     slow.send_async(n).await.expect("it lives");
    /// }
    /// # assert_eq!(slow.ended().await, purlin::ExitReason::Normal);
    /// # }
    /// ```
    ///
    /// *Cancellation*: a future that is dropped before it is ready has sent nothing, and drops the
    /// message.
    ///
    /// # Errors
    /// Returns [`SendError`] with the message if the process has ended or ends meanwhile. If a
    /// process sends to its own full mailbox, which would deadlock, returns the error without
    /// waiting.
    ///
    /// COST: as [`Pid::send`]; a wait takes a lock and a waker. Capacity in the mailbox wakes all
    /// waiters.
    pub async fn send_async(&self, message: M) -> Result<(), SendError<M>> {
        let (mut message, mut waiter) = (Some(message), None);
        poll_fn(move |cx| self.poll_send(&mut message, &mut waiter, cx)).await
    }

    /// Sends the message if there is capacity; otherwise keeps it and joins the wait list.
    fn poll_send(
        &self,
        message: &mut Option<M>,
        waiter: &mut Option<Waiter<ErlangTypes>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        if !purlin_raw::spend_budget() {
            purlin_raw::poll_again(cx.waker());
            return Poll::Pending;
        }
        while let Some(unsent) = message.take() {
            match self.address().send(unsent, SendMode::Strict) {
                Ok(_) => break,
                Err(SendError::Full(unsent)) if !self.address().is_current() => {
                    *message = Some(unsent);
                    *waiter = self.address().join_wait_list(cx.waker().clone());
                    if waiter.is_some() {
                        return Poll::Pending;
                    }
                }
                Err(unsent) => return Poll::Ready(Err(unsent)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Counts and drops a message that a full mailbox rejected.
#[cold]
fn reject<M: Send + 'static>(to: &Address<ErlangTypes, M>, message: M) {
    if let Some(bound) = to.bound() {
        bound.reject();
    }
    drop(message);
}

/// Counts and drops a message whose receiver has ended.
#[cold]
pub(crate) fn drop_undelivered<M>(message: M) {
    // WHY: an ended process does not keep its node alive, so the sender's node counts the drop.
    with_context(|here| here.node_core.state().dropped.ended(1));
    drop(message);
}
