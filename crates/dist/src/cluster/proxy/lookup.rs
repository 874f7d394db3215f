//! Lookup of proxies: one for each remote process and message type, created at the first use.

use std::any::TypeId;
use std::sync::{Arc, MutexGuard};

use purlin::Pid;
use purlin::remote::LocalProcess;
use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::control::Named;
use purlin_term::{Atom, Term};
use serde::Serialize;
use tracing::warn;

use crate::cluster::core::{Core, State};
use crate::cluster::handle::Cluster;
use crate::cluster::proxy::remote::{PROXY_MAILBOX, Remote};

impl Core {
    /// The proxy that sends signals on behalf of a remote process. Returns `None` if the process limit is reached.
    pub(crate) fn proxy(self: &Arc<Self>, of: &purlin_term::Pid) -> Option<Pid<Term>> {
        self.typed_proxy(of)
    }

    /// The proxy of a remote process for messages of type `M`.
    pub(crate) fn typed_proxy<M: Serialize + Send + 'static>(
        self: &Arc<Self>,
        of: &purlin_term::Pid,
    ) -> Option<Pid<M>> {
        self.proxy_of((of.node.as_str().parse().ok()?, Named::Pid(of.clone())))
    }

    /// The proxy, for terms, of a remote registered name.
    pub(crate) fn named(self: &Arc<Self>, name: Atom, node: &NodeName) -> Option<Pid<Term>> {
        self.proxy_of((node.clone(), Named::Name(name)))
    }

    fn proxy_of<M: Serialize + Send + 'static>(
        self: &Arc<Self>,
        key: (NodeName, Named),
    ) -> Option<Pid<M>> {
        let state = self.state();
        if let Some(known) = state.proxies.find(&key, TypeId::of::<M>()) {
            return known.pid().ok();
        }
        let own = Arc::default();
        let (node, to) = key.clone();
        let remote = Remote::<M>::new(Arc::clone(self), node, to, Arc::clone(&own));
        let proxy = match self.ids.node.spawn_proxy(PROXY_MAILBOX, remote) {
            Ok(proxy) => proxy,
            Err(error) => {
                // WHY first: a subscriber of the log is user code, and may use the cluster.
                drop(state);
                warn!("no proxy for a remote process: {error}");
                return None;
            }
        };
        let listed = own.get_or_init(|| LocalProcess::from(&proxy)).clone();
        self.list(state, key, listed);
        Some(proxy)
    }

    /// Adds a proxy to the registry.
    pub(crate) fn list(
        &self,
        mut state: MutexGuard<'_, State>,
        of: (NodeName, Named),
        listed: LocalProcess,
    ) {
        let mut unused = state.proxies.add(of, listed);
        if state.left {
            unused.extend(state.proxies.take());
        }
        drop(state);
        self.end(unused);
    }
}

impl Cluster {
    /// Returns a remote process by its pid, with messages of type `M`. Returns `None` if the process limit is reached,
    /// or the node part of the pid is not a valid node name.
    ///
    /// A live process of this node is returned itself if it receives messages of type `M`; otherwise signals to the pid
    /// of a local process are lost.
    pub fn pid<M: Serialize + Send + 'static>(&self, of: &purlin_term::Pid) -> Option<Pid<M>> {
        let ids = &self.core().ids;
        let local = ids.ours(of).and_then(|ours| ids.node.local_process(ours)?.pid().ok());
        local.or_else(|| self.core().typed_proxy(of))
    }

    /// Returns a handle to a registered name on a remote node. Each message goes to the process that has the name when
    /// the message arrives; without one it is dropped. A monitor watches the process that has the name when the monitor
    /// arrives (D5). Returns `None` as [`Cluster::pid`] does, and if the name is not a valid atom.
    ///
    /// A process cannot link to a name, as in Erlang: a link to the handle is answered by an exit signal with the reason
    /// `{badarg, Why}`.
    ///
    /// For a name of this node, returns the process that has the name now, if it receives messages of type `M`. Otherwise
    /// signals to the handle are lost, because a node has no connection to itself; this is logged.
    pub fn named<M: Serialize + Send + 'static>(
        &self,
        name: &str,
        on: &NodeName,
    ) -> Option<Pid<M>> {
        let core = self.core();
        if *on == core.ids.name {
            if let Some(local) = core.local_name(name).and_then(|local| local.pid().ok()) {
                return Some(local);
            }
            let message = std::any::type_name::<M>();
            warn!(
                name,
                message, "no process of this node has this name and message type: signals are lost"
            );
        }
        core.proxy_of((on.clone(), Named::Name(Atom::new(name).ok()?)))
    }
}
