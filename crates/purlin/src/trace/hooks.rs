//! Trace points: record events of traced processes.
//!
//! Called in a process's turn, cold, and only if the turn is traced. The process's private state holds its trace.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use crate::process::unwind::contain;
use purlin_raw::{Outgoing, Slot, current_local, current_slot};

use super::buffer::TraceBuffer;
use super::event::EventKind;
use crate::node::context::with_context;
use crate::node::erlang_types::ErlangTypes;
use crate::node::erlang_types::Peer;
use crate::observe::beginning;
use crate::process::exit_status::ExitStatus;
use crate::process::shared::Shared;
use crate::signals::signal::{Signal, send_signal};
use crate::{ExitReason, ProcessId};

/// Returns the process of this turn and its trace. Detaches a trace that has stopped.
fn followed() -> Option<(ProcessId, Arc<TraceBuffer>)> {
    let buffer = current_local::<ErlangTypes, _>(|local| local.followed())??;
    if !buffer.is_running() {
        let before = current_local::<ErlangTypes, _>(|local| local.unfollow(&buffer));
        contain(|| drop((before, buffer)));
        return None;
    }
    let creation = with_context(|here| here.node_core.state().creation)?;
    Some((ProcessId::new(creation, current_slot()?), buffer))
}

/// Records that the process is about to send a message or a signal.
pub(crate) fn sent(
    to: Slot,
    shared: &Shared,
    message_type: &'static str,
    what: &Outgoing<'_, ErlangTypes>,
) {
    let Some((me, buffer)) = followed() else { return };
    let to = Some(ProcessId::new(shared.creation, to));
    let text = |reason: &ExitReason| Cow::from(beginning(reason));
    let (kind, what) = match what {
        Outgoing::Message(message) => {
            (EventKind::Send, buffer.options.text_of(message_type, Some(*message)))
        }
        Outgoing::Signal(Signal::Message(message) | Signal::Aliased { message, .. }) => {
            (EventKind::Send, buffer.options.text_of(message_type, Some(&**message)))
        }
        Outgoing::Signal(Signal::Link(_)) => (EventKind::Link, Cow::default()),
        Outgoing::Signal(Signal::Unlink { .. }) => (EventKind::Unlink, Cow::default()),
        Outgoing::Signal(Signal::Monitor { .. }) => (EventKind::Monitor, Cow::default()),
        Outgoing::Signal(Signal::Demonitor(_)) => (EventKind::Demonitor, Cow::default()),
        Outgoing::Signal(Signal::Exit { reason, .. } | Signal::AliasExit { reason, .. }) => {
            (EventKind::SendExit, text(reason))
        }
        Outgoing::Signal(_) => return,
    };
    buffer.write(me, kind, to, what);
}

/// Records that the process has received a message.
pub(crate) fn received(message_type: &'static str, message: Option<&dyn Any>) {
    let Some((me, buffer)) = followed() else { return };
    buffer.write(me, EventKind::Receive, None, buffer.options.text_of(message_type, message));
}

/// Records that the process handles a signal.
#[cold]
pub(crate) fn handled_signal(signal: &Signal) {
    let Some((me, buffer)) = followed() else { return };
    let text = |reason: &ExitReason| Cow::from(beginning(reason));
    let (kind, other, what) = match signal {
        Signal::Exit { from, reason } => (EventKind::ReceiveExit, *from, text(reason)),
        Signal::LinkExit { from, reason } => (EventKind::ReceiveExit, Some(*from), text(reason)),
        Signal::LinkLost { from, .. } => {
            let from = Some(ProcessId::of(from));
            (EventKind::ReceiveExit, from, text(&ExitReason::NoConnection))
        }
        Signal::Down { reason, .. } => (EventKind::ReceiveDown, None, text(reason)),
        Signal::Link(peer) => (EventKind::Linked, Some(ProcessId::of(peer)), Cow::default()),
        Signal::Monitor { watcher, .. } => {
            (EventKind::Monitored, Some(ProcessId::of(watcher)), Cow::default())
        }
        _ => return,
    };
    buffer.write(me, kind, other, what);
}

/// Records that the process has spawned a child; traces the child too if the options say so.
#[cold]
pub(crate) fn spawned(child: &Peer, function: &'static str) {
    let Some((me, buffer)) = followed() else { return };
    let id = ProcessId::of(child);
    buffer.write(me, EventKind::Spawn, Some(id), function);
    if buffer.options.children
        && let Some(attachment) = buffer.enter_child(id)
    {
        send_signal(child, Signal::Follow(attachment));
    }
}

/// Records that a traced process has ended.
pub(crate) fn ended(buffer: &TraceBuffer, me: ProcessId, status: &ExitStatus) {
    buffer.write(me, EventKind::End, None, beginning(&status.reason()));
}
