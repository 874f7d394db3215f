//! Registry of what the page shows in addition to the node: cluster and servers.
//!
//! Any thread may register; the page reads. The registry holds no node, cluster or server: a weak reference to
//! the cluster, and the counters of each server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use purlin_ack::server::Watch;
use purlin_dist::cluster::WeakCluster;

/// Cluster and servers shown by the page.
#[derive(Default)]
pub(crate) struct Board {
    /// Address of the page, once it is open.
    pub(crate) opened: OnceLock<Opened>,
    shown: Mutex<Shown>,
}

/// Address of the open page.
pub(crate) struct Opened {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
}

/// The cluster and the servers, by name.
#[derive(Clone, Default)]
pub(crate) struct Shown {
    pub(crate) cluster: Option<WeakCluster>,
    pub(crate) servers: BTreeMap<String, Watch>,
}

impl Board {
    fn shown(&self) -> MutexGuard<'_, Shown> {
        // WHY poisoning is ignored: nothing can panic while the lock is held, so the state is
        // consistent.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn show_cluster(&self, cluster: WeakCluster) {
        self.shown().cluster = Some(cluster);
    }

    pub(crate) fn show_server(&self, name: String, server: Watch) {
        self.shown().servers.insert(name, server);
    }

    /// Returns what is registered now.
    pub(crate) fn read(&self) -> Shown {
        self.shown().clone()
    }
}
