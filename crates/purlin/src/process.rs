//! The process's handle on itself.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use purlin_raw::{NotHere, Owner, quietly};

use crate::body::{fetch, next};
use crate::home::Erlang;
use crate::receive::Scan;
use crate::{Pid, ProcessId, act};

/// What a process's function is given: its own mailbox and identity.
///
/// The handle belongs in the process's own function. It may be moved elsewhere, say into a
/// `tokio::spawn`, and its [`pid`](Process::pid) still works there, but receiving does not.
///
/// # Panics
///
/// What reads or changes what the process keeps ([`receive`](Process::receive),
/// [`receive!`](crate::receive!), [`link`](Process::link), [`monitor`](Process::monitor) and so on)
/// panics when it is used outside of the process's own turns: *“used
/// outside of process <0.12.0>: only the function its handle was given to can receive, link or
/// monitor”*. Nothing is lost by it.
pub struct Process<M> {
    owner: Owner<Erlang, M>,
}

impl<M: Send + 'static> Process<M> {
    pub(crate) fn new(owner: Owner<Erlang, M>) -> Self {
        Self { owner }
    }

    pub(crate) fn owner(&self) -> &Owner<Erlang, M> {
        &self.owner
    }

    /// An address of this process, to be given to others.
    pub fn pid(&self) -> Pid<M> {
        Pid::new(self.owner.address())
    }

    /// The identity of this process.
    pub fn id(&self) -> ProcessId {
        act::id(&self.owner)
    }

    /// Waits for the oldest message and takes it (R1, R2).
    ///
    /// A process that always has another message waiting lets others run after
    /// 512 of them (F1).
    ///
    /// *Cancellation*: dropping the future before it is ready loses no message (R7).
    ///
    /// COST: no allocation; no atomic read-modify-write while messages that were fetched earlier
    /// are left.
    pub fn receive(&mut self) -> Receive<'_, M> {
        Receive { process: self }
    }

    /// Takes the oldest message if there is one, without waiting (`after 0`).
    pub fn try_receive(&mut self) -> Option<M> {
        if self.is_over() { None } else { self.pop() }
    }

    /// Whether the process is to end at its next await: then it receives nothing any more.
    pub(crate) fn is_over(&self) -> bool {
        self.owner.has_local() && self.keep(|local| local.exiting())
    }

    /// Takes every message that is waiting, oldest first (R6).
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
        // What comes while this goes on is not waited for.
        let mut waiting: Vec<M> = std::iter::from_fn(|| self.pop_fetched()).collect();
        if fetch(&self.owner).is_ok_and(|came| came > 0) {
            waiting.extend(std::iter::from_fn(|| self.pop_fetched()));
        }
        waiting
    }

    /// Messages that wait, fetched or in transit; approximate past 32767 in transit.
    pub fn mailbox_len(&self) -> usize {
        self.owner.address().mailbox()
    }

    /// Says how many bytes this process has allocated, for those who look at it (P5): nobody else
    /// can know. See [`ProcessDetails::reported_memory`](crate::ProcessDetails::reported_memory).
    pub fn report_memory(&self, bytes: usize) {
        self.keep(|local| local.rare().rarer().memory = bytes);
    }

    /// Begins a selective receive: what [`receive!`](crate::receive!) expands to.
    #[doc(hidden)]
    pub fn scan(&mut self, after: Option<std::time::Duration>) -> Scan<'_, M> {
        Scan::new(self, after)
    }

    #[inline]
    fn pop(&mut self) -> Option<M> {
        next(&self.owner).unwrap_or_else(|_| self.not_here())
    }

    #[inline]
    fn pop_fetched(&mut self) -> Option<M> {
        self.owner.pop().unwrap_or_else(|_| self.not_here())
    }

    /// Asks to be woken through `cx` when a message comes.
    #[inline]
    pub(crate) fn wait(&self, cx: &Context<'_>) {
        if self.owner.listen().is_err() {
            self.not_here();
        }
        if !self.owner.is_own(cx.waker()) {
            self.wait_through(cx.waker());
        }
    }

    /// Has a waker woken that is not the process's own, as that of a combinator.
    #[cold]
    fn wait_through(&self, waker: &Waker) {
        let waker = waker.clone();
        match self.owner.local(|local| local.rare().mail.replace(waker)) {
            Ok(before) => quietly(|| drop(before)),
            Err(NotHere) => self.not_here(),
        }
    }

    /// For what has done something before it looks at what the process keeps.
    ///
    /// # Panics
    /// Outside of this process's own turn.
    #[inline]
    #[track_caller]
    pub(crate) fn demand_here(&self) {
        if !self.owner.is_here() {
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

/// The future of [`Process::receive`].
#[must_use = "a receive does nothing unless it is awaited"]
#[derive(Debug)]
pub struct Receive<'a, M: Send + 'static> {
    process: &'a mut Process<M>,
}

impl<M: Send + 'static> Future for Receive<'_, M> {
    type Output = M;

    // WHY always: a call of its own saved six registers, twice in a turn.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<M> {
        if !purlin_raw::spend() {
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
