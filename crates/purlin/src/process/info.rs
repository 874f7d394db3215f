//! Process information as seen from outside.

use purlin_raw::Bound;

use crate::node::erlang_types::Peer;
use crate::{Monitored, Name, Overflow, ProcessId, ProcessState};

/// Snapshot of a process, taken without stopping it (P5).
///
/// Each field is read separately, so the fields may belong to slightly different moments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Id of the process.
    pub id: ProcessId,
    /// Registered name. Set only if a process of the same node, or the node, takes the snapshot.
    pub name: Option<Name>,
    /// Scheduling state.
    pub state: ProcessState,
    /// Name of the function that the process runs.
    pub function: &'static str,
    /// Name of the type of its messages.
    pub message_type: &'static str,
    /// Id of the parent; `None` if no process spawned it. The parent may belong to another node of the
    /// program, where its id may print as that of another process here; the two are not equal.
    pub parent: Option<ProcessId>,
    /// Whether it is a system process instead of a user process: a proxy for a remote process, or a
    /// process that connects the node to others
    /// ([`Node::spawn_system`](crate::Node::spawn_system)).
    pub is_system: bool,
    /// Number of waiting messages, in the save queue and the inbox.
    pub mailbox_len: usize,
    /// Bound of the mailbox, if it has one (B1).
    pub bound: Option<MailboxBound>,
    /// Number of messages received.
    pub messages_in: u64,
    /// Number of messages and signals sent in completed turns, without replies to calls.
    pub messages_out: u64,
    /// Reductions in completed turns: 1 for each turn, each message or signal sent, each poll of a
    /// receive, and each message that [`crate::receive!`] examines; 2 for each call of
    /// [`crate::consume_budget`].
    pub reductions: u64,
    /// Memory in bytes: the process itself (its state and the variables that its function keeps
    /// across an await) and the waiting messages, without the data they point to. Memory that the
    /// process allocated is not included; it can report that itself:
    /// [`ProcessDetails::reported_memory`].
    pub memory: usize,
}

/// Bound of a mailbox (B1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MailboxBound {
    /// Maximum number of waiting messages.
    pub limit: usize,
    /// Overflow policy.
    pub overflow: Overflow,
    /// Number of messages dropped at the bound (B3).
    pub dropped: u64,
}

impl MailboxBound {
    fn of(bound: &Bound) -> Self {
        Self { limit: bound.limit(), overflow: bound.overflow(), dropped: bound.dropped() }
    }
}

/// Details that a process reports about itself on request (P5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessDetails {
    /// Processes that it is linked to.
    pub links: Vec<ProcessId>,
    /// Processes that it monitors.
    pub monitors: Vec<Monitored>,
    /// Processes that monitor it.
    pub monitored_by: Vec<ProcessId>,
    /// Whether it traps exits.
    pub traps_exits: bool,
    /// Memory in bytes that it reported: [`Process::report_memory`](crate::Process::report_memory).
    pub reported_memory: usize,
}

impl ProcessInfo {
    /// Takes a snapshot of a process that has this name.
    pub(crate) fn of(process: &Peer, name: Option<Name>) -> Self {
        let snapshot = process.snapshot();
        let shared = process.shared();
        Self {
            id: ProcessId::new(shared.creation, snapshot.slot),
            name,
            state: snapshot.state,
            function: snapshot.process_type.function(),
            message_type: snapshot.process_type.message_type(),
            parent: shared.parent(),
            is_system: shared.is_system(),
            mailbox_len: snapshot.mailbox_len,
            bound: process.bound().map(MailboxBound::of),
            messages_in: snapshot.received,
            messages_out: snapshot.sent,
            reductions: snapshot.reductions,
            memory: snapshot.bytes(),
        }
    }
}
