//! The address of a process.

use std::fmt;
use std::future::poll_fn;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::task::{Context, Poll};

use purlin_raw::{Address, Manner, Refused, Unsent, oneshot};

use crate::home::{Erlang, Last, here};
use crate::signal::{Peer, Signal, Watch};
use crate::{ExitReason, LookupError, ProcessDetails, ProcessId, ProcessInfo, room};

/// The address of a process that receives messages of type `M`.
///
/// Whoever has one can send, from any thread, inside or outside of a node. It outlives the process:
/// what is sent then is dropped, as in Erlang (M4).
///
/// COST: one word; cloning and dropping are one atomic operation each.
pub struct Pid<M> {
    address: Address<Erlang, M>,
}

/// Why a message was not sent; it is handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<M> {
    /// The process has ended: Erlang's `noproc`.
    NoProcess(M),
    /// The mailbox of the process is full (B1).
    Full(M),
}

impl<M> SendError<M> {
    /// The message.
    pub fn into_inner(self) -> M {
        match self {
            Self::NoProcess(message) | Self::Full(message) => message,
        }
    }
}

impl<M> From<Refused<M>> for SendError<M> {
    fn from(refused: Refused<M>) -> Self {
        match refused {
            Refused::Ended(message) => Self::NoProcess(message),
            Refused::Full(message) => Self::Full(message),
        }
    }
}

impl<M: Send + 'static> Pid<M> {
    pub(crate) fn new(address: Address<Erlang, M>) -> Self {
        Self { address }
    }

    /// The address of a process of which the type is not known.
    pub(crate) fn typed(process: Peer) -> Result<Self, LookupError> {
        process.typed().map(Self::new).map_err(|process| LookupError::OtherType {
            id: ProcessId::of(&process),
            wanted: std::any::type_name::<M>(),
            receives: process.look().kind.message(),
        })
    }

    pub(crate) fn address(&self) -> &Address<Erlang, M> {
        &self.address
    }

    /// Sends a message (M1): it returns at once and never blocks.
    ///
    /// Messages from one process arrive in the order sent (M2). A message to a process that has
    /// ended is dropped silently and counted, if a worker of a node sent it (M4, see
    /// [`crate::Node::dropped_messages`]); use [`Pid::try_send`] to have it back. If the mailbox has
    /// a bound and is full, its policy decides ([`Overflow`](crate::Overflow), B1).
    ///
    /// COST: one block of `8 + size_of::<M>()` bytes, as a rule one that this thread freed before,
    /// and one atomic read-modify-write; the message is moved (M5).
    #[inline]
    pub fn send(&self, message: M) {
        match self.address.send(message) {
            Ok(()) => {}
            Err(Unsent::Ended(message)) => nobody_receives(message),
            Err(Unsent::Bounded(message)) => room::send(&self.address, message),
        }
    }

    /// Sends a message, and hands it back if the process has already ended, or if its mailbox is
    /// full and its senders wait or are rejected ([`Overflow`](crate::Overflow)).
    ///
    /// `Ok` does not say that the message will be received: the process may end first, and a full
    /// mailbox may drop it.
    ///
    /// # Errors
    /// The message, if the process has ended or its mailbox is full.
    pub fn try_send(&self, message: M) -> Result<(), SendError<M>> {
        match self.address.send(message) {
            Ok(()) => Ok(()),
            Err(Unsent::Ended(message)) => Err(SendError::NoProcess(message)),
            Err(Unsent::Bounded(message)) => {
                self.address.send_within(message, Manner::Try)?;
                Ok(())
            }
        }
    }

    /// The identity of the process.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.address)
    }

    /// Whether the process lives: a glance that may be old at once.
    pub fn is_alive(&self) -> bool {
        !self.address.has_ended()
    }

    /// Why the process ended, if it has.
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.address.last().map(Last::reason)
    }

    /// Waits for the end of the process and says why it ended. By then what waited in its mailbox has
    /// been dropped.
    ///
    /// *Cancellation*: dropping the future changes nothing.
    pub async fn ended(&self) -> ExitReason {
        let mut watching: Option<Watching> = None;
        poll_fn(|cx| {
            if let Some(reason) = self.exit_reason() {
                return self.once_over(reason, cx);
            }
            match &watching {
                Some(Watching(watch)) => watch.set(Some(cx.waker().clone())),
                None => {
                    let watch = Arc::new(Watch::default());
                    watch.set(Some(cx.waker().clone()));
                    let told = self.address.signal(Signal::TellAtEnd(Arc::clone(&watch)));
                    watching = Some(Watching(watch));
                    if told.is_err() {
                        cx.waker().wake_by_ref();
                    }
                }
            }
            // It may have ended, and told the waker of before, while this one was put in its place.
            self.exit_reason().map_or(Poll::Pending, |reason| self.once_over(reason, cx))
        })
        .await
    }

    /// The reason, as soon as the worker that ran the process has cleared up, which it is doing.
    fn once_over(&self, reason: ExitReason, cx: &Context<'_>) -> Poll<ExitReason> {
        if self.address.is_over() {
            return Poll::Ready(reason);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Messages that wait, fetched or in transit; approximate past 32767 in transit.
    pub fn mailbox_len(&self) -> usize {
        self.address.mailbox()
    }

    /// What can be seen of the process from outside (P5).
    pub fn info(&self) -> ProcessInfo {
        ProcessInfo::here(&self.address)
    }

    /// What the process tells of itself (P5): its links, monitors, and whether it traps exits; `None`
    /// if it has ended. It is asked by a signal and answers when it next takes its turn, so one that
    /// does not await does not answer.
    ///
    /// *Cancellation*: dropping the future changes nothing.
    pub async fn details(&self) -> Option<ProcessDetails> {
        details(&self.address).await
    }
}

/// Asks a process what it keeps.
pub(crate) async fn details(process: &Peer) -> Option<ProcessDetails> {
    let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
    let (asker, mut answer) = oneshot(waker);
    // One that has ended drops the question, which is an answer.
    let _ = process.signal(Signal::Describe(asker));
    poll_fn(|cx| answer.poll(cx)).await
}

/// A future that waits for the end of a process, and gives up when it is dropped.
struct Watching(Arc<Watch>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// Counts a message that nobody will receive, and drops it.
#[cold]
pub(crate) fn nobody_receives<M>(message: M) {
    // WHY: an ended process does not keep its node; a drop is counted where the sender is.
    here(|here| here.realm.home().dropped.ended(1));
    drop(message);
}

impl<M> Clone for Pid<M> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone() }
    }
}

impl<M> PartialEq for Pid<M> {
    fn eq(&self, other: &Self) -> bool {
        self.address.is_same(&other.address)
    }
}

impl<M> Eq for Pid<M> {}

impl<M: Send + 'static> Hash for Pid<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl<M: Send + 'static> fmt::Display for Pid<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.id(), f)
    }
}

impl<M: Send + 'static> fmt::Debug for Pid<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid({})", self.id())
    }
}

impl<M> fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoProcess(_) => "NoProcess(..)",
            Self::Full(_) => "Full(..)",
        })
    }
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoProcess(_) => "noproc: sending to a process that has ended",
            Self::Full(_) => "sending to a process whose mailbox is full",
        })
    }
}

impl<M> std::error::Error for SendError<M> {}
