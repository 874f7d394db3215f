//! `global` on a published node: cluster-wide names, and prevention of overlapping partitions.
//!
//! BEAM nodes expect a published node to take part in `global`: to grant locks, keep names, report lost nodes, and
//! connect to the nodes that others know. This module does so in version 8 of the protocol, that of OTP 25 and later.
//! Nodes with an older version are served as far as the protocols agree.
//!
//! The server is a process of the node, `global_name_server`. The locker is another one, which does the waiting for the
//! server. Both end when the node leaves the cluster.
//!
//! | file | role |
//! |---|---|
//! | `server.rs` | the server: known nodes, locks and names |
//! | `name_sync.rs` | name synchronization of the server with another node |
//! | `locker.rs` | locks on all nodes, and the merge of two partitions |
//! | `locks.rs`, `lost.rs` | locks held here; reports of lost connections; pure |
//! | `resolve.rs` | resolution of name conflicts |
//! | `messages.rs` | messages between servers |

mod locker;
mod locks;
mod lost;
mod messages;
mod name_sync;
mod resolve;
mod server;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use purlin::{ExitReason, MonitorRef, Pid, Process, ProcessId, SpawnOptions};
use purlin_term::{Atom, Term};
use serde::Serialize;

use self::locker::{Asker, Job, Locker, chance};
use self::messages::ClientMail;
use self::server::{Mail, Server};
use super::core::Core;
use super::nodes::NodeChange;
use super::{Cluster, written};
use crate::control::Named;
use crate::name::NodeName;

/// Registered name of the server.
const SERVER: &str = "global_name_server";

/// Handle to the processes of `global`, and their table of names.
#[derive(Debug)]
pub(super) struct Global {
    server: Pid<Mail>,
    locker: Pid<ClientMail<Job>>,
    names: Arc<Names>,
}

/// Global names and their processes.
#[derive(Debug, Default)]
struct Names(RwLock<HashMap<Term, Entry>>);

#[derive(Debug)]
struct Entry {
    pid: purlin_term::Pid,
    method: Term,
    monitor: MonitorRef,
}

impl Names {
    /// The process with a name, and the method that resolves conflicts over it.
    fn find(&self, name: &Term) -> Option<(purlin_term::Pid, Term)> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(name).map(|entry| (entry.pid.clone(), entry.method.clone()))
    }

    fn of(&self, pid: &purlin_term::Pid) -> Option<Term> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(_, entry)| entry.pid == *pid).map(|(name, _)| name.clone())
    }

    /// All names, in the format of the protocol.
    fn list(&self) -> Term {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let entry = |(name, entry): (&Term, &Entry)| {
            Term::tuple([name.clone(), Term::from(entry.pid.clone()), entry.method.clone()])
        };
        Term::list(all.iter().map(entry))
    }

    fn insert(&self, name: Term, pid: purlin_term::Pid, method: Term, monitor: MonitorRef) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(name, Entry { pid, method, monitor });
    }

    /// Removes a name. Returns the monitor of its process.
    fn delete(&self, name: &Term) -> Option<MonitorRef> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(name).map(|entry| entry.monitor)
    }
}

impl Global {
    /// Starts the processes. Returns `None` if the process limit is reached, or the name of the server is taken.
    pub(super) fn start(core: &Arc<Core>) -> Option<Self> {
        let node = &core.ids.node;
        core.decodes(|term| Ok(Mail::Term(term)));
        core.decodes(|term| Ok(ClientMail::<Job>::Term(term)));
        let names = Arc::<Names>::default();
        let (give, server) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(core);
        let locker = node.try_spawn(async move |me: Process<ClientMail<Job>>| {
            if let Ok(server) = server.await {
                let asker = Asker { me, core: inside, server };
                Locker { asker, them: Vec::new(), known: Vec::new() }.run().await;
            }
        });
        let locker = locker.ok()?;
        let (inside, tells, known) = (Arc::clone(core), locker.clone(), Arc::clone(&names));
        let options = SpawnOptions::new().name(SERVER);
        let server = node.spawn_opt(options, async move |me: Process<Mail>| {
            Server::new(inside, me, tells, known).run().await;
        });
        let server = server.ok()?;
        let _ = give.send(server.clone());
        let inside = Arc::downgrade(core);
        core.exports.insert(
            Atom::from_static("global"),
            Atom::from_static("resolve_it"),
            4,
            move |_, arguments| {
                let core = inside.upgrade();
                let gone = || Err(Term::atom("noproc"));
                std::future::ready(
                    core.map_or_else(gone, |core| resolve::resolve_it(&core, &arguments)),
                )
            },
        );
        let tells = server.clone();
        core.nodes.add(move |node, change| {
            match change {
                NodeChange::Up { visible: true } => tells.send(Mail::Up(node.clone())),
                NodeChange::Down { visible: true } => tells.send(Mail::Gone(node.clone())),
                _ => {}
            }
            tells.is_alive()
        });
        Some(Self { server, locker, names })
    }

    /// Ends the processes when the node leaves.
    pub(super) fn end(&self) {
        self.server.exit(ExitReason::Kill);
        self.locker.exit(ExitReason::Kill);
    }
}

/// The reason why a process was not registered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotRegistered {
    /// Another process has the name.
    Taken,
    /// The process has this name already. A process can have only one.
    Named(Term),
    /// This node is not published, or the process limit is reached.
    NotPublished,
}

impl fmt::Display for NotRegistered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("a process of the cluster has that name"),
            Self::Named(name) => write!(f, "the process has the name {name} already"),
            Self::NotPublished => {
                f.write_str("the node takes no part in `global`: `Builder::published` has it do so")
            }
        }
    }
}

