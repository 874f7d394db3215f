//! Snapshot of a process's statistics, taken without stopping it.
//!
//! Any thread that keeps the cell alive may take one. Nothing is written and nothing blocks. Each
//! field is read separately, so the fields may belong to slightly different moments.

use std::any::TypeId;

use crate::process::cell::{Base, HAS_LOCAL, RUNNING, VTable};
use crate::sync::Ordering;
use crate::table::Slot;

/// What a process is doing. May be stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It is in a turn.
    Running,
    /// It is queued to run.
    Runnable,
    /// It waits for a message.
    Receiving,
    /// It waits for something other than a message.
    Waiting,
    /// It has ended.
    Ended,
}

/// Snapshot of a process: statistics, each read separately.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Snapshot {
    /// Slot in the table.
    pub slot: Slot,
    /// What the process is doing.
    pub state: RunState,
    /// Number of queued messages; of those still in the stack at most 32767 are counted.
    pub mailbox_len: usize,
    /// Messages received.
    pub received: u64,
    /// Messages and signals sent in completed turns.
    pub sent: u64,
    /// Polls, sends, and budget spent.
    pub reductions: u64,
    /// Slot index, without generation, of the process whose reply this process awaits. May be
    /// stale.
    pub waits_for: Option<u32>,
    /// Whether the process has private state.
    pub has_local: bool,
    /// Type information.
    pub type_info: TypeInfo,
}

/// Type information of a process.
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

    /// Returns the name of the body.
    pub fn body(self) -> &'static str {
        (self.0.body_name)()
    }

    /// Returns the size of the cell in bytes.
    pub fn cell(self) -> usize {
        self.0.bytes
    }

    /// Returns the size of a queued message in bytes.
    pub fn envelope(self) -> usize {
        self.0.envelope
    }

    /// Returns a number unique to this type information; the same types may have several.
    pub fn number(self) -> usize {
        std::ptr::from_ref(self.0).addr()
    }
}

impl std::fmt::Debug for TypeInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kind").field(&self.body()).finish()
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

    /// Returns the size in bytes of the cell and the queued messages, without what the process
    /// allocated.
    pub fn bytes(&self) -> usize {
        self.type_info.cell() + self.mailbox_len * self.type_info.envelope()
    }
}
