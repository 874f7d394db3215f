//! Looking at all processes of a node, a slice at a time.

use purlin_raw::{Kind, Look};

use crate::home::Shared;
use crate::info::state_of;
use crate::supervisor::SupervisorMail;
use crate::{Name, Node, ProcessId, ProcessState};

/// What a survey sees of a process (P5); each figure is read on its own.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Seen {
    /// Its identity.
    pub id: ProcessId,
    /// What it has in common with others.
    pub kind: ProcessKind,
    /// What it is doing.
    pub state: ProcessState,
    /// The [`ProcessId::id`] of the process of this node whose answer to a call it waits for, if it does.
    pub waits_for: Option<u32>,
    /// Who spawned it; `None` if no process did.
    pub parent: Option<ProcessId>,
    /// Whether it serves the node's processes and is none of a program's.
    pub serves: bool,
    /// It keeps something for itself: links, monitors, a name or the like. Without that it has no name.
    pub keeps: bool,
    /// Messages that wait; approximate past 32767 in transit.
    pub mailbox_len: usize,
    /// Messages it has received.
    pub messages_in: u64,
    /// Messages and signals it has sent in turns that are over; answers to calls are not among them.
    pub messages_out: u64,
    /// What it has done in turns that are over: see [`crate::ProcessInfo::reductions`].
    pub reductions: u64,
}

/// What processes have in common that run the same function and receive the same type.
#[derive(Clone, Copy, Debug)]
pub struct ProcessKind(Kind);

impl ProcessKind {
    /// The function they run.
    pub fn function(self) -> &'static str {
        self.0.body()
    }

    /// The type of their messages.
    pub fn message_type(self) -> &'static str {
        self.0.message()
    }

    /// Bytes of a process.
    pub fn bytes(self) -> usize {
        self.0.cell()
    }

    /// Bytes of a message that waits, without what it points to.
    pub fn bytes_of_message(self) -> usize {
        self.0.envelope()
    }

    /// Whether they are supervisors.
    pub fn supervises(self) -> bool {
        self.0.message_type() == std::any::TypeId::of::<SupervisorMail>()
    }

    /// A number that no other kind has. One kind may have more than one.
    pub fn number(self) -> usize {
        self.0.number()
    }
}

impl Seen {
    fn new(look: Look, of: Of) -> Self {
        Self {
            id: ProcessId::new(of.creation, look.slot),
            kind: ProcessKind(look.kind),
            state: state_of(look.state),
            waits_for: look.waits_for,
            parent: of.parent,
            serves: of.serves,
            keeps: look.keeps,
            mailbox_len: look.mailbox,
            messages_in: look.received,
            messages_out: look.sent,
            reductions: look.reductions,
        }
    }
}

/// What is wanted of what everybody may read of a process.
struct Of {
    creation: u32,
    parent: Option<ProcessId>,
    serves: bool,
}

impl Of {
    fn shared(shared: &Shared) -> Self {
        Self { creation: shared.creation, parent: shared.parent(), serves: shared.serves() }
    }
}

impl Node {
    /// Looks at the processes whose [`ProcessId::id`] is one of the `most` from `from` on, in that order, and
    /// gives each to `take`. The number to go on with, if there are more; so a node with very many is looked at
    /// a slice at a time. Nothing is stopped; a process that begins or ends meanwhile may be seen or not.
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
    ///     next = node.survey(from, 1000, |seen| found |= seen.id == pid.id());
    /// }
    /// assert!(found);
    /// # }
    /// ```
    ///
    /// A process that ends in the very moment in which it is looked at, for some ten nanoseconds, waits for
    /// that, and so does whoever looks it up by its id; nothing else waits for anything.
    ///
    /// COST: some 30 ns for each process where their memory has to be fetched; nothing is allocated.
    pub fn survey(&self, from: u32, most: u32, mut take: impl FnMut(Seen)) -> Option<u32> {
        self.realm().survey(from, most, Of::shared, |look, of| take(Seen::new(look, of)))
    }

    /// How many processes live, and a few more: the places that the workers keep for those they will spawn, at
    /// most 513 each, are counted with them.
    ///
    /// COST: the lock of the list of vacant places, for a moment.
    pub fn processes_about(&self) -> usize {
        self.realm().taken() as usize
    }

    /// The number that [`Node::survey`] ends at: how many processes have lived at a time.
    pub fn places(&self) -> u32 {
        self.realm().places()
    }

    /// The names of some processes, of those that have one; `take` is given the place in the list.
    ///
    /// COST: the lock of the node's names, for a look-up of each: so not too many at a time.
    pub fn names_of(&self, processes: &[ProcessId], take: impl FnMut(usize, &Name)) {
        let slots = processes.iter().map(|id| id.slot_on(self.home().creation));
        self.home().names.of_each(slots, take);
    }
}
