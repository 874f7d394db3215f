//! Process cells, inboxes and the process table: the lowest layer of purlin and its only crate with
//! `unsafe` code.
//!
//! The crate knows nothing of Erlang. The layer above decides what a signal means, what an exit
//! reason is and which thread runs which process: it implements [`RuntimeTypes`] once, gives each
//! process a [`Body`], and the scheduler implements [`Host`].
//!
//! | module | role |
//! |---|---|
//! | `catch_panic` | panic containment for user code |
//! | `executions` | runner for the loom models |
//! | `inbox::bare` | inbox without a process, for experiments on many cores |
//! | `inbox::batch` | batch of signals taken from the inbox, oldest first |
//! | `inbox::bound` | mailbox bound: counting, limit and overflow policy |
//! | `inbox::extension` | part of the inbox that an idle process does not need |
//! | `inbox::header` | header of a queued signal, and the envelope that holds its payload |
//! | `inbox::markers` | receive markers: positions in the save queue at which a scan may begin |
//! | `inbox::save_queue` | received messages, and the cursor of a selective receive |
//! | `inbox::shards` | inbox shards, used while many senders contend for the state word |
//! | `inbox::state` | inbox state word: process state and stack of arrived signals in one atomic |
//! | `inbox::wait_list` | wait list of senders waiting for capacity |
//! | `memory::erased` | type-erased function pointer |
//! | `memory::pool` | thread-local free lists for cells, envelopes and replies |
//! | `memory::pooled` | owned value of one of two types in a pooled block |
//! | `memory::trim` | returns free heap pages to the operating system |
//! | `node_core` | process table together with its host and node state |
//! | `process::address` | operations open to every thread: send, signal, inspect |
//! | `process::body` | code monomorphised per process type, and its vtable |
//! | `process::cell` | memory layout of a process: one allocation |
//! | `process::code` | code of a process: its start, then its future |
//! | `process::context` | per-thread context: the current process and its remaining budget |
//! | `process::deferred_rc` | deferred reference counting for cells |
//! | `process::end` | end of a process, after its last turn |
//! | `process::mailbox` | mailbox as the turn uses it: fetch, receive, scan |
//! | `process::node_base` | base of a node core: scheduling, slots, new cells |
//! | `process::owner` | handle of a process on itself, and its access to a turn |
//! | `process::sealed_message` | sealed message, to be sent later |
//! | `process::snapshot` | snapshot of a process's statistics |
//! | `process::trace` | trace points of a receive |
//! | `process::turn` | one turn of a process, from the run queue to sleep or to its end |
//! | `process::waiter` | entry of a sender in the wait list of a mailbox |
//! | `process::waker` | `std::task::Waker` of a process |
//! | `reply` | one-shot reply channel of a call |
//! | `sync` | atomics, locks and thread-locals of `std`, loom, shuttle or the simulator of many cores |
//! | `table` | process table with generational indices |
//! | `table::entry` | entry of the table: pointer, look-ups in progress, generation |
//! | `table::slot_cache` | vacant slots cached by one thread |
//! | `table::walk` | visits the items of a table one after the other |
//! | `thread::fence` | asymmetric fence (`membarrier`) |
//! | `thread::os` | kernel thread ids and scheduling attributes |
//! | `thread::revocable` | value that one thread uses cheaply and another thread can revoke |

// WHY: the loom models reach private items through `model`, which exists only for them.
#![cfg_attr(not(loom), allow(unreachable_pub))]
#![deny(unsafe_op_in_unsafe_fn)]
#![deny(clippy::undocumented_unsafe_blocks)]
#![deny(clippy::missing_safety_doc)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("purlin keeps a counter in the upper bits of a pointer and needs a 64-bit target");

use std::any::Any;
use std::fmt;

mod catch_panic;
#[cfg(loom)]
mod executions;
mod inbox;
mod memory;
mod node_core;
mod process;
mod reply;
mod sync;
mod table;
mod thread;

pub use catch_panic::catch_panic;
pub use inbox::bound::{Bound, DropCounters, MaybeBound, Overflow, SendMode, SendOutcome};
pub use memory::erased::Erased;
pub use memory::pooled::{Either, Pooled};
pub use memory::trim::trim;
pub use node_core::{MAX_PROCESSES, NodeCore, SpawnError};
pub use process::address::{Address, Ref, set_waits_for};
pub use process::body::{Body, cell_bytes};
pub use process::cell::{Host, Runnable};
pub use process::code::{Code, Vacancy};
pub use process::context::{
    BUDGET, clear_waits_for, current_local, current_slot, exhaust_budget, in_process, is_traced,
    sends_done, spend_budget, spend_budget_on_receive, trace, with_sender, work_done,
};
pub use process::deferred_rc::flush;
pub use process::mailbox::Mailbox;
pub use process::owner::{InTurn, Owner};
pub use process::sealed_message::SealedMessage;
pub use process::send::SendError;
pub use process::signal_outcome::{ConvertedMessage, SignalOutcome};
pub use process::snapshot::{ProcessState, ProcessType, Snapshot};
pub use process::turn::TurnOutcome;
pub use process::unopened::Unopened;
pub use process::waiter::Waiter;
pub use process::waker::{current_waker, is_current_waker, poll_again, reschedule};
pub use reply::{ReplyReceiver, ReplySender, oneshot};
pub use table::Slot;
pub use thread::os::ThreadId;
pub use thread::revocable::{Revocable, Revoker, revocable};
pub use thread::yield_timer::YieldTimer;

