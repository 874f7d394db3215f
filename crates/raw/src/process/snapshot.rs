//! Snapshot of a process's statistics, taken without stopping it.
//!
//! Any thread that holds a reference to the process's memory, its *cell*, may take one. Nothing is
//! written and nothing blocks. Each field is read separately, so the fields may belong to slightly
//! different moments. A *turn* is one poll of the process by a worker.

use std::any::TypeId;

use crate::process::cell::{Base, HAS_LOCAL, RUNNING, VTable};
use crate::sync::Ordering;
use crate::table::Slot;

/// Scheduling state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessState {
    /// Runs on a thread.
    Running,
    /// Waits for a worker.
    Runnable,
    /// Waits for a message.
    Receiving,
    /// Waits for something other than a message: a timer, a socket, a reply.
    Waiting,
    /// Has ended.
    Ended,
}

/// Snapshot of a process: statistics, each read separately.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Snapshot {
    /// Slot number in the process table.
    pub slot: Slot,
    /// Scheduling state. May be stale.
    pub state: ProcessState,
    /// Mailbox length: messages in the save queue, plus messages and signals in the inbox, which
    /// the process has not taken yet.
    pub mailbox_len: usize,
    /// Number of messages received.
    pub received: u64,
    /// Number of messages and signals sent in completed turns.
    pub sent: u64,
    /// Reductions in completed turns: one per turn, one per message or signal sent, plus the budget
    /// spent ([`BUDGET`](crate::BUDGET)).
    pub reductions: u64,
    /// Slot index, without generation, of the process whose reply this process awaits. `None`
    /// unless `state` is [`ProcessState::Waiting`]. May be stale.
    pub waits_for: Option<u32>,
    /// Whether the process has private state beyond the default: that the upper layer's
    /// [`has_state`](crate::RuntimeTypes::has_state) holds for its
    /// [`Local`](crate::RuntimeTypes::Local).
    pub has_local: bool,
    /// Type information.
    pub process_type: ProcessType,
}

/// Type information: shared by processes that run the same function and receive the same message
/// type.
#[derive(Clone, Copy)]
pub struct ProcessType(&'static VTable);

impl ProcessType {
    /// Returns the name of the process function.
    pub fn function(self) -> &'static str {
        (self.0.body_name)()
    }

    /// Returns the name of the message type.
    pub fn message_type(self) -> &'static str {
        (self.0.message_name)()
    }

    /// Returns the size of a process in bytes.
    pub fn bytes(self) -> usize {
        self.0.bytes
    }

    /// Returns the size of a waiting message in bytes, without what it points to.
    pub fn bytes_of_message(self) -> usize {
        self.0.envelope
    }

    /// Returns whether the processes receive messages of type `M`.
    pub fn receives<M: 'static>(self) -> bool {
        (self.0.message)() == TypeId::of::<M>()
    }

    /// Returns a number that no other process type has. One process type may have more than one
    /// number, because the compiler may emit its type information several times.
    pub fn number(self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }
}

impl std::fmt::Debug for ProcessType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ProcessType").field(&self.function()).finish()
    }
}

impl Snapshot {
    /// Takes a snapshot.
    pub(crate) fn at(base: &Base) -> Self {
        let turn = base.turn.load(Ordering::Relaxed);
        let state = match base.inbox.asleep() {
            _ if base.inbox.is_closed() => ProcessState::Ended,
            Some(false) => ProcessState::Receiving,
            Some(true) => ProcessState::Waiting,
            None if turn & RUNNING != 0 => ProcessState::Running,
            None => ProcessState::Runnable,
        };
        let waits_for = base
            .inbox
            .extension()
            .and_then(|extension| extension.waits_for.load(Ordering::Relaxed).checked_sub(1));
        Self {
            slot: base.slot,
            state,
            mailbox_len: base.mailbox_len(),
            received: base.received.load(Ordering::Relaxed),
            sent: base.sent.load(Ordering::Relaxed),
            reductions: base.reductions.load(Ordering::Relaxed),
            waits_for: waits_for.filter(|_| state == ProcessState::Waiting),
            has_local: turn & HAS_LOCAL != 0,
            process_type: ProcessType(base.vtable),
        }
    }

    /// Returns the size in bytes of the cell and the queued messages, without the memory that they
    /// point to.
    pub fn bytes(&self) -> usize {
        self.process_type.bytes() + self.mailbox_len * self.process_type.bytes_of_message()
    }
}
