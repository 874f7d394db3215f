//! Where processes that are followed come by.
//!
//! Called in their turns, cold, and only there where a turn is traced. What a process keeps says by which trace.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use purlin_raw::{Slot, Traveller, current_local, current_slot, quietly};

use super::{Book, EventKind};
use crate::home::{Erlang, Last, Shared, here};
use crate::observe::beginning;
use crate::signal::{Peer, Signal, tell};
use crate::{ExitReason, ProcessId};

/// The process whose turn this is, and the trace that follows it; one that has stopped is left.
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

/// It is about to send something.
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

/// It has received a message.
pub(crate) fn received(message_type: &'static str, message: Option<&dyn Any>) {
    let Some((me, book)) = followed() else { return };
    book.write(me, EventKind::Receive, None, book.options.told(message_type, message));
}

/// It acts on a signal.
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

/// It has spawned that one.
#[cold]
pub(crate) fn spawned(child: &Peer, function: &'static str) {
    let Some((me, book)) = followed() else { return };
    let id = ProcessId::of(child);
    book.write(me, EventKind::Spawn, Some(id), function);
    if book.options.children && book.enter_child(id) {
        tell(child, Signal::Follow(book));
    }
}

/// One that is followed has ended.
pub(crate) fn ended(book: &Book, me: ProcessId, last: &Last) {
    book.write(me, EventKind::End, None, beginning(&last.reason()));
}