/// Type family and callbacks that the layer above defines for all of its processes.
pub trait RuntimeTypes: Sized + Send + Sync + 'static {
    /// Signals other than messages (exits, links, monitors), delivered in order with messages.
    type Signal: Send + 'static;
    /// Private state of a process. Accessed only in the process's own turn.
    type Local: Default + Send + 'static;
    /// State of a process that any thread may read, also after the process has ended.
    type Shared: Send + Sync + 'static;
    /// Exit status. Any thread may read it once the process has ended.
    type ExitStatus: Send + Sync + 'static;
    /// Node state: shared by all processes of a node core.
    type NodeState: Send + Sync + 'static;

    /// Returns whether the private state holds anything.
    fn has_state(local: &Self::Local) -> bool;

    /// Returns whether a turn must consult the private state. The default is whenever it holds
    /// anything.
    fn affects_turn(local: &Self::Local) -> bool {
        Self::has_state(local)
    }

    /// Called for each message that was still queued when the inbox closed, oldest first, unless it
    /// was made from a signal. Returns a message that the caller must drop. Must not unwind.
    fn unread<M: Send + 'static>(_local: &mut Self::Local, message: M) -> Option<M> {
        Some(message)
    }

    /// Runs the destructor of a message that no process receives: a full mailbox drops it, or it was
    /// not sent. Called on any thread, also in the turn of a process. Must not unwind.
    fn contain(f: impl FnOnce()) {
        catch_panic(f);
    }

    /// Called after a process has ended: its inbox is closed, it has left the table, and
    /// `end.dropped` messages that were still queued have been dropped.
    ///
    /// Called only if the inbox was not empty or the process had private state. Runs on the worker
    /// that ran the last turn. Must not unwind.
    fn closed(node_state: &Self::NodeState, end: &End<'_, Self>, local: &mut Self::Local);

    /// Called when a traced process is about to send to the process in slot `_to`, whose message
    /// type is `_message_type`. Runs in the sender's turn.
    fn sent(
        _to: Slot,
        _shared: &Self::Shared,
        _message_type: &'static str,
        _what: Outgoing<'_, Self>,
    ) {
    }

    /// Called when a traced process has received a message of the given type. `_message` is `None`
    /// if the message is no longer accessible. Runs in the receiver's turn.
    fn received(_message_type: &'static str, _message: Option<&dyn Any>) {}

    /// Called for each signal that was still queued when the inbox closed, before `closed`. Must
    /// not unwind.
    fn undelivered(node_state: &Self::NodeState, local: &mut Self::Local, signal: Self::Signal);
}

/// Message or signal that is about to be sent, as shown to [`RuntimeTypes::sent`].
pub enum Outgoing<'a, W: RuntimeTypes> {
    /// A message.
    Message(&'a dyn Any),
    /// A signal that is not a message.
    Signal(&'a W::Signal),
}

impl<W: RuntimeTypes> fmt::Debug for Outgoing<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Message(_) => "Message(..)",
            Self::Signal(_) => "Signal(..)",
        })
    }
}

/// Details of the end of a process, as passed to [`RuntimeTypes::closed`].
#[derive(Debug)]
#[non_exhaustive]
pub struct End<'a, W: RuntimeTypes> {
    /// Slot the process had in the table.
    pub slot: Slot,
    /// State of the process that any thread may read.
    pub shared: &'a W::Shared,
    /// Exit status.
    pub exit_status: &'a W::ExitStatus,
    /// Number of queued messages that were dropped.
    pub dropped: usize,
}

/// Inbox without a process, for the experiments of `purlin-many-cores`.
#[cfg(any(purlin_cores, purlin_measured))]
#[doc(hidden)]
pub mod bare {
    pub use crate::inbox::bare::{Inbox, InboxReceiver, inbox};
}

/// Internals that the loom models exercise directly.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    pub use crate::executions::{model, model_within};
    pub use crate::inbox::batch::Batch;
    pub use crate::inbox::header::{Class, Header};
    pub use crate::inbox::shards::{Contention, ShardState, Shards};
    pub use crate::inbox::state::{Drained, PushOutcome, SingleTake, SleepOutcome, State};
    pub use crate::table::entry::{Item, TABLE_REFERENCES};
    pub use crate::table::slot_cache::SlotCache;
    pub use crate::table::{Reserved, Table};
    pub use crate::thread::fence::kernel::has_barrier;
}
