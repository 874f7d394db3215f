//! Registry of a cluster's proxies: one for each remote process and message type, as long as it is used.
//!
//! There is no notification when the last `Pid` of a proxy is dropped. So when there are twice as many proxies as were
//! in use after the last sweep, all are checked. Those referenced only by the process table, this registry and
//! themselves receive a request to end. A process that is linked to a proxy, or monitors it, holds a reference.
//!
//! The registry is used under the lock of the cluster's state, which is also where references are handed out. So an
//! unreferenced proxy cannot gain a reference, and all messages to it have arrived before the request to end.
//!
//! [`ProxyCounts`] tells without the lock that a process has no proxy, as most callers of local servers.
//!
//! COST: a new proxy costs one check of another proxy on average.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use purlin::ProcessId;
use purlin::remote::LocalProcess;
use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::control::Named;
use purlin_term::Pid;

/// References to an unused proxy: the process table, this registry, the proxy itself.
const OWN_REFERENCES: u32 = 3;
/// Minimum number of new proxies between two sweeps.
const SWEEP_THRESHOLD: usize = 1024;

/// Number of counters of [`ProxyCounts`].
const COUNTERS: usize = 1024;

/// Number of registered proxies of remote pids. Pids whose ids are equal modulo [`COUNTERS`] share a counter.
#[derive(Debug)]
pub(crate) struct ProxyCounts([AtomicU32; COUNTERS]);

impl ProxyCounts {
    fn of(&self, pid: &Pid) -> &AtomicU32 {
        &self.0[pid.id as usize % COUNTERS]
    }

    fn add(&self, process: &Named) {
        if let Named::Pid(pid) = process {
            // ORDER: relaxed: a sender has the proxy's pid from a thread that has added the proxy before.
            self.of(pid).fetch_add(1, Ordering::Relaxed);
        }
    }

    fn remove(&self, process: &Named, proxies: usize) {
        if let Named::Pid(pid) = process {
            // ORDER: release, partner of the acquire below: everything the removed proxies have sent is queued before.
            self.of(pid).fetch_sub(proxies as u32, Ordering::Release);
        }
    }

    /// Whether the process may have proxies. COST: an atomic load.
    pub(crate) fn may_have(&self, pid: &Pid) -> bool {
        self.of(pid).load(Ordering::Acquire) > 0
    }
}

/// The proxies of a cluster.
pub(crate) struct Proxies {
    /// By remote process: at most one for each message type without a request to end.
    all: HashMap<(NodeName, Named), Vec<Listed>>,
    count: usize,
    counts: Arc<ProxyCounts>,
    sweep_at: usize,
}

/// A registered proxy.
struct Listed {
    proxy: LocalProcess,
    /// Requested to end, but possibly with messages still to send.
    is_to_end: bool,
}

impl Proxies {
    pub(crate) fn new() -> Self {
        let counts = Arc::new(ProxyCounts([const { AtomicU32::new(0) }; COUNTERS]));
        Self { all: HashMap::new(), count: 0, counts, sweep_at: SWEEP_THRESHOLD }
    }

    pub(crate) fn counts(&self) -> Arc<ProxyCounts> {
        Arc::clone(&self.counts)
    }

    /// The proxy for a process and message type.
    pub(crate) fn find(&self, of: &(NodeName, Named), message: TypeId) -> Option<LocalProcess> {
        let all = self.all.get(of)?;
        let found = all.iter().find(|known| {
            let proxy = &known.proxy;
            !known.is_to_end && proxy.message_type() == message && !proxy.has_ended()
        });
        found.map(|known| known.proxy.clone())
    }

    /// All proxies of a process that have not ended.
    pub(crate) fn of(&self, process: &(NodeName, Named)) -> Vec<LocalProcess> {
        let all = self.all.get(process).into_iter().flatten().map(|known| &known.proxy);
        all.filter(|proxy| !proxy.has_ended()).cloned().collect()
    }

    /// The remote processes of the given proxies. COST: a scan of all proxies.
    pub(crate) fn remotes_of(
        &self,
        some: &HashSet<ProcessId>,
    ) -> Vec<(ProcessId, NodeName, Named)> {
        let all = self
            .all
            .iter()
            .flat_map(|(process, all)| all.iter().map(move |known| (known.proxy.id(), process)));
        let found = all.filter(|(id, _)| some.contains(id));
        found.map(|(id, (node, process))| (id, node.clone(), process.clone())).collect()
    }

    /// Adds a proxy. Returns the proxies that must be requested to end.
    #[must_use]
    pub(crate) fn add(&mut self, of: (NodeName, Named), proxy: LocalProcess) -> Vec<LocalProcess> {
        self.counts.add(&of.1);
        self.all.entry(of).or_default().push(Listed { proxy, is_to_end: false });
        self.count += 1;
        let mut unused = Vec::new();
        if self.count < self.sweep_at {
            return unused;
        }
        self.all.retain(|(_, process), all| {
            let before = all.len();
            all.retain(|known| !known.proxy.has_ended());
            self.counts.remove(process, before - all.len());
            for known in &mut *all {
                if !known.is_to_end && known.proxy.references() <= OWN_REFERENCES {
                    known.is_to_end = true;
                    unused.push(known.proxy.clone());
                }
            }
            !all.is_empty()
        });
        self.count = self.all.values().map(Vec::len).sum();
        let stay = self.count - unused.len();
        self.sweep_at = self.count + SWEEP_THRESHOLD.max(stay);
        unused
    }

    /// Removes and returns all proxies.
    pub(crate) fn take(&mut self) -> Vec<LocalProcess> {
        self.count = 0;
        let mut taken = Vec::new();
        for ((_, process), all) in self.all.drain() {
            self.counts.remove(&process, all.len());
            taken.extend(all.into_iter().map(|known| known.proxy));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use purlin::{ExitReason, Node, Process};
    use purlin_term::Atom;

    use super::*;

    #[tokio::test]
    async fn a_process_may_have_proxies_until_they_have_ended_and_are_removed() {
        let node = Node::builder().workers(1).build().expect("a node");
        let spawn = || {
            node.spawn(async |mut me: Process<()>| {
                me.receive().await;
            })
        };
        let (ends, lives) = (spawn(), spawn());
        let there: NodeName = "there@h".parse().expect("a name");
        let pid = |id| Pid {
            node: Atom::new(there.as_str()).expect("short"),
            id,
            serial: 0,
            creation: 1,
        };
        let [one, other] = [7, 8].map(pid);
        let mut proxies = Proxies::new();
        let counts = proxies.counts();
        let has = || [&one, &other].map(|pid| counts.may_have(pid));
        let named = Named::Name(Atom::new("name").expect("short"));
        assert!(proxies.add((there.clone(), named), LocalProcess::from(&lives)).is_empty());
        assert_eq!(has(), [false, false]);
        let listed = LocalProcess::from(&ends);
        assert!(proxies.add((there.clone(), Named::Pid(one.clone())), listed).is_empty());
        assert_eq!(has(), [true, false]);
        ends.exit(ExitReason::Kill);
        ends.ended().await;
        assert_eq!(has(), [true, false]);
        // The last one causes a sweep.
        for _ in 2..SWEEP_THRESHOLD {
            let of = (there.clone(), Named::Pid(other.clone()));
            assert!(proxies.add(of, LocalProcess::from(&lives)).is_empty());
        }
        assert_eq!(has(), [false, true]);
        assert_eq!(proxies.take().len(), SWEEP_THRESHOLD - 1);
        assert_eq!(has(), [false, false]);
    }
}
