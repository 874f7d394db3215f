//! What can be seen of a process from outside, without stopping it.
//!
//! Any thread that keeps the cell may look. Nothing is written, nothing waits; each figure is read on its
//! own, so they may belong to slightly different moments.

use std::any::TypeId;

use crate::cell::{Base, KEPT, RUNNING, VTable};
use crate::sync::Ordering;
use crate::table::Slot;

/// What a process is doing: a glance that may be old at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is in a turn.
    Running,
    /// It waits for its turn.
    Runnable,
    /// It waits for a message.
    Receiving,
    /// It waits for something else than a message.
    Waiting,
    /// It has ended.
    Ended,
}

/// What can be seen of a process from outside, each figure read on its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Look {
    /// The place in the table.
    pub slot: Slot,
    /// What it is doing.
    pub state: State,
    /// Messages that wait; past 32767 of those still in transit are not all counted.
    pub mailbox: usize,
    /// Messages received.
    pub received: u64,
    /// Messages and signals sent in turns that are over.
    pub sent: u64,
    /// Polls, sends, and budget spent.
    pub reductions: u64,
    /// The place in the table, without its generation, of the process whose answer it waits for, if it does:
    /// a glance that may be old.
    pub waits_for: Option<u32>,
    /// It keeps something for itself.
    pub keeps: bool,
    /// What it has in common with others.
    pub kind: Kind,
}

/// What processes of the same types have in common.
#[derive(Clone, Copy)]
pub struct Kind(&'static VTable);

impl Kind {
    /// The type of their messages.
    pub fn message(self) -> &'static str {
        (self.0.message_name)()
    }

    /// The type of their messages.
    pub fn message_type(self) -> TypeId {
        (self.0.message)()
    }

    /// What their bodies are called.
    pub fn body(self) -> &'static str {
        (self.0.body_name)()
    }

    /// Bytes of the cell.
    pub fn cell(self) -> usize {
        self.0.bytes
    }

    /// Bytes of a message that waits.
    pub fn envelope(self) -> usize {
        self.0.envelope
    }

    /// A number that no other kind has; a kind may have more than one.
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
    /// Looks at a process.
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

    /// Bytes of the cell and of the messages that wait, without what the process allocated.
    pub fn bytes(&self) -> usize {
        self.kind.cell() + self.mailbox * self.kind.envelope()
    }
}
