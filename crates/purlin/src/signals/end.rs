//! End of a process: what it sends, and how an ended process answers signals.

use purlin_raw::{Either, End};

use crate::node::erlang_types::ErlangTypes;
use crate::node::state::NodeState;
use crate::process::exit_status::ExitStatus;
use crate::process::unwind::contain;
use crate::signals::local_state::{InitialState, LocalState};
use crate::signals::monitor_link::Link;
use crate::signals::signal::{Signal, send_signal};
use crate::trace::hooks;
use crate::{ExitReason, ProcessId};

/// Frees the name of an ended process, sends its exit and down signals, and wakes the futures that
/// wait for its end.
pub(crate) fn closed(node_state: &NodeState, end: &End<'_, ErlangTypes>, local: &mut LocalState) {
    if end.dropped > 0 {
        node_state.dropped.ended(end.dropped as u64);
    }
    let me = ProcessId::new(end.shared.creation, end.slot);
    let status = end.exit_status;
    let mut extended = match local.take() {
        None | Some(Either::Left(InitialState::Waited(_))) => return,
        Some(Either::Left(InitialState::Linked(_, link))) => return link.ended(me, status),
        Some(Either::Left(InitialState::Watched(reference, watcher))) => {
            return send_signal(&watcher, Signal::Down { reference, reason: status.reason() });
        }
        Some(Either::Right(extended)) => extended,
    };
    // N1: the name is free before any signal of the end is sent.
    if extended.named {
        node_state.names.release(end.slot);
    }
    extended.watchers.drain(|reference, watcher| {
        send_signal(&watcher, Signal::Down { reference, reason: status.reason() });
    });
    extended.links.drain(|_, link| link.ended(me, status));
    extended.monitors.drain(|reference, monitoring| monitoring.over(reference));
    if let Some(cold) = &mut extended.cold {
        if let Some(attachment) = cold.followed.take() {
            // WHY before the event: a reader of the event finds the place free.
            let buffer = attachment.free();
            hooks::ended(&buffer, me, status);
            // The trace buffer holds user code.
            contain(|| drop(buffer));
        }
        cold.at_end.iter().for_each(|watch| watch.wake());
        cold.late.drain(..).for_each(|signal| answer_as_ended(me, signal));
    }
    // The rest may hold user code: a waker.
    contain(|| drop(extended));
}

/// Handles a signal that the process had not read when it ended.
pub(crate) fn undelivered(node_state: &NodeState, local: &mut LocalState, signal: Signal) {
    match signal {
        Signal::Named => local.extended().named = true,
        Signal::Message(message) => {
            node_state.dropped.ended(1);
            contain(|| drop(message));
        }
        Signal::Aliased { message, .. } => {
            node_state.dropped.alias();
            contain(|| drop(message));
        }
        asks @ (Signal::Link(_)
        | Signal::Unlink { .. }
        | Signal::LinkLost { .. }
        | Signal::Monitor { .. }
        | Signal::WatchEnd(_)) => local.extended().cold().late.push(asks),
        unread => contain(|| drop(unread)),
    }
}

impl Link {
    /// Sends the exit signal of the link, because the process that holds this end has ended.
    pub(crate) fn ended(self, me: ProcessId, status: &ExitStatus) {
        let is_up = self.is_up();
        if let Some(peer) = self.peer.filter(|_| is_up) {
            send_signal(&peer, Signal::LinkExit { from: me, reason: status.reason() });
        }
    }
}

/// Answers for a process that has ended or is about to end.
pub(crate) fn answer_as_ended(me: ProcessId, signal: Signal) {
    match signal {
        // L6
        Signal::Link(peer) => {
            send_signal(&peer, Signal::LinkExit { from: me, reason: ExitReason::NoProcess });
        }
        Signal::Unlink { from, id } | Signal::LinkLost { from, id } => {
            send_signal(&from, Signal::UnlinkAck { from: me, id });
        }
        // D2
        Signal::Monitor { reference, watcher } => {
            send_signal(&watcher, Signal::Down { reference, reason: ExitReason::NoProcess });
        }
        Signal::WatchEnd(watch) => watch.wake(),
        unanswered => contain(|| drop(unanswered)),
    }
}
