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
//! | `messages.rs`, `mail.rs` | messages between servers; message types |
//! | `handle.rs` | handle to the processes, and the table of names |

pub(super) mod handle;
mod locker;
mod locks;
mod lost;
mod mail;
mod messages;
mod name_sync;
mod resolve;
mod server;

use std::sync::Arc;
use std::time::Duration;

use purlin::{Pid, Process, ProcessId, SpawnOptions};
use purlin_dist_protocol::NodeName;
use purlin_term::Term;
use serde::Serialize;

use self::handle::{Global, Names, SERVER};
use self::locker::{Asker, Locker, chance};
use self::mail::{ClientMail, Mail};
use self::server::Server;
use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::net_kernel::nodes::NodeChange;
use crate::cluster::rpc::offer::Offer;

impl Global {
    /// Starts the processes. Returns `None` if the process limit is reached, or the name of the server is taken.
    pub(super) fn start(core: &Arc<Core>) -> Option<Self> {
        let node = &core.ids.node;
        core.decodes(|term| Ok(Mail::Term(term)));
        core.decodes(|term| Ok(ClientMail::Term(term)));
        let names = Arc::<Names>::default();
        let (give, server) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(core);
        let locker = SpawnOptions::new().spawn_on(node, async move |me: Process<ClientMail>| {
            if let Ok(server) = server.await {
                let asker = Asker { me, core: inside, server };
                Locker { asker, them: Vec::new(), known: Vec::new() }.run().await;
            }
        });
        let locker = locker.ok()?;
        let (inside, to_locker, known) = (Arc::clone(core), locker.clone(), Arc::clone(&names));
        let options = SpawnOptions::new().name(SERVER);
        let server = options.spawn_on(node, async move |me: Process<Mail>| {
            Server::new(inside, me, to_locker, known).run().await;
        });
        let server = server.ok()?;
        let _ = give.send(server.clone());
        Offer(core).at_once("global", "resolve_it", 4, resolve::resolve_it);
        let to_server = server.clone();
        core.nodes.add(move |node, change| {
            match change {
                NodeChange::Up { visible: true } => to_server.send(Mail::Up(node.clone())),
                NodeChange::Down { visible: true } => to_server.send(Mail::Gone(node.clone())),
                _ => {}
            }
            to_server.is_alive()
        });
        Some(Self { server, locker, names })
    }
}

/// The reason why a process was not registered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRegistered {
    /// Another process has the name.
    #[error("a process of the cluster has that name")]
    Taken,
    /// The process has this name already. A process can have only one.
    #[error("the process has the name {0} already")]
    Named(Term),
    /// This node is not published, or the process limit is reached.
    #[error("the node takes no part in `global`: `Builder::published` has it do so")]
    NotPublished,
}

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
        let registered = self.alone(name, Some(self.term_of(process))).await;
        registered.unwrap_or(Err(NotRegistered::NotPublished)).map(drop)
    }

    /// Removes a global name, as `global:unregister_name` does. Returns whether the name existed; `false` if the node
    /// is not published. Cancellation and cost are those of [`Cluster::register_global`].
    pub async fn unregister_global(&self, name: Term) -> bool {
        matches!(self.alone(name, None).await, Some(Ok(true)))
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
            None => core.typed_proxy(&pid),
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

    /// Registers a process, or removes the name, with all nodes locked. Returns whether a process had the name; `None`
    /// if the nodes cannot be locked.
    async fn alone(
        &self,
        name: Term,
        pid: Option<purlin_term::Pid>,
    ) -> Option<Result<bool, NotRegistered>> {
        let core = Arc::clone(self.core());
        let global = core.global.get()?;
        let (server, names) = (global.server.clone(), Arc::clone(&global.names));
        let (sender, result) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(&core);
        let asks = async move |me: Process<ClientMail>| {
            let id = tagged!("global", inside.ids.pid(me.id()));
            let mut asker = Asker { me, core: inside, server };
            let nodes = asker.lock_all(&id).await;
            let result = asker.change(name, pid, &names, &nodes).await;
            asker.unlock(&id, &nodes).await;
            // The caller may have been cancelled.
            let _ = sender.send(result);
        };
        SpawnOptions::new().spawn_on(&core.ids.node, asks).ok()?;
        result.await.ok()
    }
}

impl Asker {
    /// Registers a process, or removes the name. Returns whether a process had the name.
    async fn change(
        &mut self,
        name: Term,
        pid: Option<purlin_term::Pid>,
        names: &Names,
        nodes: &[NodeName],
    ) -> Result<bool, NotRegistered> {
        let had = names.find(&name).is_some();
        let request = match pid {
            Some(_) if had => return Err(NotRegistered::Taken),
            Some(pid) => match names.of(&pid) {
                Some(other) => return Err(NotRegistered::Named(other)),
                None => tagged!("register", name, pid, resolve::method()),
            },
            None if !had => return Ok(false),
            None => tagged!("unregister", name),
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
