//! Signals that are not messages: exits, links, monitors, and requests of this node to a process.
//!
//! A process receives the signals of one sender in order with its messages (M2). The numbers in
//! brackets are clauses of SEMANTICS.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::process::unwind::contain;
use purlin_raw::ReplySender;

use crate::node::erlang_types::Peer;
use crate::pg;
use crate::signals::reference::Reference;
use crate::trace::{Attachment, TraceBuffer};
use crate::{ExitReason, ProcessDetails, ProcessId};

/// A signal that is not a message.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Request to end (L4); `from` is `None` if no process sent it.
    Exit { from: Option<ProcessId>, reason: ExitReason },
    /// Request to end, sent to an alias (L4, L9), with priority or without (M6).
    AliasExit { alias: Reference, priority: bool, from: Option<ProcessId>, reason: ExitReason },
    /// A linked process has ended (L2).
    LinkExit { from: ProcessId, reason: ExitReason },
    /// Request to add a link (L1).
    Link(Peer),
    /// Request to remove a link, to be acknowledged (L5).
    Unlink { from: Peer, id: u64 },
    /// The connection to a linked process was lost: an unlink that is also an exit signal with `noconnection`.
    LinkLost { from: Peer, id: u64 },
    /// Acknowledgement of an unlink or a loss.
    UnlinkAck { from: ProcessId, id: u64 },
    /// Request for a down signal at the end (D1).
    Monitor { reference: Reference, watcher: Peer },
    /// Request to remove a monitor.
    Demonitor(Reference),
    /// A monitored process has ended.
    Down { reference: Reference, reason: ExitReason },
    /// Message that passes the bound of the mailbox (B2), of the mailbox's type.
    Message(Box<dyn Any + Send>),
    /// Message for an alias (L9), of the mailbox's type, sent with priority or without (M6).
    Aliased { alias: Reference, priority: bool, message: Box<dyn Any + Send> },
    /// A process has joined or left a group that the receiver monitors (N2).
    Group(Reference, Box<pg::Event>),
    /// The process has been registered under a name (N1), which its end must free.
    Named,
    /// Request to wake a future at the end of the process.
    WatchEnd(Arc<EndWatch>),
    /// Request to attach a trace.
    Follow(Attachment),
    /// Request to detach this trace.
    Unfollow(Arc<TraceBuffer>),
    /// Request for an answer if the process is alive; dropped unanswered if it has ended.
    StillThere(ReplySender<()>),
    /// Request for the details of the process; dropped unanswered if it has ended.
    Describe(ReplySender<ProcessDetails>),
}

/// Sends a signal. A signal to a process that has ended is dropped; what it asks for is not answered.
#[inline]
pub(crate) fn send_signal(to: &Peer, signal: Signal) {
    if let Err(unread) = to.signal(signal) {
        discard(unread);
    }
}

/// Drops a signal that was not delivered, and contains a panic of user code in it, such as an exit
/// reason. Dropping a [`ReplySender`] wakes the process that waits for its answer.
#[cold]
fn discard(unread: Signal) {
    contain(|| drop(unread));
}

/// Wakes a waker, which may be user code, and contains its panic.
pub(crate) fn wake(waker: Waker) {
    contain(|| waker.wake());
}

/// Registration of a future that waits for the end of a process. The future and the process share it:
/// the future sets its waker, and the end of the process takes and wakes it.
#[derive(Debug, Default)]
pub(crate) struct EndWatch(Mutex<Option<Waker>>);

impl EndWatch {
    /// Sets the waker; `None` once the future has been dropped.
    pub(crate) fn set(&self, waker: Option<Waker>) {
        let before = std::mem::replace(&mut *self.lock(), waker);
        contain(|| drop(before));
    }

    pub(crate) fn wake(&self) {
        let waker = self.lock().take();
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        // WHY: no code panics under the lock, so it is never poisoned.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
