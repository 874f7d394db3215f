//! Table of monitors and spawn requests over one connection. Pure.
//!
//! Each end stores its own monitors. This table stores what must be signalled to local processes when the connection is
//! lost, and the local number of each remote monitor.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use purlin::remote::LocalProcess;
use purlin::{MonitorRef, ProcessId};
use purlin_dist_protocol::control::Named;
use purlin_term::{Pid, Reference};

use crate::cluster::spawn::pending::PendingRequest;

/// A monitor of a local process, held by a remote one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteMonitor {
    pub(crate) watcher: Pid,
    pub(crate) reference: Reference,
    /// The monitored process or name, as the remote node gave it.
    pub(crate) watched: Named,
}

/// A monitor of a remote process, held by a local one.
#[derive(Debug)]
pub(crate) struct LocalMonitor {
    pub(crate) watcher: ProcessId,
    /// The proxy by which the watcher monitors; the sender of the down signal.
    pub(crate) proxy: LocalProcess,
    pub(crate) watched: Named,
}

/// Monitors and spawn requests over a connection.
#[derive(Debug, Default)]
pub(crate) struct MonitorTable {
    /// The connection is lost; nothing more is recorded.
    lost: bool,
    /// Monitors held by local processes.
    ours: HashMap<MonitorRef, LocalMonitor>,
    theirs: HashMap<MonitorRef, (ProcessId, RemoteMonitor)>,
    by_reference: HashMap<(Pid, Reference), MonitorRef>,
    /// Monitors by a name, by the remote process that holds them. No set is empty.
    by_name: HashMap<Pid, BTreeSet<MonitorRef>>,
    /// Outgoing spawn requests.
    asked: HashMap<MonitorRef, PendingRequest>,
}

/// Signals to deliver to local processes when the connection is lost.
#[derive(Default)]
pub(crate) struct LostRelations {
    pub(crate) ours: Vec<(MonitorRef, LocalMonitor)>,
    pub(crate) theirs: Vec<(ProcessId, MonitorRef)>,
}

impl MonitorTable {
    /// A local process monitors a remote one. Returns `None` if the connection is lost.
    pub(crate) fn watch(&mut self, monitor: MonitorRef, ours: LocalMonitor) -> Option<()> {
        (!self.lost).then(|| drop(self.ours.insert(monitor, ours)))
    }

    /// Removes and returns a local monitor that was cancelled or fires.
    pub(crate) fn unwatch(&mut self, monitor: MonitorRef) -> Option<LocalMonitor> {
        self.ours.remove(&monitor)
    }

    /// A local process requests a spawn. Returns `None` if the connection is lost.
    pub(crate) fn asks(&mut self, request: MonitorRef, asked: PendingRequest) -> Option<()> {
        (!self.lost).then(|| drop(self.asked.insert(request, asked)))
    }

    /// Removes a spawn request, which is answered once.
    pub(crate) fn answered(&mut self, request: MonitorRef) -> Option<PendingRequest> {
        self.asked.remove(&request)
    }

    /// A remote process monitors a local one. Returns `false` for a duplicate or if the connection is lost.
    pub(crate) fn watched(
        &mut self,
        monitor: MonitorRef,
        of: ProcessId,
        theirs: RemoteMonitor,
    ) -> bool {
        let key = (theirs.watcher.clone(), theirs.reference.clone());
        if self.lost || self.by_reference.contains_key(&key) {
            return false;
        }
        if let Named::Name(_) = theirs.watched {
            self.by_name.entry(theirs.watcher.clone()).or_default().insert(monitor);
        }
        self.by_reference.insert(key, monitor);
        self.theirs.insert(monitor, (of, theirs));
        true
    }

    /// The remote process cancels its monitor. Returns our number for it, the monitored process, and the monitor.
    pub(crate) fn unwatched(
        &mut self,
        watcher: &Pid,
        reference: &Reference,
    ) -> Option<(MonitorRef, ProcessId, RemoteMonitor)> {
        let monitor = *self.by_reference.get(&(watcher.clone(), reference.clone()))?;
        let (of, theirs) = self.remove_theirs(monitor)?;
        Some((monitor, of, theirs))
    }

