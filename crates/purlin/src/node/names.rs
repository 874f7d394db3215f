//! Registered names of processes (N1).
//!
//! The node keeps the maps of both directions under one lock, which is held for a look-up and never
//! while user code runs. A signal informs the process that it has a name, so that its end frees the
//! name before it sends any signal. Until the name is freed, a look-up finds that the process has
//! ended.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin_raw::Slot;

use crate::node::context::{NodeState, with_context};
use crate::process::process_ref::ToProcess;
use crate::signals::signal::{Peer, Signal};
use crate::{LookupError, Node, Pid, Process, ProcessId};

/// Maximum length in characters, as for Erlang's atoms.
const LONGEST: usize = 255;

/// Registered name of a process.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<Box<str>>); // WHY: boxed, so that a name is one word.

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(Arc::new(name.into()))
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Error of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is invalid: a name has 1 to 255 characters, and is not `undefined`.
    BadName(String),
    /// Another process has the name.
    Taken {
        /// The requested name.
        name: Name,
        /// The process that has the name.
        by: ProcessId,
    },
    /// The process already has a name.
    HasName {
        /// The process.
        id: ProcessId,
        /// The name that it has.
        name: Name,
    },
    /// The process has ended, or belongs to another node.
    NoProcess(ProcessId),
    /// This thread runs no process, so there is no current node.
    NoNode,
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName(name) => write!(
                f,
                "{name:?} cannot be the name of a process: use 1 to {LONGEST} characters, and not \
                 \"undefined\""
            ),
            Self::Taken { name, by } => write!(f, "process {by} has the name {name:?}"),
            Self::HasName { id, name } => write!(f, "process {id} already has the name {name:?}"),
            Self::NoProcess(id) => write!(f, "noproc: process {id} has ended"),
            Self::NoNode => f.write_str("this thread runs no process; use Node::register"),
        }
    }
}

impl std::error::Error for RegisterError {}

/// Table of the registered names of a node.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<Tables>);

#[derive(Debug, Default)]
struct Tables {
    processes: HashMap<Name, Peer>,
    names: HashMap<Slot, Name>,
}

/// Reservation of a free name, which no other process can take meanwhile.
pub(crate) struct Claim<'a> {
    tables: MutexGuard<'a, Tables>,
    name: Name,
    /// Previous holder, which has ended. WHY: dropped after the lock, because dropping it may drop
    /// an exit reason, which is user code.
    before: Option<Peer>,
}

impl Claim<'_> {
    /// Gives the name to a process that has none.
    pub(crate) fn give_to(&mut self, peer: Peer) {
        self.tables.names.insert(peer.slot(), self.name.clone());
        self.before = self.tables.processes.insert(self.name.clone(), peer);
    }
}

impl Names {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        // WHY: no code panics under the lock, so it is never poisoned.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the live process with this name.
    pub(crate) fn find(&self, name: &str) -> Option<Peer> {
        self.lock().processes.get(name).filter(|peer| !peer.has_ended()).cloned()
    }

    /// Returns the name of a process.
    pub(crate) fn of(&self, slot: Slot) -> Option<Name> {
        self.lock().names.get(&slot).cloned()
    }

    /// Calls `take` with the position and the name of each slot that has a name.
    pub(crate) fn of_each(
        &self,
        slots: impl Iterator<Item = Option<Slot>>,
        mut take: impl FnMut(usize, &Name),
    ) {
        let mut found = Vec::new();
        let tables = self.lock();
        for (at, slot) in slots.enumerate() {
            found.extend(
                slot.and_then(|slot| tables.names.get(&slot)).map(|name| (at, name.clone())),
            );
        }
        drop(tables);
        found.iter().for_each(|(at, name)| take(*at, name));
    }

    fn all(&self) -> Vec<Name> {
        let tables = self.lock();
        let live = tables.processes.iter().filter(|(_, peer)| !peer.has_ended());
        let mut names: Vec<_> = live.map(|(name, _)| name.clone()).collect();
        drop(tables);
        names.sort_unstable();
        names
    }

    /// Frees the name of a process that has ended.
    pub(crate) fn release(&self, slot: Slot) {
        let mut tables = self.lock();
        let Some(name) = tables.names.remove(&slot) else { return };
        // WHY: another process may have taken the name since this one ended.
        let gone = match tables.processes.get(&name) {
            Some(peer) if peer.slot() == slot => tables.processes.remove(&name),
            _ => None,
        };
        drop(tables);
        drop(gone);
    }

    fn unregister(&self, name: &str) -> bool {
        let mut tables = self.lock();
        let Some(peer) = tables.processes.remove(name) else { return false };
        tables.names.remove(&peer.slot());
        drop(tables);
        !peer.has_ended()
    }

    /// Reserves a name for a process about to be spawned. Look-ups wait until the claim is dropped.
    pub(crate) fn claim(&self, name: Name) -> Result<Claim<'_>, RegisterError> {
        if !(1..=LONGEST).contains(&name.chars().count()) || &*name == "undefined" {
            return Err(RegisterError::BadName(name.chars().take(LONGEST).collect()));
        }
        let tables = self.lock();
        let holder = tables.processes.get(&name).filter(|holder| !holder.has_ended());
        match holder.map(ProcessId::of) {
            Some(by) => Err(RegisterError::Taken { name, by }),
            None => Ok(Claim { tables, name, before: None }),
        }
    }

    fn register(&self, name: &str, peer: Peer) -> Result<(), RegisterError> {
        let (id, slot) = (ProcessId::of(&peer), peer.slot());
        let mut claim = self.claim(Name::from(name))?;
        if peer.has_ended() {
            return Err(RegisterError::NoProcess(id));
        }
        if let Some(name) = claim.tables.names.get(&slot).cloned() {
            return Err(RegisterError::HasName { id, name });
        }
        claim.give_to(peer.clone());
        drop(claim);
        peer.signal(Signal::Named).map_err(|_| {
            self.release(slot);
            RegisterError::NoProcess(id)
        })
    }

    pub(crate) fn whereis<M: Send + 'static>(&self, name: &str) -> Result<Pid<M>, LookupError> {
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
/// Returns [`LookupError`] if no process has the name, or if it receives messages of another type.
pub fn whereis<M: Send + 'static>(name: &str) -> Result<Pid<M>, LookupError> {
    with_context(|here| here.node_core.state().names.whereis(name))
        .unwrap_or_else(|| Err(LookupError::NoName(Name::from(name))))
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
