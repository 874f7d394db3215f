//! Snapshot of a process's statistics, taken without stopping it.
//!
//! Any thread that holds a reference to the process's memory, its *cell*, may take one. Nothing is
//! written and nothing blocks. Each field is read separately, so the fields may belong to slightly
//! different moments. A *turn* is one poll of the process by a worker.

use std::any::TypeId;

use crate::process::cell::{Base, HAS_LOCAL, RUNNING, VTable};
use crate::sync::Ordering;
use crate::table::Slot;

/// What a process is doing. May be stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// A thread runs its turn, or its end.
    Running,
    /// It is scheduled: in a run queue, or about to be.
    Runnable,
    /// It sleeps, and a message wakes it.
    Receiving,
    /// It sleeps, and a message does not wake it: it awaits a reply, a timer or I/O.
    Waiting,
    /// It has ended.
    Ended,
}

/// Snapshot of a process: statistics, each read separately.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Snapshot {
    /// Slot number in the process table.
    pub slot: Slot,
    /// What the process is doing.
    pub state: RunState,
    /// Mailbox length: messages in the save queue, plus messages and signals in the inbox, which
    /// the process has not taken yet. An inbox without shards counts at most 32767.
    pub mailbox_len: usize,
    /// Number of messages received.
    pub received: u64,
    /// Number of messages and signals sent in completed turns.
    pub sent: u64,
    /// Reductions in completed turns: one per turn, one per message or signal sent, plus the budget
    /// spent ([`BUDGET`](crate::BUDGET)).
    pub reductions: u64,
    /// Slot index, without generation, of the process whose reply this process awaits. `None`
    /// unless `state` is [`RunState::Waiting`]. May be stale.
    pub waits_for: Option<u32>,
    /// Whether the process has private state beyond the default: that the upper layer's
    /// [`has_state`](crate::RuntimeTypes::has_state) holds for its
    /// [`Local`](crate::RuntimeTypes::Local).
    pub has_local: bool,
    /// Types of the process.
    pub type_info: TypeInfo,
}

/// Type information of a process: its message type and its body, the code it runs.
#[derive(Clone, Copy)]
pub struct TypeInfo(&'static VTable);

impl TypeInfo {
    /// Returns the name of the message type.
    pub fn message(self) -> &'static str {
        (self.0.message_name)()
    }

    /// Returns the message type.
    pub fn message_type(self) -> TypeId {
        (self.0.message)()
    }

    /// Returns the type name of the body.
    pub fn body(self) -> &'static str {
        (self.0.body_name)()
    }

    /// Returns the size of the process's cell in bytes, which includes the body.
    pub fn cell(self) -> usize {
        self.0.bytes
    }

    /// Returns the size of a queued message with its header in bytes.
    pub fn envelope(self) -> usize {
        self.0.envelope
    }

    /// Returns a key of this type information: its address. Different keys do not imply different
    /// types: the compiler may emit the type information of one process type several times.
    pub fn number(self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }
}

impl std::fmt::Debug for TypeInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TypeInfo").field(&self.body()).finish()
    }
}

impl Snapshot {
    /// Takes a snapshot.
    #[inline]
    pub(crate) fn at(base: &Base) -> Self {
        let turn = base.turn.load(Ordering::Relaxed);
        let state = match base.inbox.asleep() {
            _ if base.inbox.is_closed() => RunState::Ended,
            Some(false) => RunState::Receiving,
            Some(true) => RunState::Waiting,
            None if turn & RUNNING != 0 => RunState::Running,
            None => RunState::Runnable,
        };
        let waits_for = base.waits_for.load(Ordering::Relaxed).checked_sub(1);
        Self {
            slot: base.slot,
            state,
            mailbox_len: base.mailbox_len(),
            received: base.received.load(Ordering::Relaxed),
            sent: base.sent.load(Ordering::Relaxed),
            reductions: base.reductions.load(Ordering::Relaxed),
            waits_for: waits_for.filter(|_| state == RunState::Waiting),
            has_local: turn & HAS_LOCAL != 0,
            type_info: TypeInfo(base.vtable),
        }
    }

    /// Returns the size in bytes of the cell and the queued messages, without the memory that they
    /// point to.
    pub fn bytes(&self) -> usize {
        self.type_info.cell() + self.mailbox_len * self.type_info.envelope()
    }
}
