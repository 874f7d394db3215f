//! Trace points: record events of traced processes.
//!
//! Called in a process's turn, cold, and only if the turn is traced. The process's private state holds its trace.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use purlin_raw::{Slot, Traveller, current_local, current_slot, quietly};

use super::{Book, EventKind};
use crate::home::{Erlang, Last, Shared, here};
use crate::observe::beginning;
use crate::signal::{Peer, Signal, tell};
use crate::{ExitReason, ProcessId};

/// Returns the process of this turn and its trace. Detaches a trace that has stopped.
fn followed() -> Option<(ProcessId, Arc<Book>)> {
    let book = current_local::<Erlang, _>(|local| local.followed())??;
    if !book.goes_on() {
        let before = current_local::<Erlang, _>(|local| local.unfollow(&book));
        quietly(|| drop((before, book)));
        return None;
    }
    let creation = here(|here| here.realm.home().creation)?;
    Some((ProcessId::new(creation, current_slot()?), book))
}

/// Records that the process is about to send a message or a signal.
pub(crate) fn sent(
    to: Slot,
    shared: &Shared,
    message_type: &'static str,
    what: &Traveller<'_, Erlang>,
) {
    let Some((me, book)) = followed() else { return };
    let to = Some(ProcessId::new(shared.creation, to));
    let text = |reason: &ExitReason| Cow::from(beginning(reason));
    let (kind, what) = match what {
        Traveller::Message(message) => {
            (EventKind::Send, book.options.told(message_type, Some(*message)))
        }
        Traveller::Signal(Signal::Aliased { message, .. }) => {
            (EventKind::Send, book.options.told(message_type, Some(&**message)))
        }
        Traveller::Signal(Signal::Link(_)) => (EventKind::Link, Cow::default()),
        Traveller::Signal(Signal::Unlink { .. }) => (EventKind::Unlink, Cow::default()),
        Traveller::Signal(Signal::Monitor { .. }) => (EventKind::Monitor, Cow::default()),
        Traveller::Signal(Signal::Demonitor(_)) => (EventKind::Demonitor, Cow::default()),
        Traveller::Signal(Signal::Exit { reason, .. }) => (EventKind::SendExit, text(reason)),
        Traveller::Signal(_) => return,
    };
    book.write(me, kind, to, what);
}

/// Records that the process has received a message.
pub(crate) fn received(message_type: &'static str, message: Option<&dyn Any>) {
    let Some((me, book)) = followed() else { return };
    book.write(me, EventKind::Receive, None, book.options.told(message_type, message));
}

/// Records that the process handles a signal.
#[cold]
pub(crate) fn acts(signal: &Signal) {
    let Some((me, book)) = followed() else { return };
    let text = |reason: &ExitReason| Cow::from(beginning(reason));
    let (kind, other, what) = match signal {
        Signal::Exit { from, reason } => (EventKind::ReceiveExit, *from, text(reason)),
        Signal::LinkExit { from, reason } => (EventKind::ReceiveExit, Some(*from), text(reason)),
        Signal::Down { reason, .. } => (EventKind::ReceiveDown, None, text(reason)),
        Signal::Link(peer) => (EventKind::Linked, Some(ProcessId::of(peer)), Cow::default()),
        Signal::Monitor { watcher, .. } => {
            (EventKind::Monitored, Some(ProcessId::of(watcher)), Cow::default())
        }
        _ => return,
    };
    book.write(me, kind, other, what);
}

/// Records that the process has spawned a child; traces the child too if the options say so.
#[cold]
pub(crate) fn spawned(child: &Peer, function: &'static str) {
    let Some((me, book)) = followed() else { return };
    let id = ProcessId::of(child);
    book.write(me, EventKind::Spawn, Some(id), function);
    if book.options.children && book.enter_child(id) {
        tell(child, Signal::Follow(book));
    }
}

/// Records that a traced process has ended.
pub(crate) fn ended(book: &Book, me: ProcessId, last: &Last) {
    book.write(me, EventKind::End, None, beginning(&last.reason()));
}
