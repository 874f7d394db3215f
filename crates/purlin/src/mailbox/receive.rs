//! Receiving the oldest message.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use purlin_raw::{InTurn, Unopened};

use crate::Process;
use crate::mailbox::deadline::Deadline;
use crate::node::erlang_types::ErlangTypes;
use crate::process::unwind::contain;
use crate::signals::handle_signal::handle_signal;

impl<M: Send + 'static> Process<M> {
    /// Waits for the oldest message and takes it (R1, R2); a priority message before all others (M6).
    ///
    /// A process that always has another message waiting yields after 512 of them (F1).
    ///
    /// *Cancellation*: dropping the future before it is ready loses no message (R7).
    ///
    /// COST: no allocation; while the save queue holds messages, one atomic read-modify-write per 512.
    pub fn receive(&mut self) -> Receive<'_, M> {
        Receive { process: self }
    }

    /// Takes the oldest message without waiting (`after 0`). Returns `None` if the mailbox is empty.
    pub fn try_receive(&mut self) -> Option<M> {
        self.try_receive_unopened().map(Unopened::open)
    }

    /// Like [`Process::try_receive`], and leaves the message in its envelope.
    pub(crate) fn try_receive_unopened(&mut self) -> Option<Unopened<M>> {
        if self.is_over() { None } else { self.in_turn(receive) }
    }

    /// Polls for the oldest message, and leaves it in its envelope.
    // WHY: `inline(always)`, because a function call saved six registers, twice per turn.
    #[inline(always)]
    pub(crate) fn poll_unopened(&mut self, cx: &mut Context<'_>) -> Poll<Unopened<M>> {
        if !purlin_raw::spend_budget_on_receive() {
            self.fetch_and_yield(cx);
            return Poll::Pending;
        }
        // WHY not one access for both: the receive then saved one register more.
        match self.in_turn(|me| receive(me)) {
            Some(message) => Poll::Ready(message),
            None => {
                self.wait(cx);
                Poll::Pending
            }
        }
    }

    /// Returns whether the process ends at its next await. If so, it receives nothing more.
    pub(crate) fn is_over(&self) -> bool {
        self.owner().local_affects_turn() && self.with_local(|local| local.exiting())
    }

    /// Takes all waiting messages, oldest first, priority messages before all others (R6, M6).
    ///
    /// ```
    /// # use purlin::{Process, spawn};
    /// # #[purlin::main] async fn main() {
    /// # let pid =
    /// spawn(async |mut me: Process<&str>| {
    ///     me.pid().send("one");
    ///     me.pid().send("two");
    ///     assert_eq!(me.flush(), ["one", "two"]);
    ///     assert_eq!(me.try_receive(), None);
    /// });
    /// # assert_eq!(pid.ended().await, purlin::ExitReason::Normal);
    /// # }
    /// ```
    pub fn flush(&mut self) -> Vec<M> {
        if self.is_over() {
            return Vec::new();
        }
        // One fetch: messages that arrive during the flush are not waited for. M6: it comes first,
        // because it may bring priority messages.
        self.in_turn(|me| me.mailbox().fetch(false, move |signal| handle_signal(me, signal)));
        if self.is_over() {
            return Vec::new();
        }
        self.in_turn(|me| std::iter::from_fn(|| me.mailbox().receive_fetched()).collect())
    }

    /// Polls `take` for a message. Returns `None` when the time is up.
    pub(crate) fn poll_within<T>(
        &mut self,
        take: impl FnOnce(&mut Self) -> Option<T>,
        deadline: Option<&mut Deadline>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<T>> {
        // WHY before the deadline: without budget the mailbox is not examined in this poll, so the
        // timeout must not fire.
        if !purlin_raw::spend_budget_on_receive() {
            self.fetch_and_yield(cx);
            return Poll::Pending;
        }
        if let Some(taken) = take(self) {
            return Poll::Ready(Some(taken));
        }
        // L7: a process that is about to end does so here; a timeout does not delay that.
        if self.is_over() {
            return Poll::Pending;
        }
        // R3: `after 0` is ready at the first poll, so the receive scans once and never waits.
        if deadline.is_some_and(|deadline| deadline.poll(cx).is_ready()) {
            return Poll::Ready(None);
        }
        self.wait(cx);
        Poll::Pending
    }

    /// Fetches, and requests another turn, because the budget does not allow a receive.
    ///
    /// WHY the fetch: what arrived in this turn is still in the cache. A fetch when the save queue is
    /// empty would take all that arrived while the process received the rest of it, and may stall the
    /// worker for milliseconds.
    #[cold]
    #[inline(never)]
    fn fetch_and_yield(&self, cx: &Context<'_>) {
        self.in_turn(|me| me.mailbox().fetch(false, move |signal| handle_signal(me, signal)));
        purlin_raw::poll_again(cx.waker());
    }

    /// Registers the waker of `cx`, to be woken by a message.
    fn wait(&self, cx: &Context<'_>) {
        self.in_turn(|me| me.mailbox().listen());
        if !self.owner().is_own_waker(cx.waker()) {
            self.wait_through(cx.waker());
        }
    }

    /// Registers a waker that is not the process's, such as that of a combinator.
    #[cold]
    fn wait_through(&self, waker: &Waker) {
        let waker = waker.clone();
        let before = self.with_local(|local| local.extended().mail.replace(waker));
        contain(|| drop(before));
    }

    /// Returns the number of waiting messages, in the save queue and the inbox, including signals in
    /// the inbox that the process has not handled yet. May be stale.
    pub fn mailbox_len(&self) -> usize {
        self.owner().mailbox_len()
    }
}

/// Takes the oldest message and handles the signals before it.
#[inline(always)]
fn receive<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> Option<Unopened<M>> {
    me.mailbox().receive_unopened(move |signal| handle_signal(me, signal))
}

/// Future returned by [`Process::receive`].
#[must_use = "a receive does nothing unless it is awaited"]
#[derive(Debug)]
pub struct Receive<'a, M: Send + 'static> {
    process: &'a mut Process<M>,
}

impl<M: Send + 'static> Future for Receive<'_, M> {
    type Output = M;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<M> {
        self.get_mut().process.poll_unopened(cx).map(Unopened::open)
    }
}
