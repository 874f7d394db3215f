//! Conversion between local ids and external pids and references.

use std::sync::{Mutex, PoisonError};

use purlin::remote::MonitorRefs;
use purlin::{MonitorRef, Node, ProcessId};
use purlin_dist_protocol::NodeName;
use purlin_term::{Atom, Pid, PidParts, Reference, Term};

/// Number of bits in the first word of a reference.
const FIRST: u32 = 18;

/// Identity of this node in the cluster, and its id conversions.
#[derive(Debug)]
pub(super) struct Ids {
    pub(super) node: Node,
    pub(super) name: NodeName,
    pub(super) atom: Atom,
    /// Creation assigned by epmd; the creation of the local node is another number.
    pub(super) creation: u32,
    monitors: Mutex<MonitorRefs>,
}

impl Ids {
    pub(super) fn new(node: Node, name: NodeName, creation: u32) -> Self {
        let atom = Atom::new(name.as_str()).unwrap_or(Atom::EMPTY);
        let monitors = Mutex::new(node.monitor_refs());
        Self { node, name, atom, creation, monitors }
    }

    /// The external pid of a local process.
    pub(super) fn pid(&self, ours: ProcessId) -> Pid {
        let (id, serial) = (ours.id(), ours.serial());
        Pid { node: self.atom.clone(), id, serial, creation: self.creation }
    }

    /// [`Ids::pid`] as a term; `undefined` for `None`.
    pub(super) fn pid_or_undefined(&self, ours: Option<ProcessId>) -> Term {
        ours.map_or(Term::atom("undefined"), |ours| self.pid(ours).into())
    }

    /// A pid that denotes the node instead of a process. No process can have its number, so a monitor of it fires with
    /// `noproc`.
    pub(super) fn pid_of_node(&self) -> Pid {
        Pid { node: self.atom.clone(), id: u32::MAX, serial: 0, creation: self.creation }
    }

    /// The local process with this external pid. Returns `None` if the pid is of another node, or of an earlier
    /// incarnation of this one.
    pub(super) fn ours(&self, pid: &Pid) -> Option<ProcessId> {
        let ours = pid.node == self.atom && pid.creation == self.creation;
        let id = ours.then(|| ProcessId::from_parts(pid.id, pid.serial, self.node.creation()));
        id.flatten()
    }

    /// [`Ids::ours`] for a decoded, borrowed pid.
    pub(super) fn ours_of(&self, pid: &PidParts<'_>) -> Option<ProcessId> {
        let ours = *pid.node == *self.atom.as_str() && pid.creation == self.creation;
        let id = ours.then(|| ProcessId::from_parts(pid.id, pid.serial, self.node.creation()));
        id.flatten()
    }

    /// The external reference of a monitor.
    pub(super) fn reference(&self, monitor: MonitorRef) -> Reference {
        self.reference_of(&words(monitor.number()))
    }

    /// The local monitor with this external reference.
    pub(super) fn monitor_of(&self, reference: &Reference) -> Option<MonitorRef> {
        let &[low, middle, high] = reference.words() else { return None };
        self.has(reference).then(|| MonitorRef::from_number(number([low, middle, high])))
    }

    /// The external reference of an alias. Like the BEAM's, it contains the process, so that no table is needed to find
    /// it.
    pub(super) fn alias(&self, ours: ProcessId, number: u64) -> Reference {
        let [low, middle, high] = words(number);
        self.reference_of(&[low, middle, high, ours.id(), ours.serial()])
    }

    /// The local process that has, or had, this alias, and the number of the alias.
    pub(super) fn alias_of(&self, reference: &Reference) -> Option<(ProcessId, u64)> {
        let &[low, middle, high, id, serial] = reference.words() else { return None };
        let ours = self.has(reference).then(|| self.node.creation());
        let process = ProcessId::from_parts(id, serial, ours?)?;
        Some((process, number([low, middle, high])))
    }

    fn has(&self, reference: &Reference) -> bool {
        reference.node == self.atom && reference.creation == self.creation
    }

    fn reference_of(&self, words: &[u32]) -> Reference {
        Reference::new(self.atom.clone(), self.creation, words)
            .unwrap_or_else(|| unreachable!("five words are as many as one has"))
    }

    /// Returns a unique reference.
    pub(super) fn monitor(&self) -> MonitorRef {
        let mut monitors = self.monitors.lock().unwrap_or_else(PoisonError::into_inner);
        monitors.next(&self.node)
    }
}

/// Nodes before OTP 24 know only the lower bits of the first word.
fn words(number: u64) -> [u32; 3] {
    let first = (number & ((1 << FIRST) - 1)) as u32;
    [first, (number >> FIRST) as u32, (number >> (FIRST + 32)) as u32]
}

fn number([low, middle, high]: [u32; 3]) -> u64 {
    u64::from(low) | u64::from(middle) << FIRST | u64::from(high) << (FIRST + 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pids_and_references_survive_the_round_trip() {
        let node = Node::builder().workers(1).build().expect("a node");
        let ids = Ids::new(node.clone(), "a@h".parse().expect("a name"), 7);
        let pid = node.spawn(async |_: purlin::Process<()>| ()).id();
        assert_eq!(ids.ours(&ids.pid(pid)), Some(pid));
        let of_before = Pid { creation: 6, ..ids.pid(pid) };
        assert_eq!(ids.ours(&of_before), None);
        assert_eq!(ids.ours(&ids.pid_of_node()), None);
        for number in [1, u64::MAX >> 14, u64::MAX, 0x0123_4567_89ab_cdef] {
            let monitor = MonitorRef::from_number(number);
            assert_eq!(ids.monitor_of(&ids.reference(monitor)), Some(monitor));
            assert_eq!(ids.alias_of(&ids.alias(pid, number)), Some((pid, number)));
            assert_eq!(ids.alias_of(&ids.reference(monitor)), None);
            assert_eq!(ids.monitor_of(&ids.alias(pid, number)), None);
        }
    }
}
