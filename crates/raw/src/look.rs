//! Snapshot of a process's statistics, taken without stopping it.
//!
//! Any thread that keeps the cell alive may take one. Nothing is written and nothing blocks. Each
//! field is read separately, so the fields may belong to slightly different moments.

use std::any::TypeId;

use crate::cell::{Base, KEPT, RUNNING, VTable};
use crate::sync::Ordering;
use crate::table::Slot;

/// What a process is doing. May be stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
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
pub struct Look {
    /// Slot in the table.
    pub slot: Slot,
    /// What the process is doing.
    pub state: State,
    /// Number of queued messages; of those still in the stack at most 32767 are counted.
    pub mailbox: usize,
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
    pub keeps: bool,
    /// Type information.
    pub kind: Kind,
}

/// Type information of a process.
#[derive(Clone, Copy)]
pub struct Kind(&'static VTable);

impl Kind {
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

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kind").field(&self.body()).finish()
    }
}

impl Look {
    /// Takes a snapshot.
    #[inline]
    pub(crate) fn at(base: &Base) -> Self {
        let turn = base.turn.load(Ordering::Relaxed);
        let state = match base.head.asleep() {
            _ if base.head.is_closed() => State::Ended,
            Some(false) => State::Receiving,
            Some(true) => State::Waiting,
            None if turn & RUNNING != 0 => State::Running,
            None => State::Runnable,
        };
        let waits_for = base.waits_for.load(Ordering::Relaxed).checked_sub(1);
        Self {
            slot: base.slot,
            state,
            mailbox: base.mailbox(),
            received: base.received.load(Ordering::Relaxed),
            sent: base.sent.load(Ordering::Relaxed),
            reductions: base.reductions.load(Ordering::Relaxed),
            waits_for: waits_for.filter(|_| state == State::Waiting),
            keeps: turn & KEPT != 0,
            kind: Kind(base.vtable),
        }
    }

    /// Returns the size in bytes of the cell and the queued messages, without what the process
    /// allocated.
    pub fn bytes(&self) -> usize {
        self.kind.cell() + self.mailbox * self.kind.envelope()
    }
}
