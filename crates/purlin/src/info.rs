//! What can be seen of a process from outside.

use purlin_raw::{Ref, State};

use crate::ProcessId;
use crate::home::Erlang;

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessState {
    /// It is running.
    Running,
    /// It waits for its turn.
    Runnable,
    /// It waits for a message.
    Receiving,
    /// It waits for something else: a timer, a socket, an answer.
    Waiting,
    /// It has ended.
    Ended,
}

/// What can be seen of a process without stopping it (P5).
///
/// Each figure is read on its own, so they may belong to slightly different moments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Its identity.
    pub id: ProcessId,
    /// What it is doing.
    pub state: ProcessState,
    /// The function it runs.
    pub function: &'static str,
    /// The type of its messages.
    pub message_type: &'static str,
    /// Who spawned it; `None` if no process did.
    pub parent: Option<ProcessId>,
    /// Messages that wait, fetched or in transit; approximate past 32767 in transit.
    pub mailbox_len: usize,
    /// Messages it has received.
    pub messages_in: u64,
    /// Units of budget it has spent in turns that are over: one for each time a
    /// receive is polled, and for each message that [`crate::receive!`] looks at; two for each call
    /// of [`crate::consume_budget`].
    pub reductions: u64,
    /// Bytes of the process itself: its state, and what its function keeps across an await; not
    /// the mailbox, nor what it allocated.
    pub memory: usize,
}

impl ProcessInfo {
    pub(crate) fn of(process: &Ref<Erlang>) -> Self {
        let look = process.look();
        let shared = process.shared();
        Self {
            id: ProcessId::new(shared.creation, look.slot),
            state: match look.state {
                State::Running => ProcessState::Running,
                State::Runnable => ProcessState::Runnable,
                State::Receiving => ProcessState::Receiving,
                State::Waiting => ProcessState::Waiting,
                State::Ended => ProcessState::Ended,
            },
            function: look.body,
            message_type: look.message,
            parent: shared.parent(),
            mailbox_len: look.mailbox,
            messages_in: look.received,
            reductions: look.reductions,
            memory: look.bytes,
        }
    }
}
