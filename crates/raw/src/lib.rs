//! The ground floor of purlin: the cell that is a process, the inbox in front of it, and the table
//! that finds it. This is the only crate where `unsafe` may appear.
//!
//! It knows nothing of Erlang: what a signal means, what an exit reason is and which thread runs
//! what is decided above. The layer above says so once, with the [`World`] trait, and gives each
//! process a [`Body`]; the layer that schedules implements [`Host`].
//!
//! | file | role |
//! |---|---|
//! | `link` | the header of a signal on its way, and the envelope around its payload |
//! | `head` | the word of a process: its state and the stack of signals that arrived |
//! | `lanes` | words beside it, for when many senders crowd before one |
//! | `chain` | what arrived, oldest first |
//! | `edge` | the bound of a mailbox that has one: how many wait, and what becomes of one more |
//! | `line` | those who wait until such a mailbox has room |
//! | `fifo` | the owner's end: signals in order, and the cursor of a selective receive |
//! | `cell` | the one allocation that is a process |
//! | `credit` | references to cells, counted now and then |
//! | `body` | what depends on the types of a process |
//! | `run` | one turn of a process, from the run queue to sleep or to its end |
//! | `owner` | what only the process itself may do |
//! | `address` | what everybody else may do: send, signal, look |
//! | `look` | what can be seen of a process from outside |
//! | `parcel` | a message that is sealed and addressed, to be sent later |
//! | `current` | which process this thread is running, and what is left of its budget |
//! | `table` | from a number to a process, safe against reuse |
//! | `realm` | the processes that belong together, their table and their host |
//! | `answer` | the answer to a call, between who gives it and who waits for it |
//! | `wake` | a cell as a `std::task::Waker` |
//! | `pool` | memory for cells, envelopes and answers, kept by the thread that freed it |
//! | `erased` | a function pointer of a type that whoever keeps it does not know |
//! | `pooled` | a small value or a large one in such memory |
//! | `quiet` | running users' code where nothing may unwind |
//! | `fence` | a barrier that costs one side almost nothing and the other a system call |
//! | `biased` | what one thread uses by plain loads and stores, and another may take away |
//! | `heap` | having the C library give free memory back |
//! | `threads` | a thread's number, and putting a thread last |
//! | `sync` | the atomics, locks and thread-locals: `std`'s, or a model's |

// WHY: the loom models reach the private parts through `model`, which exists only for them.
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

/// What the layer above fixes once for all of its processes.
pub trait World: Sized + Send + Sync + 'static {
    /// What travels beside messages, in order with them: exits, links, monitors.
    type Signal: Send + 'static;
    /// What a process keeps for itself; only its own turn touches it.
    type Local: Default + Send + 'static;
    /// What everybody may read of a process, also after its end.
    type Shared: Send + Sync + 'static;
    /// How a process ended; everybody may read it once it has. The default stands there before, and
    /// is not dropped.
    type Last: Default + Send + Sync + 'static;
    /// What all processes of a realm share.
    type Home: Send + Sync + 'static;

    /// Whether a process keeps anything for itself.
    fn keeps(local: &Self::Local) -> bool;

    /// The process has ended: its inbox is closed, it has left the table, and `end.dropped` messages
    /// that were still waiting have been dropped.
    ///
    /// Called only if something waited in the inbox or the process kept something for itself, on the
    /// worker that ran the last turn. Must not unwind.
    fn closed(home: &Self::Home, end: &End<'_, Self>, local: &mut Self::Local);

    /// A process that is traced is about to send something to the one in that slot, whose messages are of that
    /// type. Called in its turn.
    fn sent(
        _to: Slot,
        _shared: &Self::Shared,
        _message_type: &'static str,
        _what: Traveller<'_, Self>,
    ) {
    }

    /// A process that is traced has received a message of that type; which one, if it can still be seen. Called in
    /// its turn.
    fn received(_message_type: &'static str, _message: Option<&dyn Any>) {}

    /// A signal was still waiting when the inbox closed; `closed` follows. Must not unwind.
    fn undelivered(home: &Self::Home, local: &mut Self::Local, signal: Self::Signal);
}

/// What is about to be sent.
pub enum Traveller<'a, W: World> {
    /// A message.
    Message(&'a dyn Any),
    /// A signal that is none.
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

/// The end of a process.
#[derive(Debug)]
#[non_exhaustive]
pub struct End<'a, W: World> {
    /// The place that it had in the table.
    pub slot: Slot,
    /// What everybody may read of it.
    pub shared: &'a W::Shared,
    /// How it ended.
    pub last: &'a W::Last,
    /// Messages that were still waiting, and have been dropped.
    pub dropped: usize,
}

/// The parts that the loom models exercise directly.
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
