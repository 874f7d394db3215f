//! Registration and look-up of names (N1).

use crate::node::context::with_context;
use crate::node::erlang_types::Peer;
use crate::node::names::Names;
use crate::node::state::NodeState;
use crate::process::process_ref::ToProcess;
use crate::signals::signal::Signal;
use crate::{LookupError, Name, Node, Pid, Process, ProcessId, RegisterError};

impl Names {
    /// Registers a live process that has no name.
    fn register(&self, name: &str, peer: Peer) -> Result<(), RegisterError> {
        let (id, slot) = (ProcessId::of(&peer), peer.slot());
        let mut claim = self.claim(Name::from(name))?;
        if peer.has_ended() {
            return Err(RegisterError::NoProcess(id));
        }
        if let Some(name) = claim.name_of(slot) {
            return Err(RegisterError::HasName { id, name });
        }
        claim.give_to(peer.clone());
        drop(claim);
        peer.signal(Signal::Named).map_err(|_| {
            self.release(slot);
            RegisterError::NoProcess(id)
        })
    }

    fn whereis<M: Send + 'static>(&self, name: &str) -> Result<Pid<M>, LookupError> {
        let peer = self.find(name).ok_or_else(|| LookupError::NoName(Name::from(name)))?;
        Pid::typed(peer)
    }
}

/// Registers a process of the current node under a name (N1). The end of the process frees the
/// name.
///
/// ```
/// # use purlin::{Process, Reply, register, spawn, whereis};
/// # #[purlin::main] async fn main() {
/// let echo = spawn(async |mut me: Process<(u32, Reply<u32>)>| {
///     let (n, reply) = me.receive().await;
///     reply.send(n);
/// });
/// register("echo", &echo).expect("the name is free");
/// let found = whereis::<(u32, Reply<u32>)>("echo").expect("it lives");
/// assert_eq!(found.call(|reply| (7, reply)).await, Ok(7));
/// # }
/// ```
///
/// # Errors
/// Returns [`RegisterError`] if the name is invalid or taken, if the process has ended or already
/// has a name, or if this thread runs no process.
///
/// COST: a lock that is held for a look-up; two allocations.
pub fn register(name: &str, process: impl ToProcess) -> Result<(), RegisterError> {
    let peer = process.find().0.ok_or(RegisterError::NoProcess(process.id()))?;
    with_context(|here| register_on(here.node_core.state(), name, peer))
        .unwrap_or(Err(RegisterError::NoNode))
}

fn register_on(node_state: &NodeState, name: &str, peer: Peer) -> Result<(), RegisterError> {
    if peer.shared().creation != node_state.creation {
        return Err(RegisterError::NoProcess(ProcessId::of(&peer)));
    }
    node_state.names.register(name, peer)
}

/// Frees a name of the current node. Returns whether a live process had the name.
pub fn unregister(name: &str) -> bool {
    with_context(|here| here.node_core.state().names.unregister(name)).unwrap_or(false)
}

/// Returns the process with this name on the current node.
///
/// # Errors
/// Returns [`LookupError`] if no process has the name, if it receives messages of another type, or
/// if this thread runs no process, as in a task of tokio: use [`Node::whereis`] there.
pub fn whereis<M: Send + 'static>(name: &str) -> Result<Pid<M>, LookupError> {
    with_context(|here| here.node_core.state().names.whereis(name))
        .unwrap_or(Err(LookupError::NoNode))
}

/// Returns the registered names of the current node, sorted.
pub fn registered() -> Vec<Name> {
    with_context(|here| here.node_core.state().names.all()).unwrap_or_default()
}

impl<M: Send + 'static> Process<M> {
    /// Registers this process under a name; see [`register`].
    ///
    /// # Errors
    /// As [`register`].
    pub fn register(&self, name: &str) -> Result<(), RegisterError> {
        register(name, &self.pid())
    }
}

impl Node {
    /// [`register`] on this node, from any thread.
    ///
    /// # Errors
    /// As [`register`].
    pub fn register<M: Send + 'static>(
        &self,
        name: &str,
        pid: &Pid<M>,
    ) -> Result<(), RegisterError> {
        register_on(self.node_state(), name, pid.address().clone().untyped())
    }

    /// [`unregister`] on this node, from any thread.
    pub fn unregister(&self, name: &str) -> bool {
        self.node_state().names.unregister(name)
    }

    /// [`whereis`] on this node, from any thread.
    ///
    /// # Errors
    /// As [`whereis`].
    pub fn whereis<M: Send + 'static>(&self, name: &str) -> Result<Pid<M>, LookupError> {
        self.node_state().names.whereis(name)
    }

    /// [`registered`] on this node, from any thread.
    pub fn registered(&self) -> Vec<Name> {
        self.node_state().names.all()
    }
}