    /// The local process that the remote one monitors.
    pub(crate) fn monitored(&self, watcher: &Pid, reference: &Reference) -> Option<ProcessId> {
        let monitor = self.by_reference.get(&(watcher.clone(), reference.clone()))?;
        self.theirs.get(monitor).map(|(of, _)| *of)
    }

    /// The remote processes that monitor a local one, each once per monitor. COST: a scan of all monitors.
    pub(crate) fn watchers_of(&self, ours: ProcessId) -> Vec<Pid> {
        let its = self.theirs.values().filter(|(of, _)| *of == ours);
        its.map(|(_, theirs)| theirs.watcher.clone()).collect()
    }

    /// The newest monitor of the remote process by a name.
    pub(crate) fn newest_by_name(&self, watcher: &Pid) -> Option<Reference> {
        let (_, newest) = self.theirs.get(self.by_name.get(watcher)?.last()?)?;
        Some(newest.reference.clone())
    }

    /// Removes a remote monitor. Returns the monitored process and the monitor.
    pub(crate) fn remove_theirs(
        &mut self,
        monitor: MonitorRef,
    ) -> Option<(ProcessId, RemoteMonitor)> {
        let (of, theirs) = self.theirs.remove(&monitor)?;
        self.by_reference.remove(&(theirs.watcher.clone(), theirs.reference.clone()));
        if let Entry::Occupied(mut monitors) = self.by_name.entry(theirs.watcher.clone()) {
            monitors.get_mut().remove(&monitor);
            if monitors.get().is_empty() {
                monitors.remove();
            }
        }
        Some((of, theirs))
    }

    /// Marks the connection as lost. Returns all signals to deliver, once.
    pub(crate) fn lose(&mut self) -> LostRelations {
        let all = std::mem::replace(self, Self { lost: true, ..Self::default() });
        let mut lost = LostRelations::default();
        lost.ours.extend(all.ours);
        lost.theirs.extend(all.theirs.into_iter().map(|(monitor, (of, _))| (of, monitor)));
        lost
    }
}

#[cfg(test)]
mod tests {
    use purlin_term::Atom;

    use super::*;

    fn theirs(n: u32) -> RemoteMonitor {
        let node = Atom::from_static("b@h");
        let watcher = Pid { node: node.clone(), id: n, serial: 0, creation: 1 };
        let reference = Reference::new(node, 1, &[n, 0, 0]).expect("three words");
        RemoteMonitor { watcher, reference, watched: Named::Name(Atom::from_static("shop")) }
    }

    fn local(n: u32) -> ProcessId {
        ProcessId::from_parts(n, 0, 7).expect("a slot")
    }

    // D1: it fires at most once, cancelled or not.
    #[test]
    fn remote_monitor_fires_at_most_once_and_not_after_demonitor() {
        let mut monitor_table = MonitorTable::default();
        let [first, second] = [1, 2].map(MonitorRef::from_number);
        assert!(monitor_table.watched(first, local(1), theirs(1)));
        assert!(monitor_table.watched(second, local(1), theirs(2)));
        assert!(
            !monitor_table.watched(MonitorRef::from_number(3), local(1), theirs(2)),
            "duplicate"
        );
        let RemoteMonitor { watcher, reference, .. } = theirs(1);
        assert_eq!(
            monitor_table.unwatched(&watcher, &reference),
            Some((first, local(1), theirs(1)))
        );
        assert_eq!(monitor_table.unwatched(&watcher, &reference), None);
        assert_eq!(monitor_table.remove_theirs(first), None);
        assert_eq!(monitor_table.remove_theirs(second), Some((local(1), theirs(2))));
        assert_eq!(monitor_table.remove_theirs(second), None);
    }

