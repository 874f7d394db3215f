//! What a program shows besides its node: its cluster and its servers.
//!
//! Any thread puts something up; the page reads. Nothing that is up is kept alive by it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use purlin_ack::server::Watch;
use purlin_dist::cluster::WeakCluster;

/// What a program shows besides its node.
#[derive(Default)]
pub(crate) struct Board {
    /// Where the page is, once it is.
    pub(crate) opened: OnceLock<Opened>,
    shown: Mutex<Shown>,
}

/// Where the page is.
pub(crate) struct Opened {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
}

#[derive(Clone, Default)]
pub(crate) struct Shown {
    pub(crate) cluster: Option<WeakCluster>,
    pub(crate) servers: BTreeMap<String, Watch>,
}

impl Board {
    fn shown(&self) -> MutexGuard<'_, Shown> {
        // WHY: nothing can panic while it is locked, so it is never half-changed.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn show_cluster(&self, cluster: WeakCluster) {
        self.shown().cluster = Some(cluster);
    }

    pub(crate) fn show_server(&self, name: String, server: Watch) {
        self.shown().servers.insert(name, server);
    }

    /// What is up now.
    pub(crate) fn read(&self) -> Shown {
        self.shown().clone()
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Board")
    }
}
