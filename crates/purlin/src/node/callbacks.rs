//! Callbacks of `purlin_raw`: the end of a process, traced sends and receives, signals that were
//! never handled.

use std::any::Any;

use crate::process::unwind::contain;
use purlin_raw::{Either, End, Outgoing, RuntimeTypes, Slot};

use crate::ProcessId;
use crate::node::erlang_types::ErlangTypes;
use crate::node::state::NodeState;
use crate::process::exit_status::ExitStatus;
use crate::process::shared::Shared;
use crate::signals::local_state::{InitialState, LocalState};
use crate::signals::signal::{Signal, answer_as_ended, send_signal};
use crate::trace::hooks;

impl RuntimeTypes for ErlangTypes {
    type Signal = Signal;
    type Local = LocalState;
    type Shared = Shared;
    type ExitStatus = ExitStatus;
    type NodeState = NodeState;

    #[inline]
    fn has_state(local: &LocalState) -> bool {
        local.is_set()
    }

    fn closed(node_state: &NodeState, end: &End<'_, Self>, local: &mut LocalState) {
        if end.dropped > 0 {
            node_state.dropped.ended(end.dropped as u64);
        }
        let me = ProcessId::new(end.shared.creation, end.slot);
        let status = end.exit_status;
        let mut rare = match local.take() {
            None => return,
            Some(Either::Left(InitialState::Linked(_, link))) => return link.ended(me, status),
            Some(Either::Left(InitialState::Watched(reference, watcher))) => {
                return send_signal(&watcher, Signal::Down { reference, reason: status.reason() });
            }
            Some(Either::Right(rare)) => rare,
        };
        // N1: the name is free before any signal of the end is sent.
        if rare.named {
            node_state.names.release(end.slot);
        }
        rare.watchers.drain(|reference, watcher| {
            send_signal(&watcher, Signal::Down { reference, reason: status.reason() });
        });
        rare.links.drain(|_, link| link.ended(me, status));
        rare.monitors.drain(|reference, monitoring| monitoring.over(reference));
        if let Some(rare) = &mut rare.rare {
            if let Some(buffer) = rare.followed.take() {
                hooks::ended(&buffer, me, status);
                // The trace buffer holds user code.
                contain(|| drop(buffer));
            }
            rare.at_end.iter().for_each(|watch| watch.wake());
            rare.late.drain(..).for_each(|signal| answer_as_ended(me, signal));
        }
        // The rest may hold user code: a waker.
        contain(|| drop(rare));
    }

    fn sent(to: Slot, shared: &Shared, message_type: &'static str, what: Outgoing<'_, Self>) {
        hooks::sent(to, shared, message_type, &what);
    }

    fn received(message_type: &'static str, message: Option<&dyn Any>) {
        hooks::received(message_type, message);
    }

    fn undelivered(node_state: &NodeState, local: &mut LocalState, signal: Signal) {
        match signal {
            Signal::Named => local.rare().named = true,
            Signal::Aliased { message, .. } => {
                node_state.dropped.alias();
                contain(|| drop(message));
            }
            asks @ (Signal::Link(_)
            | Signal::Unlink { .. }
            | Signal::Monitor { .. }
            | Signal::WatchEnd(_)) => local.rare().rare().late.push(asks),
            unread => contain(|| drop(unread)),
        }
    }
}
