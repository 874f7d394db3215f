//! Process cells, inboxes and the process table: the lowest layer of purlin and its only crate with
//! `unsafe` code.
//!
//! The crate knows nothing of Erlang. The layer above decides what a signal means, what an exit
//! reason is and which thread runs which process: it implements [`World`] once, gives each process
//! a [`Body`], and the scheduler implements [`Host`].
//!
//! | file | role |
//! |---|---|
//! | `link` | header of a queued signal, and the envelope that holds its payload |
//! | `head` | inbox state word: process state and stack of arrived signals in one atomic |
//! | `lanes` | inbox shards, used while many senders contend for the state word |
//! | `chain` | batch of signals taken from the inbox, oldest first |
//! | `edge` | mailbox bound: counting, limit and overflow policy |
//! | `line` | wait list of senders waiting for capacity |
//! | `fifo` | save queue: received messages, and the cursor of a selective receive |
//! | `cell` | memory layout of a process: one allocation |
//! | `credit` | deferred reference counting for cells |
//! | `body` | code monomorphised per process type, and its vtable |
//! | `run` | one turn of a process, from the run queue to sleep or to its end |
//! | `owner` | operations that only the process itself may perform |
//! | `address` | operations open to every thread: send, signal, inspect |
//! | `look` | snapshot of a process's statistics |
//! | `parcel` | sealed message, to be sent later |
//! | `current` | per-thread context: the current process and its remaining budget |
//! | `table` | process table with generational indices |
//! | `stock` | slot cache of a worker |
//! | `realm` | process table together with its host and node state |
//! | `answer` | one-shot reply channel of a call |
//! | `wake` | `std::task::Waker` of a process |
//! | `pool` | thread-local free lists for cells, envelopes and replies |
//! | `erased` | type-erased function pointer |
//! | `pooled` | owned value of one of two types in a pooled block |
//! | `quiet` | panic containment for user code |
//! | `fence` | asymmetric fence (`membarrier`) |
//! | `biased` | value that one thread uses cheaply and another thread can revoke |
//! | `heap` | returns free heap pages to the operating system |
//! | `threads` | kernel thread ids and scheduling attributes |
//! | `sync` | atomics, locks and thread-locals of `std`, loom or shuttle |

// WHY: the loom models reach private items through `model`, which exists only for them.
#![cfg_attr(not(loom), allow(unreachable_pub))]
#![deny(unsafe_op_in_unsafe_fn)]
#![deny(clippy::undocumented_unsafe_blocks)]
#![deny(clippy::missing_safety_doc)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("purlin keeps a counter in the upper bits of a pointer and needs a 64-bit target");

use std::any::Any;
use std::fmt;

mod address;
mod answer;
mod biased;
mod body;
mod cell;
mod chain;
mod credit;
mod current;
mod edge;
mod erased;
#[cfg(loom)]
mod executions;
mod fence;
mod fifo;
mod head;
mod heap;
mod lanes;
mod line;
mod link;
mod look;
mod owner;
mod parcel;
mod pool;
mod pooled;
mod quiet;
mod realm;
mod run;
mod stock;
mod sync;
mod table;
mod threads;
mod wake;

pub use address::{Address, Ref, Refused, Unsent};
pub use answer::{Answer, ReplyTo, oneshot};
pub use biased::{Holder, Taker, biased};
pub use body::Body;
pub use credit::settle;
pub use current::{
    BUDGET, current_local, current_slot, current_waker, exhaust, in_process, is_traced, poll_again,
    sends_done, spend, trace, waits_for, waits_for_nobody, work_done,
};
pub use edge::{Bounds, Edge, Manner, Overflow, Sent, Spilled};
pub use erased::Erased;
pub use heap::trim;
pub use line::Place;
pub use look::{Kind, Look, State};
pub use owner::{NotHere, Owner, Sealed, Turned, Vacant};
pub use parcel::Parcel;
pub use pooled::{Either, Pooled};
pub use quiet::quietly;
pub use realm::{Entered, Host, MAX_PROCESSES, Realm, SpawnError};
pub use run::{Ran, Runnable};
pub use table::Slot;
pub use threads::ThreadId;

/// Type family and callbacks that the layer above defines for all of its processes.
pub trait World: Sized + Send + Sync + 'static {
    /// Signals other than messages (exits, links, monitors), delivered in order with messages.
    type Signal: Send + 'static;
    /// Private state of a process. Accessed only in the process's own turn.
    type Local: Default + Send + 'static;
    /// State of a process that any thread may read, also after the process has ended.
    type Shared: Send + Sync + 'static;
    /// Exit status. Any thread may read it once the process has ended. Until then the field holds
    /// the default, which is not dropped.
    type Last: Default + Send + Sync + 'static;
    /// Node state: shared by all processes of a realm.
    type Home: Send + Sync + 'static;

    /// Returns whether the private state holds anything.
    fn keeps(local: &Self::Local) -> bool;

    /// Called after a process has ended: its inbox is closed, it has left the table, and
    /// `end.dropped` messages that were still queued have been dropped.
    ///
    /// Called only if the inbox was not empty or the process had private state. Runs on the worker
    /// that ran the last turn. Must not unwind.
    fn closed(home: &Self::Home, end: &End<'_, Self>, local: &mut Self::Local);

    /// Called when a traced process is about to send to the process in slot `_to`, whose message
    /// type is `_message_type`. Runs in the sender's turn.
    fn sent(
        _to: Slot,
        _shared: &Self::Shared,
        _message_type: &'static str,
        _what: Traveller<'_, Self>,
    ) {
    }

    /// Called when a traced process has received a message of the given type. `_message` is `None`
    /// if the message is no longer accessible. Runs in the receiver's turn.
    fn received(_message_type: &'static str, _message: Option<&dyn Any>) {}

    /// Called for each signal that was still queued when the inbox closed, before `closed`. Must
    /// not unwind.
    fn undelivered(home: &Self::Home, local: &mut Self::Local, signal: Self::Signal);
}

/// Message or signal that is about to be sent, as shown to [`World::sent`].
pub enum Traveller<'a, W: World> {
    /// A message.
    Message(&'a dyn Any),
    /// A signal that is not a message.
    Signal(&'a W::Signal),
}

impl<W: World> fmt::Debug for Traveller<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Message(_) => "Message(..)",
            Self::Signal(_) => "Signal(..)",
        })
    }
}

/// Details of the end of a process, as passed to [`World::closed`].
#[derive(Debug)]
#[non_exhaustive]
pub struct End<'a, W: World> {
    /// Slot the process had in the table.
    pub slot: Slot,
    /// State of the process that any thread may read.
    pub shared: &'a W::Shared,
    /// Exit status.
    pub last: &'a W::Last,
    /// Number of queued messages that were dropped.
    pub dropped: usize,
}

/// Internals that the loom models exercise directly.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    pub use crate::chain::Chain;
    pub use crate::executions::{model, model_within};
    pub use crate::fence::kernel::has_barrier;
    pub use crate::head::{Head, Lone, Pushed, Slept, Taken};
    pub use crate::lanes::{Found, Lanes, Traffic};
    pub use crate::link::{Class, Link};
    pub use crate::stock::Stock;
    pub use crate::table::Table;
}
