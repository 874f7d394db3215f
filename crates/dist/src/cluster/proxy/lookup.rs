//! Lookup of proxies: one for each remote process and message type, created at the first use.

use std::any::{Any, TypeId};
use std::collections::HashSet;
use std::sync::{Arc, MutexGuard};

use purlin::remote::LocalProcess;
use purlin::{Pid, ProcessId};
use purlin_term::{Atom, Term};
use serde::Serialize;
use tracing::warn;

use crate::cluster::core::{Core, State};
use crate::cluster::handle::Cluster;
use crate::cluster::proxy::remote::{Encode, PROXY_MAILBOX, Remote};
use crate::protocol::control::Named;
use crate::protocol::name::NodeName;

impl Core {
    /// The proxy that sends signals on behalf of a remote process. Returns `None` if the process limit is reached.
    pub(in crate::cluster) fn proxy(self: &Arc<Self>, of: &purlin_term::Pid) -> Option<Pid<Term>> {
        self.term_proxy(of.node.as_str().parse().ok()?, Named::Pid(of.clone()))
    }

    /// The proxy for a remote process that receives terms.
    fn term_proxy(self: &Arc<Self>, node: NodeName, to: Named) -> Option<Pid<Term>> {
        self.typed_proxy(node, to, || Arc::new(|term, _| Ok(Some(term))))
    }

    /// The proxy, for terms, of a remote registered name.
    pub(in crate::cluster) fn named(
        self: &Arc<Self>,
        name: Atom,
        node: &NodeName,
    ) -> Option<Pid<Term>> {
        self.term_proxy(node.clone(), Named::Name(name))
    }

    /// The proxy of a remote process for messages of type `M`, which become terms by `serde`.
    pub(in crate::cluster) fn serde_proxy<M: Serialize + Send + 'static>(
        self: &Arc<Self>,
        of: &purlin_term::Pid,
    ) -> Option<Pid<M>> {
        let node = of.node.as_str().parse().ok()?;
        self.typed_proxy(node, Named::Pid(of.clone()), || Arc::new(written::<M>))
    }

    /// The proxy of a remote process for messages of type `M`, which `encode` converts to terms.
    pub(in crate::cluster) fn typed_proxy<M: Send + 'static>(
        self: &Arc<Self>,
        node: NodeName,
        to: Named,
        encode: impl FnOnce() -> Encode<M>,
    ) -> Option<Pid<M>> {
        let key = (node, to);
        let state = self.state();
        if let Some(known) = state.proxies.find(&key, TypeId::of::<M>()) {
            return known.pid().ok();
        }
        let own = Arc::default();
        let (node, to) = key.clone();
        let remote = Remote::new(Arc::clone(self), node, to, encode(), Arc::clone(&own));
        let proxy = match self.ids.node.spawn_proxy(PROXY_MAILBOX, remote) {
            Ok(proxy) => proxy,
            Err(error) => {
                warn!("no proxy for a remote process: {error}");
                return None;
            }
        };
        let listed = own.get_or_init(|| LocalProcess::from(&proxy)).clone();
        self.list(state, key, listed);
        Some(proxy)
    }

    /// Adds an existing proxy for a remote process that had none.
    pub(in crate::cluster) fn add_proxy(&self, of: (NodeName, Named), proxy: LocalProcess) {
        self.list(self.state(), of, proxy);
    }

    fn list(&self, mut state: MutexGuard<'_, State>, of: (NodeName, Named), listed: LocalProcess) {
        let mut unused = state.proxies.add(of, listed);
        if state.left {
            unused.extend(state.proxies.take());
        }
        drop(state);
        self.end(unused);
    }
    /// The remote processes that the given local proxies stand for.
    pub(in crate::cluster) fn stand_for(
        &self,
        some: &HashSet<ProcessId>,
    ) -> Vec<(ProcessId, NodeName, Named)> {
        self.state().proxies.remotes_of(some)
    }
}

impl Cluster {
    /// Returns a remote process by its pid, with messages of type `M`. Returns `None` if the process limit is reached,
    /// or the node part of the pid is not a valid node name.
    ///
    /// For a process of this node use [`Node::pid`].
    pub fn pid<M: Serialize + Send + 'static>(&self, of: &purlin_term::Pid) -> Option<Pid<M>> {
        self.core().serde_proxy(of)
    }

    /// Returns a handle to a registered name on a remote node. Each message goes to the process that has the name when
    /// the message arrives; without one it is dropped. A monitor watches the process that has the name when the monitor
    /// arrives (D5). Returns `None` as [`Cluster::pid`] does, and if the name is not a valid atom.
    pub fn named<M: Serialize + Send + 'static>(
        &self,
        name: &str,
        on: &NodeName,
    ) -> Option<Pid<M>> {
        let to = Named::Name(Atom::new(name).ok()?);
        self.core().typed_proxy(on.clone(), to, || Arc::new(written::<M>))
    }
}

/// Appends the encoding of a message to the buffer; returns a [`Term`] unchanged instead.
fn written<M: Serialize + 'static>(
    message: M,
    bytes: &mut Vec<u8>,
) -> Result<Option<Term>, String> {
    let mut message = Some(message);
    if let Some(term) = (&mut message as &mut dyn Any).downcast_mut::<Option<Term>>() {
        return Ok(term.take());
    }
    let Some(message) = message else { return Ok(None) };
    purlin_term::Options::default().write(&message, bytes).map_err(|error| error.to_string())?;
    Ok(None)
}