    #[test]
    fn the_newest_monitor_by_name_is_found_among_those_of_its_watcher() {
        let mut monitor_table = MonitorTable::default();
        let monitor = |reference: u32, by_name: bool| {
            let RemoteMonitor { watcher, reference, watched } =
                RemoteMonitor { watcher: theirs(1).watcher, ..theirs(reference) };
            let watched = if by_name { watched } else { Named::Pid(watcher.clone()) };
            RemoteMonitor { watcher, reference, watched }
        };
        let all = [monitor(1, true), monitor(2, true), monitor(3, false), theirs(4)];
        for (number, theirs) in (1..).zip(all) {
            assert!(monitor_table.watched(MonitorRef::from_number(number), local(1), theirs));
        }
        let newest = monitor_table.newest_by_name(&theirs(1).watcher);
        assert_eq!(newest.as_ref(), Some(&theirs(2).reference));
        assert_eq!(
            monitor_table.monitored(&theirs(1).watcher, &theirs(2).reference),
            Some(local(1))
        );
        assert_eq!(monitor_table.newest_by_name(&theirs(5).watcher), None);
        // A monitor that fires or is cancelled is no longer found.
        assert!(monitor_table.remove_theirs(MonitorRef::from_number(2)).is_some());
        let newest = monitor_table.newest_by_name(&theirs(1).watcher);
        assert_eq!(newest.as_ref(), Some(&theirs(1).reference));
        assert!(monitor_table.unwatched(&theirs(1).watcher, &theirs(1).reference).is_some());
        assert_eq!(monitor_table.newest_by_name(&theirs(1).watcher), None);
        assert!(monitor_table.by_name.keys().eq([&theirs(4).watcher]), "no empty set is kept");
    }

    // Quadratic work, 4 * 10^10 comparisons, would not end in the time of a test.
    #[test]
    fn finding_the_newest_monitor_by_name_does_not_examine_the_others() {
        let mut monitor_table = MonitorTable::default();
        let all = 200_000;
        for n in 1..=all {
            let theirs = RemoteMonitor { watcher: theirs(1).watcher, ..theirs(n) };
            let monitor = MonitorRef::from_number(n.into());
            assert!(monitor_table.watched(monitor, local(1), theirs));
        }
        for n in (1..=all).rev() {
            let newest = monitor_table.newest_by_name(&theirs(1).watcher).expect("one is left");
            assert_eq!(newest, theirs(n).reference);
            assert!(monitor_table.unwatched(&theirs(1).watcher, &newest).is_some());
        }
        assert_eq!(monitor_table.newest_by_name(&theirs(1).watcher), None);
    }

    fn proxy(node: &purlin::Node) -> LocalProcess {
        LocalProcess::from(&node.spawn(async |_: purlin::Process<()>| ()))
    }

    #[test]
    fn loss_is_signalled_once_and_nothing_is_recorded_after_it() {
        let mut monitor_table = MonitorTable::default();
        let node = purlin::Node::builder().workers(1).build().expect("a node");
        let first = proxy(&node);
        let ours = || {
            let (watcher, proxy) = (local(1), first.clone());
            LocalMonitor { watcher, proxy, watched: theirs(1).watched }
        };
        assert!(monitor_table.watch(MonitorRef::from_number(1), ours()).is_some());
        assert!(monitor_table.watched(MonitorRef::from_number(2), local(2), theirs(2)));
        let lost = monitor_table.lose();
        let [(monitor, fires)] = &lost.ours[..] else { panic!("{:?}", lost.ours) };
        assert_eq!((*monitor, fires.watcher), (MonitorRef::from_number(1), local(1)));
        assert_eq!(lost.theirs, [(local(2), MonitorRef::from_number(2))]);
        assert!(monitor_table.watch(MonitorRef::from_number(3), ours()).is_none());
        assert!(!monitor_table.watched(MonitorRef::from_number(4), local(2), theirs(2)));
        let again = monitor_table.lose();
        assert!(again.ours.is_empty() && again.theirs.is_empty());
    }
}
