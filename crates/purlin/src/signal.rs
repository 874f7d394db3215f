//! What travels beside messages, in order with them (M2), and what a process that has ended answers.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use purlin_raw::{Ref, ReplyTo, quietly};

use crate::home::Erlang;
use crate::reference::Reference;
use crate::trace::Book;
use crate::{ExitReason, ProcessDetails, ProcessId, pg};

/// Another process, of whatever type.
pub(crate) type Peer = Ref<Erlang>;

/// What travels beside messages.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Somebody wants the process to end (L4); `None`: no process did.
    Exit { from: Option<ProcessId>, reason: ExitReason },
    /// A linked process has ended (L2).
    LinkExit { from: ProcessId, reason: ExitReason },
    /// Be linked to me (L1).
    Link(Peer),
    /// Be no longer linked to me, and say that you have read this (L5).
    Unlink { from: Peer, id: u64 },
    /// The answer to that.
    UnlinkAck { from: ProcessId, id: u64 },
    /// Tell me when you have ended (D1).
    Monitor { reference: Reference, watcher: Peer },
    /// No longer.
    Demonitor(Reference),
    /// A monitored process has ended.
    Down { reference: Reference, reason: ExitReason },
    /// A message for an alias (L9), of the mailbox's type.
    Aliased { alias: Reference, message: Box<dyn Any + Send> },
    /// Somebody has joined or left a group that the process watches (N2).
    Group(Reference, Box<pg::Event>),
    /// The process has got a name (N1), which its end has to free.
    Named,
    /// Tell whoever watches when the process has ended.
    TellAtEnd(Arc<Watch>),
    /// Be followed by that trace.
    Follow(Arc<Book>),
    /// No longer, if you are by that one.
    Unfollow(Arc<Book>),
    /// Answer if the process still lives; dropped unanswered if it has ended.
    StillThere(ReplyTo<()>),
    /// Say whom the process is linked to, and so on; dropped unanswered if it has ended.
    Describe(ReplyTo<ProcessDetails>),
}

/// Sends a signal that asks for nothing; one that ended meanwhile needs none.
#[inline]
pub(crate) fn tell(to: &Peer, signal: Signal) {
    if let Err(unread) = to.signal(signal) {
        let_go(unread);
    }
}

#[cold]
fn let_go(unread: Signal) {
    quietly(|| drop(unread));
}

/// What a process that has ended, or is about to, answers.
pub(crate) fn answer_as_ended(me: ProcessId, signal: Signal) {
    match signal {
        // L6
        Signal::Link(peer) => {
            tell(&peer, Signal::LinkExit { from: me, reason: ExitReason::NoProcess });
        }
        Signal::Unlink { from, id } => tell(&from, Signal::UnlinkAck { from: me, id }),
        // D2
        Signal::Monitor { reference, watcher } => {
            tell(&watcher, Signal::Down { reference, reason: ExitReason::NoProcess });
        }
        Signal::TellAtEnd(watch) => watch.tell(),
        unanswered => let_go(unanswered),
    }
}

/// Wakes, whatever the waker does: it may be anybody's.
pub(crate) fn wake(waker: Waker) {
    quietly(|| waker.wake());
}

/// A place where a future waits for the end of a process.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Option<Waker>>);

impl Watch {
    /// Whom to wake; `None` when the future has given up.
    pub(crate) fn set(&self, waker: Option<Waker>) {
        let before = std::mem::replace(&mut *self.lock(), waker);
        quietly(|| drop(before));
    }

    pub(crate) fn tell(&self) {
        let waker = self.lock().take();
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        // WHY: nobody panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
