//! Callbacks of `purlin_raw`: the end of a process, traced sends and receives.

use std::any::Any;

use purlin_raw::{End, Outgoing, RuntimeTypes, Slot};

use crate::mailbox::unread::pass_unread;
use crate::node::erlang_types::ErlangTypes;
use crate::node::state::NodeState;
use crate::process::exit_status::ExitStatus;
use crate::process::shared::Shared;
use crate::process::unwind::contain;
use crate::signals::end::{closed, undelivered};
use crate::signals::local_state::LocalState;
use crate::signals::signal::Signal;
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

    #[inline]
    fn affects_turn(local: &LocalState) -> bool {
        local.affects_turn()
    }

    fn closed(node_state: &NodeState, end: &End<'_, Self>, local: &mut LocalState) {
        closed(node_state, end, local);
    }

    fn sent(to: Slot, shared: &Shared, message_type: &'static str, what: Outgoing<'_, Self>) {
        hooks::sent(to, shared, message_type, &what);
    }

    fn received(message_type: &'static str, message: Option<&dyn Any>) {
        hooks::received(message_type, message);
    }

    fn unread<M: Send + 'static>(local: &mut LocalState, message: M) -> Option<M> {
        pass_unread(local, message)
    }

    fn contain(f: impl FnOnce()) {
        contain(f);
    }

    fn undelivered(node_state: &NodeState, local: &mut LocalState, signal: Signal) {
        undelivered(node_state, local, signal);
    }
}
