//! Survey: iteration over all processes of a node, in slices.

use purlin_raw::{ProcessType, Snapshot};

use crate::process::shared::Shared;
use crate::supervisor::SupervisorMail;
use crate::{Name, Node, ProcessId, ProcessState};

/// Snapshot of a process taken by a survey (P5). Each field is read separately.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProcessSnapshot {
    /// Identity of the process.
    pub id: ProcessId,
    /// Type information shared by similar processes.
    pub process_type: ProcessType,
    /// Current state.
    pub state: ProcessState,
    /// [`ProcessId::id`] of the process of this node whose reply to a call the process waits for.
    pub waits_for: Option<u32>,
    /// Process that spawned it; `None` if no process did.
    pub parent: Option<ProcessId>,
    /// Whether it is a system process and not one of the program's.
    pub is_system: bool,
    /// Whether the process has private state: links, monitors, a name, the timer of a call or the
    /// like. Without it, it has no name.
    pub has_extended_state: bool,
    /// Length of the mailbox.
    pub mailbox_len: usize,
    /// Messages received.
    pub messages_in: u64,
    /// Messages and signals sent in completed turns, without replies to calls.
    pub messages_out: u64,
    /// Reductions in completed turns: see [`crate::ProcessInfo::reductions`].
    pub reductions: u64,
}

impl ProcessSnapshot {
    fn new(snapshot: Snapshot, shared: Shared) -> Self {
        Self {
            id: ProcessId::new(shared.creation, snapshot.slot),
            process_type: snapshot.process_type,
            state: snapshot.state,
            waits_for: snapshot.waits_for,
            parent: shared.parent(),
            is_system: shared.is_system(),
            has_extended_state: snapshot.has_local,
            mailbox_len: snapshot.mailbox_len,
            messages_in: snapshot.received,
            messages_out: snapshot.sent,
            reductions: snapshot.reductions,
        }
    }

    /// Returns whether the process is a supervisor.
    pub fn supervises(&self) -> bool {
        self.process_type.receives::<SupervisorMail>()
    }
}

impl Node {
    /// Visits the live processes whose [`ProcessId::id`] is in `from..from + most`, in ascending order, and passes a
    /// snapshot of each to `take`. Returns the number to continue with, if there are more, so that a node with very
    /// many processes can be surveyed in slices. No process is stopped; one that begins or ends meanwhile may be
    /// included or not.
    ///
    /// ```
    /// # #[purlin::main] async fn main() {
    /// use purlin::{Node, Process, spawn};
    ///
    /// let node = Node::current().expect("a process has a node");
    /// let pid = spawn(async |mut me: Process<()>| me.receive().await);
    /// let mut found = false;
    /// let mut next = Some(0);
    /// while let Some(from) = next {
    ///     next = node.snapshots(from, 1000, |seen| found |= seen.id == pid.id());
    /// }
    /// assert!(found);
    /// # }
    /// ```
    ///
    /// A process that ends while its snapshot is being read, which takes about 10 ns, waits for the read; so does a
    /// thread that looks it up by id. Nothing else waits.
    ///
    /// COST: about 30 ns per process if its memory is not cached; no allocation.
    pub fn snapshots(
        &self,
        from: u32,
        most: u32,
        mut take: impl FnMut(ProcessSnapshot),
    ) -> Option<u32> {
        self.node_core().snapshots(
            from,
            most,
            |shared| *shared,
            |snapshot, shared| take(ProcessSnapshot::new(snapshot, shared)),
        )
    }

    /// Returns an upper estimate of the number of live processes. It includes the free slots that workers cache for
    /// spawning, at most 513 per worker.
    ///
    /// COST: takes the lock of the free list for a short time.
    pub fn processes_about(&self) -> usize {
        self.node_core().len_hint() as usize
    }

    /// Returns the number of process table slots ever used, at which [`Node::snapshots`] ends: the peak number of
    /// simultaneous processes.
    pub fn slots_used(&self) -> u32 {
        self.node_core().slots_used()
    }

    /// Passes the registered names of the given processes to `take`, with the index in `processes`. Processes without a
    /// name are skipped.
    ///
    /// COST: takes the lock of the node's names for one look-up per process, so pass a limited number at a time.
    pub fn names_of(&self, processes: &[ProcessId], take: impl FnMut(usize, &Name)) {
        let slots = processes.iter().map(|id| id.slot_on(self.node_state().creation));
        self.node_state().names.of_each(slots, take);
    }
}
