//! `global` on a published node: names that all nodes of a cluster know, and the cluster held together.
//!
//! Nodes of the BEAM expect of a published one that it answers `global`: that it takes part in their locks, keeps
//! their names, tells of nodes that it loses, and connects to those that they know. This does so, in version 8 of the
//! protocol, which is that of OTP 25 and later; older ones are answered as far as theirs is the same.
//!
//! The server is a process of the node's, `global_name_server`, and so is the locker, which waits for others in its
//! stead. Both end when the node leaves.
//!
//! | file | role |
//! |---|---|
//! | `server.rs` | who is together with us, what is locked and who has which name |
//! | `meeting.rs` | how the server comes together with a node |
//! | `locker.rs` | locks on all nodes, and two parts of a cluster that come together |
//! | `locks.rs`, `lost.rs` | locks that are held here; lost connections that are told of; pure |
//! | `resolve.rs` | names that both parts have |
//! | `speech.rs` | what servers say to each other |

mod locker;
mod locks;
mod lost;
mod meeting;
mod resolve;
mod server;
mod speech;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use purlin::{ExitReason, MonitorRef, Pid, Process, ProcessId, SpawnOptions};
use purlin_term::{Atom, Term};
use serde::Serialize;

use self::locker::{Asker, Job, Locker, chance};
use self::server::{Mail, Server};
use self::speech::Post;
use super::core::Core;
use super::nodes::NodeChange;
use super::{Cluster, written};
use crate::control::Named;
use crate::name::NodeName;

/// The name of the server.
const SERVER: &str = "global_name_server";

/// The processes that answer `global`, and what they know.
#[derive(Debug)]
pub(super) struct Global {
    server: Pid<Mail>,
    locker: Pid<Post<Job>>,
    names: Arc<Names>,
}

/// Who has which name.
#[derive(Debug, Default)]
struct Names(RwLock<HashMap<Term, Entry>>);

#[derive(Debug)]
struct Entry {
    pid: purlin_term::Pid,
    method: Term,
    monitor: MonitorRef,
}

impl Names {
    /// Who has a name, and by which method it is decided who keeps it.
    fn find(&self, name: &Term) -> Option<(purlin_term::Pid, Term)> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(name).map(|entry| (entry.pid.clone(), entry.method.clone()))
    }

    fn of(&self, pid: &purlin_term::Pid) -> Option<Term> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(_, entry)| entry.pid == *pid).map(|(name, _)| name.clone())
    }

    /// All of them, as they are told to others.
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

    /// Takes a name away: the monitor of who had it.
    fn delete(&self, name: &Term) -> Option<MonitorRef> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(name).map(|entry| entry.monitor)
    }
}

