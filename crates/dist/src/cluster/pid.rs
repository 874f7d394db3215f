//! `serde` for a [`purlin::Pid`] in a message: it crosses as the pid of its process.
//!
//! ```
//! use purlin::Pid;
//! use serde::{Deserialize, Serialize};
//!
//! /// `{price, <<"ACME">>, Pid}`
//! #[derive(Serialize, Deserialize)]
//! #[serde(rename_all = "snake_case")]
//! enum Request {
//!     Price(String, #[serde(with = "purlin_dist::cluster::pid")] Pid<u32>),
//! }
//! ```
//!
//! The pid of a process of this node becomes its external pid, that of a remote process the one that it has on its node.
//! In the other direction, the pid of a process of this node is found with its message type, and that of a remote one
//! like by [`Cluster::pid`]. Messages, calls and answers of a [`Cluster`] are converted so; elsewhere, a pid is an error.
//!
//! COST: to write the pid of a remote process, a scan of all remote processes that this node knows.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use purlin::Pid;
use purlin::remote::{LocalProcess, layer};
use purlin_dist_protocol::control::Named;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::cluster::core::Core;
#[cfg(doc)]
use crate::cluster::handle::Cluster;

thread_local! {
    /// The cluster of a conversion outside of processes.
    static CURRENT: RefCell<Option<Arc<Core>>> = const { RefCell::new(None) };
}

/// Restores the previous cluster.
struct Restore(Option<Arc<Core>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Runs a conversion outside of processes.
pub(in crate::cluster) fn within<R>(core: &Arc<Core>, convert: impl FnOnce() -> R) -> R {
    let _restore = Restore(CURRENT.replace(Some(Arc::clone(core))));
    convert()
}

fn current() -> Result<Arc<Core>, &'static str> {
    let current = CURRENT.with_borrow(Clone::clone);
    let current = current.or_else(|| layer()?.downcast().ok());
    current.ok_or("a pid can be converted in messages of a cluster only")
}

impl Core {
    /// The pid that other nodes know: of a process of this node, or of the remote process of a proxy.
    fn external(&self, process: &LocalProcess) -> Result<purlin_term::Pid, &'static str> {
        if !process.is_proxy() {
            return Ok(self.ids.pid(process.id()));
        }
        let proxies = self.state().proxies.remotes_of(&HashSet::from([process.id()]));
        match proxies.into_iter().next() {
            Some((_, _, Named::Pid(pid))) => Ok(pid),
            Some((_, _, Named::Name(_))) => Err("a remote name has no pid"),
            None => Err("the pid is of another cluster"),
        }
    }
}

/// Writes a pid as that of its process.
///
/// # Errors
/// The pid is not converted in a message of a cluster, or denotes a remote name.
pub fn serialize<M, S>(pid: &Pid<M>, serializer: S) -> Result<S::Ok, S::Error>
where
    M: Send + 'static,
    S: Serializer,
{
    let external = current().and_then(|core| core.external(&LocalProcess::from(pid)));
    external.map_err(ser::Error::custom)?.serialize(serializer)
}

/// Reads the pid of a process that receives messages of type `M`.
///
/// # Errors
/// The term is no pid, the process of this node has ended or receives another type, or the process limit is reached.
pub fn deserialize<'de, M, D>(deserializer: D) -> Result<Pid<M>, D::Error>
where
    M: Serialize + Send + 'static,
    D: Deserializer<'de>,
{
    let external = purlin_term::Pid::deserialize(deserializer)?;
    let core = current().map_err(de::Error::custom)?;
    match core.ids.ours(&external) {
        Some(ours) => {
            let process = core.ids.node.local_process(ours);
            let process = process.ok_or_else(|| de::Error::custom("the process has ended"))?;
            process.pid().map_err(de::Error::custom)
        }
        None => core
            .typed_proxy(&external)
            .ok_or_else(|| de::Error::custom("the process cannot be addressed")),
    }
}
