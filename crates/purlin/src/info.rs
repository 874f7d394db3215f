//! What can be seen of a process from outside.

use purlin_raw::{Edge, Ref, State};

use crate::home::{Erlang, Home, here};
use crate::{Monitored, Name, Overflow, ProcessId};

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
    /// Its name, if it has one and a process of its own node, or the node, looks.
    pub name: Option<Name>,
    /// What it is doing.
    pub state: ProcessState,
    /// The function it runs.
    pub function: &'static str,
    /// The type of its messages.
    pub message_type: &'static str,
    /// Who spawned it; `None` if no process did.
    pub parent: Option<ProcessId>,
    /// Whether it serves the node's processes and is none of a program's: a stand-in, or what takes things to other
    /// nodes and back ([`Node::serve`](crate::Node::serve)).
    pub serves: bool,
    /// Messages that wait, fetched or in transit; approximate past 32767 in transit.
    pub mailbox_len: usize,
    /// The bound of its mailbox, if it has one (B1).
    pub bound: Option<MailboxBound>,
    /// Messages it has received.
    pub messages_in: u64,
    /// Messages and signals it has sent in turns that are over; answers to calls are not among them.
    pub messages_out: u64,
    /// What it has done in turns that are over: one for each turn, for each message or signal sent,
    /// for each time a receive is polled, and for each message that [`crate::receive!`] looks at; two
    /// for each call of [`crate::consume_budget`].
    pub reductions: u64,
    /// Bytes of the process itself (its state, and what its function keeps across an await), and of
    /// the messages that wait, without what they point to; not what the process has allocated,
    /// which it can tell itself: [`ProcessDetails::reported_memory`].
    pub memory: usize,
}

/// The bound of a mailbox (B1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MailboxBound {
    /// How many messages may wait.
    pub limit: usize,
    /// What becomes of one more.
    pub overflow: Overflow,
    /// Messages that were dropped because of it (B3).
    pub dropped: u64,
}

impl MailboxBound {
    fn of(edge: &Edge) -> Self {
        Self { limit: edge.limit(), overflow: edge.overflow(), dropped: edge.dropped() }
    }
}

/// What a process tells of itself when it is asked (P5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessDetails {
    /// Whom it is linked to.
    pub links: Vec<ProcessId>,
    /// Whom it monitors.
    pub monitors: Vec<Monitored>,
    /// Who monitors it.
    pub monitored_by: Vec<ProcessId>,
    /// Whether it traps exits.
    pub traps_exits: bool,
    /// Bytes that it says it has allocated: [`Process::report_memory`](crate::Process::report_memory).
    pub reported_memory: usize,
}

impl ProcessInfo {
    /// What a process of the node that this thread works for sees.
    pub(crate) fn here(process: &Ref<Erlang>) -> Self {
        let creation = process.shared().creation;
        let ours = |home: &&Home| home.creation == creation;
        let name = here(|here| {
            Some(here.realm.home()).filter(ours).and_then(|home| home.names.of(process.slot()))
        });
        Self::of(process, name.flatten())
    }

    pub(crate) fn of(process: &Ref<Erlang>, name: Option<Name>) -> Self {
        let look = process.look();
        let shared = process.shared();
        Self {
            id: ProcessId::new(shared.creation, look.slot),
            name,
            state: state_of(look.state),
            function: look.kind.body(),
            message_type: look.kind.message(),
            parent: shared.parent(),
            serves: shared.serves(),
            mailbox_len: look.mailbox,
            bound: process.edge().map(MailboxBound::of),
            messages_in: look.received,
            messages_out: look.sent,
            reductions: look.reductions,
            memory: look.bytes(),
        }
    }
}

/// What a process does, in the words of users.
pub(crate) fn state_of(state: State) -> ProcessState {
    match state {
        State::Running => ProcessState::Running,
        State::Runnable => ProcessState::Runnable,
        State::Receiving => ProcessState::Receiving,
        State::Waiting => ProcessState::Waiting,
        State::Ended => ProcessState::Ended,
    }
}
