//! Which links and monitors cross one connection. Pure.
//!
//! Both ends keep what is theirs; this is what has to be said for the other end when it is lost, and
//! under which number each knows a monitor of the other.

use std::collections::HashMap;
use std::fmt;

use purlin::foreign::LocalProcess;
use purlin::{MonitorRef, ProcessId};
use purlin_term::{Pid, Reference};

use crate::control::Named;

/// A monitor that a process of theirs has of one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Theirs {
    pub(super) watcher: Pid,
    pub(super) reference: Reference,
    /// Whom it monitors, as it has said.
    pub(super) watched: Named,
}

/// Which links and monitors cross a connection.
#[derive(Default)]
pub(super) struct Ledger {
    links: HashMap<(ProcessId, Pid), LocalProcess>,
    /// Unlinks of ours that have not been acknowledged, by their number.
    unlinks: HashMap<u64, LocalProcess>,
    /// Monitors of ours.
    ours: HashMap<MonitorRef, (ProcessId, Named)>,
    theirs: HashMap<MonitorRef, (ProcessId, Theirs)>,
    by_reference: HashMap<(Pid, Reference), MonitorRef>,
}

/// What is said to processes of ours when the connection is lost.
pub(super) struct Lost {
    pub(super) links: Vec<(ProcessId, LocalProcess)>,
    pub(super) ours: Vec<(ProcessId, MonitorRef)>,
    pub(super) theirs: Vec<(ProcessId, MonitorRef)>,
}

impl Ledger {
    /// A link is there, or about to be.
    pub(super) fn link(&mut self, ours: ProcessId, theirs: Pid, name: LocalProcess) {
        self.links.insert((ours, theirs), name);
    }

    /// A link is no more.
    pub(super) fn unlink(&mut self, ours: ProcessId, theirs: &Pid) -> Option<LocalProcess> {
        self.links.remove(&(ours, theirs.clone()))
    }

    /// A process of ours has taken a link back, and waits for the acknowledgement.
    pub(super) fn unlinking(&mut self, id: u64, name: LocalProcess) {
        self.unlinks.insert(id, name);
    }

    /// It has come.
    pub(super) fn unlinked(&mut self, id: u64) -> Option<LocalProcess> {
        self.unlinks.remove(&id)
    }

    /// A process of ours monitors one of theirs.
    pub(super) fn watch(&mut self, monitor: MonitorRef, by: ProcessId, of: Named) {
        self.ours.insert(monitor, (by, of));
    }

    /// It does no longer, or the monitor fires: who, and whom.
    pub(super) fn unwatch(&mut self, monitor: MonitorRef) -> Option<(ProcessId, Named)> {
        self.ours.remove(&monitor)
    }

    /// A process of theirs monitors one of ours. The same one twice counts once.
    pub(super) fn watched(&mut self, monitor: MonitorRef, of: ProcessId, theirs: Theirs) -> bool {
        let key = (theirs.watcher.clone(), theirs.reference.clone());
        if self.by_reference.contains_key(&key) {
            return false;
        }
        self.by_reference.insert(key, monitor);
        self.theirs.insert(monitor, (of, theirs));
        true
    }

    /// It does no longer: our number of it, and whom it monitored.
    pub(super) fn unwatched(
        &mut self,
        watcher: &Pid,
        reference: &Reference,
    ) -> Option<(MonitorRef, ProcessId)> {
        let monitor = self.by_reference.remove(&(watcher.clone(), reference.clone()))?;
        let (of, _) = self.theirs.remove(&monitor)?;
        Some((monitor, of))
    }

    /// A monitor of theirs fires.
    pub(super) fn fires(&mut self, monitor: MonitorRef) -> Option<Theirs> {
        let (_, theirs) = self.theirs.remove(&monitor)?;
        self.by_reference.remove(&(theirs.watcher.clone(), theirs.reference.clone()));
        Some(theirs)
    }

    /// The connection is lost: all there is, once.
    pub(super) fn lose(&mut self) -> Lost {
        let all = std::mem::take(self);
        Lost {
            links: all.links.into_iter().map(|((ours, _), name)| (ours, name)).collect(),
            ours: all.ours.into_iter().map(|(monitor, (by, _))| (by, monitor)).collect(),
            theirs: all.theirs.into_iter().map(|(monitor, (of, _))| (of, monitor)).collect(),
        }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("links", &self.links.len())
            .field("ours", &self.ours)
            .field("theirs", &self.theirs)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use purlin_term::Atom;

    use super::*;

    fn theirs(n: u32) -> Theirs {
        let node = Atom::from_static("b@h");
        let watcher = Pid { node: node.clone(), id: n, serial: 0, creation: 1 };
        let reference = Reference::new(node, 1, &[n, 0, 0]).expect("three words");
        Theirs { watcher, reference, watched: Named::Name(Atom::from_static("shop")) }
    }

    fn local(n: u32) -> ProcessId {
        ProcessId::from_parts(n, 0, 7).expect("a slot")
    }

    // D1: it fires at most once, whether it is taken back first or not.
    #[test]
    fn a_monitor_of_theirs_fires_once_or_is_taken_back() {
        let mut ledger = Ledger::default();
        let [first, second] = [1, 2].map(MonitorRef::from_number);
        assert!(ledger.watched(first, local(1), theirs(1)));
        assert!(ledger.watched(second, local(1), theirs(2)));
        assert!(!ledger.watched(MonitorRef::from_number(3), local(1), theirs(2)), "said twice");
        let Theirs { watcher, reference, .. } = theirs(1);
        assert_eq!(ledger.unwatched(&watcher, &reference), Some((first, local(1))));
        assert_eq!(ledger.unwatched(&watcher, &reference), None);
        assert_eq!(ledger.fires(first), None);
        assert_eq!(ledger.fires(second), Some(theirs(2)));
        assert_eq!(ledger.fires(second), None);
    }

    #[test]
    fn what_is_lost_is_told_once() {
        let mut ledger = Ledger::default();
        let node = purlin::Node::builder().workers(1).build().expect("a node");
        let name = LocalProcess::from(&node.spawn(async |_: purlin::Process<()>| ()));
        ledger.link(local(1), theirs(1).watcher, name.clone());
        ledger.link(local(1), theirs(1).watcher, name);
        ledger.watch(MonitorRef::from_number(1), local(1), theirs(1).watched);
        ledger.watched(MonitorRef::from_number(2), local(2), theirs(2));
        let lost = ledger.lose();
        assert_eq!(lost.links.len(), 1);
        assert_eq!(lost.ours, [(local(1), MonitorRef::from_number(1))]);
        assert_eq!(lost.theirs, [(local(2), MonitorRef::from_number(2))]);
        let again = ledger.lose();
        assert!(again.links.is_empty() && again.ours.is_empty() && again.theirs.is_empty());
    }
}
