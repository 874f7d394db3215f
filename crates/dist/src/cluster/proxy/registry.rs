//! Registry of a cluster's proxies: one for each remote process and message type, as long as it is used.
//!
//! There is no notification when the last `Pid` of a proxy is dropped. So when there are twice as many proxies as were
//! in use after the last sweep, all are checked. Those referenced only by the process table, this registry and
//! themselves receive a request to end. A process that is linked to a proxy, or monitors it, holds a reference.
//!
//! The registry is used under the lock of the cluster's state, which is also where references are handed out. So an
//! unreferenced proxy cannot gain a reference, and all messages to it have arrived before the request to end.
//!
//! COST: a new proxy costs one check of another proxy on average.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};

use purlin::ProcessId;
use purlin::remote::LocalProcess;
use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::control::Named;

/// References to an unused proxy: the process table, this registry, the proxy itself.
const OWN_REFERENCES: u32 = 3;
/// Minimum number of new proxies between two sweeps.
const SWEEP_THRESHOLD: usize = 1024;

/// The proxies of a cluster.
pub(crate) struct Proxies {
    /// By remote process: at most one for each message type without a request to end.
    all: HashMap<(NodeName, Named), Vec<Listed>>,
    count: usize,
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
        Self { all: HashMap::new(), count: 0, sweep_at: SWEEP_THRESHOLD }
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
        self.all.entry(of).or_default().push(Listed { proxy, is_to_end: false });
        self.count += 1;
        let mut unused = Vec::new();
        if self.count < self.sweep_at {
            return unused;
        }
        self.all.retain(|_, all| {
            all.retain(|known| !known.proxy.has_ended());
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
        self.all.drain().flat_map(|(_, all)| all).map(|known| known.proxy).collect()
    }
}