impl std::error::Error for NotRegistered {}

impl Cluster {
    /// Registers a process of this node under a cluster-wide name, as `global:register_name` does; the name is usually
    /// an atom. The process keeps it until it ends or [`Cluster::unregister_global`] removes the name. The node must be
    /// [published](super::Builder::published).
    ///
    /// If two partitions with the same name merge, one of the two processes is killed.
    ///
    /// *Cancellation*: dropping the future does not withdraw the request.
    ///
    /// # Errors
    /// [`NotRegistered`]: the reason.
    ///
    /// COST: three round trips to each node, one node after the other.
    pub async fn register_global(
        &self,
        name: Term,
        process: ProcessId,
    ) -> Result<(), NotRegistered> {
        let act = Act::Register(name, self.term_of(process));
        self.alone(act).await.unwrap_or(Err(NotRegistered::NotPublished)).map(drop)
    }

    /// Removes a global name, as `global:unregister_name` does. Returns whether the name existed; `false` if the node
    /// is not published. Cancellation and cost are those of [`Cluster::register_global`].
    pub async fn unregister_global(&self, name: Term) -> bool {
        matches!(self.alone(Act::Unregister(name)).await, Some(Ok(true)))
    }

    /// Returns the process with a global name, local or remote, as `global:whereis_name` does. Returns `None` if a
    /// local process's messages are not of type `M`. A published node has the table of names; on other nodes the result
    /// is always `None`.
    #[must_use]
    pub fn whereis_global<M: Serialize + Send + 'static>(&self, name: &Term) -> Option<Pid<M>> {
        let core = self.core();
        let (pid, _) = core.global.get()?.names.find(name)?;
        match core.ids.ours(&pid) {
            Some(ours) => core.ids.node.local_process(ours)?.pid().ok(),
            None => {
                let node = pid.node.as_str().parse().ok()?;
                core.typed_proxy(node, Named::Pid(pid), || Arc::new(written::<M>))
            }
        }
    }

    /// Waits until this node is synchronized with all published nodes it is connected to, so that all know each other's
    /// names, as `global:sync` does. Returns immediately if this node is not published.
    ///
    /// *Cancellation*: nothing is lost.
    pub async fn sync_global(&self) {
        if let Some(global) = self.core().global.get() {
            let (waits, done) = tokio::sync::oneshot::channel();
            global.server.send(Mail::Sync(waits));
            // There is no answer if the node leaves.
            let _ = done.await;
        }
    }

    /// Performs an operation with all nodes locked. Returns `None` if it cannot be performed.
    async fn alone(&self, act: Act) -> Option<Result<bool, NotRegistered>> {
        let core = Arc::clone(self.core());
        let global = core.global.get()?;
        let (server, names) = (global.server.clone(), Arc::clone(&global.names));
        let (told, result) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(&core);
        let spawned = core.ids.node.try_spawn(async move |me: Process<ClientMail<Job>>| {
            let id = Term::from(inside.ids.pid(me.id()));
            let id = Term::tuple([Term::atom("global"), id]);
            let mut asker = Asker { me, core: inside, server };
            let nodes = asker.lock_all(&id).await;
            let result = asker.act(act, &names, &nodes).await;
            asker.unlock(&id, &nodes).await;
            // The caller may have been cancelled.
            let _ = told.send(result);
        });
        spawned.ok()?;
        result.await.ok()
    }
}

/// An operation on a name, performed on all nodes.
enum Act {
    Register(Term, purlin_term::Pid),
    Unregister(Term),
}

impl Asker<Job> {
    /// Performs the operation with all nodes locked. Returns whether a process had the name.
    async fn act(
        &mut self,
        act: Act,
        names: &Names,
        nodes: &[NodeName],
    ) -> Result<bool, NotRegistered> {
        let had = match &act {
            Act::Register(name, _) | Act::Unregister(name) => names.find(name).is_some(),
        };
        let request = match act {
            Act::Register(..) if had => return Err(NotRegistered::Taken),
            Act::Register(name, pid) => {
                if let Some(other) = names.of(&pid) {
                    return Err(NotRegistered::Named(other));
                }
                let entry = [Term::atom("register"), name, Term::from(pid), resolve::method()];
                Term::tuple(entry)
            }
            Act::Unregister(_) if !had => return Ok(false),
            Act::Unregister(name) => Term::tuple([Term::atom("unregister"), name]),
        };
        for node in nodes {
            self.ask(node, request.clone()).await;
        }
        Ok(had)
    }

    /// Locks all nodes synchronized with ours, and returns them.
    async fn lock_all(&mut self, id: &Term) -> Vec<NodeName> {
        let mut longest = 100;
        loop {
            let mut nodes = self.known().await;
            if self.lock(id, &mut nodes).await {
                // No node was added meanwhile.
                if self.known().await.iter().all(|node| nodes.contains(node)) {
                    return nodes;
                }
                self.unlock(id, &nodes).await;
            }
            // CLOCK: a random delay, so that one of several competing requesters comes first.
            let pause = Duration::from_millis(u64::from(chance() % longest));
            tokio::time::sleep(pause).await;
            longest = (2 * longest).min(8000);
        }
    }

    async fn known(&mut self) -> Vec<NodeName> {
        let us = self.core.ids.name.clone();
        let known = self.ask(&us, Term::atom("get_known")).await;
        let known = known.as_ref().and_then(Term::as_list).unwrap_or_default();
        let name = |known: &Term| messages::node(known.as_tuple()?.first()?);
        known.iter().filter_map(name).chain([us.clone()]).collect()
    }
}
