//! Handle of a process on itself.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::process::unwind::contain;
use purlin_raw::{NotInTurn, Owner};

use crate::node::context::{NodeContext, with_context};
use crate::node::erlang_types::{ErlangTypes, Peer};
use crate::signals::handle_signal::{fetch, next};
use crate::signals::local_state::LocalState;
use crate::signals::reference::Reference;
use crate::signals::signal::{Signal, send_signal};
use crate::{Pid, ProcessId};

/// Handle of a process on itself, passed to its function: its mailbox and its identity.
///
/// The handle belongs in the process's own function. It may be moved elsewhere, for example into a
/// `tokio::spawn`. Its [`pid`](Process::pid) still works there, but receiving does not.
///
/// # Panics
///
/// Methods that read or change the private state of the process ([`receive`](Process::receive),
/// [`receive!`](crate::receive!), [`link`](Process::link), [`monitor`](Process::monitor) and so on)
/// panic outside the process's own turns: *“used outside of process <0.12.0>: only the function its
/// handle was given to can receive, link or monitor”*. Such a panic loses no message.
pub struct Process<M> {
    owner: Owner<ErlangTypes, M>,
}

impl<M: Send + 'static> Process<M> {
    pub(crate) fn new(owner: Owner<ErlangTypes, M>) -> Self {
        Self { owner }
    }

    pub(crate) fn owner(&self) -> &Owner<ErlangTypes, M> {
        &self.owner
    }

    /// Returns an address of this process, for other processes to send to.
    pub fn pid(&self) -> Pid<M> {
        Pid::new(self.owner.address())
    }

    /// Returns the id of this process.
    pub fn id(&self) -> ProcessId {
        ProcessId::of_owner(&self.owner)
    }

    /// Waits for the oldest message and takes it (R1, R2).
    ///
    /// A process that always has another message waiting yields after 512 of them (F1).
    ///
    /// *Cancellation*: dropping the future before it is ready loses no message (R7).
    ///
    /// COST: no allocation; no atomic read-modify-write while the save queue holds messages.
    pub fn receive(&mut self) -> Receive<'_, M> {
        Receive { process: self }
    }

    /// Takes the oldest message without waiting (`after 0`). Returns `None` if the mailbox is empty.
    pub fn try_receive(&mut self) -> Option<M> {
        if self.is_over() { None } else { self.pop() }
    }

    /// Returns whether the process ends at its next await. If so, it receives nothing more.
    pub(crate) fn is_over(&self) -> bool {
        self.owner.has_local() && self.with_local(|local| local.exiting())
    }

    /// Takes all waiting messages, oldest first (R6).
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
        // Messages that arrive during the flush are not waited for.
        let mut waiting: Vec<M> = std::iter::from_fn(|| self.pop_fetched()).collect();
        if fetch(&self.owner).is_ok_and(|came| came > 0) {
            waiting.extend(std::iter::from_fn(|| self.pop_fetched()));
        }
        waiting
    }

    /// Returns the number of waiting messages, in the save queue and the inbox; approximate above
    /// 32767 in the inbox.
    pub fn mailbox_len(&self) -> usize {
        self.owner.address().mailbox_len()
    }

    /// Reports the number of bytes that this process has allocated, which the runtime cannot know
    /// (P5). See [`ProcessDetails::reported_memory`](crate::ProcessDetails::reported_memory).
    pub fn report_memory(&self, bytes: usize) {
        self.with_local(|local| local.rare().rare().memory = bytes);
    }

    #[inline]
    fn pop(&mut self) -> Option<M> {
        next(&self.owner).unwrap_or_else(|_| self.not_here())
    }

    #[inline]
    fn pop_fetched(&mut self) -> Option<M> {
        self.owner.pop().unwrap_or_else(|_| self.not_here())
    }

    /// Registers the waker of `cx`, to be woken by a message.
    #[inline]
    pub(crate) fn wait(&self, cx: &Context<'_>) {
        if self.owner.listen().is_err() {
            self.not_here();
        }
        if !self.owner.is_own_waker(cx.waker()) {
            self.wait_through(cx.waker());
        }
    }

    /// Registers a waker that is not the process's, such as that of a combinator.
    #[cold]
    fn wait_through(&self, waker: &Waker) {
        let waker = waker.clone();
        match self.owner.local(|local| local.rare().mail.replace(waker)) {
            Ok(before) => contain(|| drop(before)),
            Err(NotInTurn) => self.not_here(),
        }
    }

    /// Runs `f` on the private state of this process.
    #[track_caller]
    pub(crate) fn with_local<R>(&self, f: impl FnOnce(&mut LocalState) -> R) -> R {
        self.owner.local(f).unwrap_or_else(|_| self.not_here())
    }

    /// Returns an untyped handle on this process, for another process to store.
    pub(crate) fn peer(&self) -> Peer {
        self.owner.address().untyped()
    }

    /// Sends a signal from this process to itself.
    pub(crate) fn signal_self(&self, signal: Signal) {
        send_signal(&self.peer(), signal);
    }

    #[track_caller]
    pub(crate) fn reference(&self) -> Reference {
        with_context(NodeContext::reference).unwrap_or_else(|| self.not_here())
    }

    /// Checks the turn, for methods with effects before their first access to private state.
    ///
    /// # Panics
    /// Panics outside this process's own turns.
    #[inline]
    #[track_caller]
    pub(crate) fn assert_in_turn(&self) {
        if !self.owner.is_in_turn() {
            self.not_here();
        }
    }

    #[cold]
    #[track_caller]
    pub(crate) fn not_here(&self) -> ! {
        panic!(
            "used outside of process {}: only the function its handle was given to can receive, \
             link or monitor",
            self.id()
        )
    }
}

impl<M: Send + 'static> fmt::Debug for Process<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Process").field(&self.id()).finish()
    }
}

/// Future returned by [`Process::receive`].
#[must_use = "a receive does nothing unless it is awaited"]
#[derive(Debug)]
pub struct Receive<'a, M: Send + 'static> {
    process: &'a mut Process<M>,
}

impl<M: Send + 'static> Future for Receive<'_, M> {
    type Output = M;

    // WHY: `inline(always)`, because a function call saved six registers, twice per turn.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<M> {
        if !purlin_raw::spend_budget() {
            purlin_raw::poll_again(cx.waker());
            return Poll::Pending;
        }
        match self.process.pop() {
            Some(message) => Poll::Ready(message),
            None => {
                self.process.wait(cx);
                Poll::Pending
            }
        }
    }
}