impl Global {
    /// Begins to answer; `None` if there is no room for its processes, or their name is taken.
    pub(super) fn start(core: &Arc<Core>) -> Option<Self> {
        let node = &core.ids.node;
        core.decodes(|term| Ok(Mail::Term(term)));
        core.decodes(|term| Ok(Post::<Job>::Term(term)));
        let names = Arc::<Names>::default();
        let (give, server) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(core);
        let locker = node.try_spawn(async move |me: Process<Post<Job>>| {
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

    /// The node leaves.
    pub(super) fn end(&self) {
        self.server.exit(ExitReason::Kill);
        self.locker.exit(ExitReason::Kill);
    }
}

/// Why a process has not got a global name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotRegistered {
    /// Somebody has the name.
    Taken,
    /// The process has that name already, and can have but one.
    Named(Term),
    /// This node is not published, or no process could be made for it.
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
    /// Gives a process of this node a name that all nodes of the cluster know, `global:register_name`: an atom as a
    /// rule. It has it until it ends, or [`Cluster::unregister_global`] takes it away. The node has to be
    /// [published](super::Builder::published).
    ///
    /// When two parts of a cluster come together and both have the name, one of the two processes is killed.
    ///
    /// *Cancellation*: dropping the future does not take the request back.
    ///
    /// # Errors
    /// [`NotRegistered`] says why it has not got it.
    ///
    /// COST: three round trips to each node, one after the other.
    pub async fn register_global(
        &self,
        name: Term,
        process: ProcessId,
    ) -> Result<(), NotRegistered> {
        let act = Act::Register(name, self.term_of(process));
        self.alone(act).await.unwrap_or(Err(NotRegistered::NotPublished)).map(drop)
    }

    /// Takes a global name away from whoever has it: `global:unregister_name`. Whether somebody had it; nobody, if the
    /// node is not published. Cancellation and cost are those of [`Cluster::register_global`].
    pub async fn unregister_global(&self, name: Term) -> bool {
        matches!(self.alone(Act::Unregister(name)).await, Some(Ok(true)))
    }

    /// The process that has a global name, wherever it is, if its messages are of type `M`: `global:whereis_name`. A
    /// published node knows the names itself; any other knows none.
    #[must_use]
    pub fn whereis_global<M: Serialize + Send + 'static>(&self, name: &Term) -> Option<Pid<M>> {
        let core = self.core();
        let (pid, _) = core.global.get()?.names.find(name)?;
        match core.ids.ours(&pid) {
            Some(ours) => core.ids.node.local_process(ours)?.pid().ok(),
            None => {
                let node = pid.node.as_str().parse().ok()?;
                core.stand_in_for(node, Named::Pid(pid), || Arc::new(written::<M>))
            }
        }
    }

    /// Waits until this node is together with all published nodes that it is connected to, so that it knows their
    /// names, and they know its: `global:sync`. At once if it is not published.
    ///
    /// *Cancellation*: nothing is lost.
    pub async fn sync_global(&self) {
        if let Some(global) = self.core().global.get() {
            let (waits, done) = tokio::sync::oneshot::channel();
            global.server.send(Mail::Sync(waits));
            // It is not answered if the node leaves.
            let _ = done.await;
        }
    }

    /// Does something while no other node changes names; `None` if it cannot be done.
    async fn alone(&self, act: Act) -> Option<Result<bool, NotRegistered>> {
        let core = Arc::clone(self.core());
        let global = core.global.get()?;
        let (server, names) = (global.server.clone(), Arc::clone(&global.names));
        let (told, result) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(&core);
        let spawned = core.ids.node.try_spawn(async move |me: Process<Post<Job>>| {
            let id = Term::from(inside.ids.pid(me.id()));
            let id = Term::tuple([Term::atom("global"), id]);
            let mut asker = Asker { me, core: inside, server };
            let nodes = asker.lock_all(&id).await;
            let result = asker.act(act, &names, &nodes).await;
            asker.unlock(&id, &nodes).await;
            // Whoever asked may have given up.
            let _ = told.send(result);
        });
        spawned.ok()?;
        result.await.ok()
    }
}

/// What is done with a name on all nodes.
enum Act {
    Register(Term, purlin_term::Pid),
    Unregister(Term),
}

impl Asker<Job> {
    /// With all nodes locked; whether somebody had the name.
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

    /// Locks all nodes that are together with ours; says which.
    async fn lock_all(&mut self, id: &Term) -> Vec<NodeName> {
        let mut longest = 100;
        loop {
            let mut nodes = self.known().await;
            if self.lock(id, &mut nodes).await {
                // None has come meanwhile.
                if self.known().await.iter().all(|node| nodes.contains(node)) {
                    return nodes;
                }
                self.unlock(id, &nodes).await;
            }
            // CLOCK: so that of several who want it one comes first.
            let pause = Duration::from_millis(u64::from(chance() % longest));
            tokio::time::sleep(pause).await;
            longest = (2 * longest).min(8000);
        }
    }

    async fn known(&mut self) -> Vec<NodeName> {
        let us = self.core.ids.name.clone();
        let known = self.ask(&us, Term::atom("get_known")).await;
        let known = known.as_ref().and_then(Term::as_list).unwrap_or_default();
        let name = |known: &Term| speech::node(known.as_tuple()?.first()?);
        known.iter().filter_map(name).chain([us.clone()]).collect()
    }
}
