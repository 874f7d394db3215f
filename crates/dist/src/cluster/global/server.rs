//! The server of `global` on a published node: known nodes, locks and names.
//!
//! It is registered under the name of Erlang's server and speaks version 8 of its protocol. Two nodes that connect
//! perform the following steps, each towards the other:
//!
//! | message | sender | effect |
//! |---|---|---|
//! | `init_connect` | the server, when the node connects | the lockers know each other |
//! | `lock_set` | the locker that has set the lock, then the other in return | both partitions are locked |
//! | `exchange` | the server, with its names | conflicting names are resolved |
//! | `resolved` | the server, with the peer's changes and its known nodes | the nodes are synchronized |
//! | `new_nodes` | the server, to the nodes already synchronized with it | the lock is released |
//!
//! A node that is announced by another one receives `in_sync`: it is already synchronized with ours. If it cannot be
//! reached, it is forgotten.

use std::collections::HashMap;
use std::sync::Arc;

use purlin::{MonitorRef, Pid, Process};
use purlin_dist_protocol::NodeName;
use purlin_term::{Atom, Term};
use tokio::sync::oneshot;

use super::handle::Names;
use super::locker::chance;
use super::locks::Locks;
use super::lost::Lost;
use super::mail::{ClientMail, Job, Mail};
use super::messages::{atom, node, send_if_connected};
use crate::cluster::core::Core;
use crate::cluster::rpc::gen_call::{GenCall, cast};

/// Protocol version.
pub(super) const VERSION: i64 = 8;

/// Purpose of a monitor: the process of a name, or the holder of a lock.
enum Watched {
    Name(Term),
    Holder,
}

/// State of the synchronization with one node.
#[derive(Debug, Default)]
pub(super) struct NameSync {
    /// Our tag of this attempt.
    pub(super) mine: i64,
    /// The peer's tag, once known.
    pub(super) his: Option<Term>,
    /// The lock, once our locker has set it.
    pub(super) lock: Option<Term>,
    /// The peer's names, if they arrived before our locker was done.
    pub(super) names: Option<Vec<Term>>,
    /// Changes to apply here, once resolved.
    pub(super) here: Option<Vec<Term>>,
    /// The peer's changes to apply here, and the nodes synchronized with it.
    pub(super) resolved: Option<(Vec<Term>, Vec<Term>)>,
}

/// State of the server process of `global`.
pub(super) struct Server {
    pub(super) core: Arc<Core>,
    pub(super) me: Process<Mail>,
    pub(super) locker: Pid<ClientMail>,
    pub(super) names: Arc<Names>,
    locks: Locks,
    pub(super) syncs: HashMap<NodeName, NameSync>,
    /// Nodes synchronized with ours, and their protocol versions.
    pub(super) known: HashMap<NodeName, i64>,
    watched: HashMap<MonitorRef, Watched>,
    lost: Lost,
    /// The last tag given to an attempt.
    pub(super) tags: i64,
    /// Callers of `sync_global`, which wait until no synchronization is in progress.
    waiting: Vec<oneshot::Sender<()>>,
}

impl Server {
    pub(super) fn new(
        core: Arc<Core>,
        me: Process<Mail>,
        locker: Pid<ClientMail>,
        names: Arc<Names>,
    ) -> Self {
        let life = i64::from(chance() >> 2) << 32 | i64::from(core.ids.creation);
        let (locks, syncs, known, watched) = Default::default();
        let (lost, tags, waiting) = (Lost::new(life), 0, Vec::new());
        Self { core, me, locker, names, locks, syncs, known, watched, lost, tags, waiting }
    }

    pub(super) async fn run(mut self) {
        loop {
            match self.me.receive().await {
                Mail::Term(term) => self.message(term),
                Mail::Down(down) => self.ended(down.monitor),
                Mail::Up(node) => self.up(node),
                Mail::Gone(node) => self.gone(&node, false),
                Mail::Tried { node, is_there } => self.tried(&node, is_there),
                Mail::Sync(waits) => self.waiting.push(waits),
                Mail::LockIsSet { node, mine, lock } => self.lock_is_set(&node, mine, lock),
                Mail::Resolved { node, mine, here, there } => {
                    self.exchanged(&node, mine, here, there);
                }
            }
            if self.syncs.is_empty() {
                for waits in self.waiting.drain(..) {
                    // The caller may have been cancelled.
                    let _ = waits.send(());
                }
            }
        }
    }

    fn message(&mut self, term: Term) {
        match GenCall::try_from(term) {
            Ok(call) => self.call(call),
            // Unknown casts and messages are ignored.
            Err(term) => match cast(term) {
                Ok(cast) => drop(cast.as_tuple().and_then(|parts| self.cast(parts))),
                Err(info) => drop(info.as_tuple().and_then(|parts| self.info(parts))),
            },
        }
    }

    fn call(&mut self, call: GenCall) {
        let answer = match call.request.as_tuple() {
            Some([tag, id]) if tag.is_atom("set_lock") => {
                let Self { locks, core, me, watched, .. } = self;
                let monitor = || {
                    let monitor = watch(core, me, &call.from)?;
                    watched.insert(monitor, Watched::Holder);
                    Some(monitor)
                };
                Term::from(locks.set(id, &call.from, monitor))
            }
            Some([tag, id]) if tag.is_atom("del_lock") => {
                if let Some(monitor) = self.locks.delete(id, &call.from) {
                    self.watched.remove(&monitor);
                    self.me.demonitor(monitor);
                }
                Term::from(true)
            }
            Some([tag, name, Term::Pid(pid), method, ..])
                if tag.is_atom("register") || tag.is_atom("register_ext") =>
            {
                self.insert(name, pid, method);
                Term::atom("yes")
            }
            Some([tag, name]) if tag.is_atom("unregister") => {
                self.delete(name);
                Term::atom("ok")
            }
            _ => match call.request.as_atom().map(Atom::as_str) {
                Some("get_known") => self.known_list(),
                Some("get_synced") => Term::list(self.known.keys().map(atom)),
                Some("get_protocol_version") => Term::from(VERSION),
                Some("get_names_ext") => Term::NIL,
                _ => return,
            },
        };
        self.core.reply(call, answer);
    }

    fn cast(&mut self, parts: &[Term]) -> Option<()> {
        let (tag, parts) = parts.split_first()?;
        match (tag.as_atom()?.as_str(), parts) {
            ("init_connect", [version, from, locker]) => {
                let [version, his, ..] = version.as_tuple()? else { return None };
                let [_, _, _, Term::Pid(locker)] = locker.as_tuple()? else { return None };
                self.init_connect(node(from)?, version.as_integer()?, his, locker)
            }
            ("lock_set", [Term::Pid(locker), set, _, mine @ ..]) => {
                let node = locker.node.as_str().parse().ok()?;
                let current = self.syncs.get(&node)?.mine;
                let mine = mine.first().map_or(Some(current), Term::as_integer)?;
                let set = set.as_bool()?;
                self.locker.send(ClientMail::Job(Job::LockSet { node, mine, set }));
                Some(())
            }
            ("exchange", [from, names, _, mine]) => {
                let (from, names) = (node(from)?, names.as_list()?.to_vec());
                let sync = self.current(&from, mine.as_integer()?)?;
                if sync.lock.is_some() {
                    self.resolve(from, names);
                } else {
                    sync.names = Some(names);
                }
                Some(())
            }
            ("resolved", [from, there, known, _, _, mine]) => {
                let (from, resolved) = (node(from)?, (there.as_list()?, known.as_list()?));
                let sync = self.current(&from, mine.as_integer()?)?;
                sync.resolved = Some((resolved.0.to_vec(), resolved.1.to_vec()));
                self.together(&from)
            }
            ("new_nodes", [_, changes, _, nodes, ..]) => {
                let added = self.add_known(nodes.as_list()?);
                self.greet(&added);
                self.change(changes.as_list()?);
                self.locker.send(ClientMail::Job(Job::Known(added)));
                Some(())
            }
            ("in_sync", [from, _]) => {
                let node = node(from)?;
                let sync = self.syncs.remove(&node)?;
                self.cancel_locker(node, sync.mine, Vec::new());
                Some(())
            }
            _ => None,
        }
    }

    fn info(&mut self, parts: &[Term]) -> Option<()> {
        let (tag, parts) = parts.split_first()?;
        match (tag.as_atom()?.as_str(), parts) {
            ("cancel_connect", [from, mine]) => {
                let (node, mine) = (node(from)?, mine.as_integer()?);
                self.syncs.get(&node).filter(|sync| sync.mine == mine)?;
                self.begin_again(node)
            }
            ("init_connect_ack", [from, mine, his]) => {
                let node = node(from)?;
                let sync = self.syncs.get(&node);
                let is_current = sync.is_some_and(|sync| {
                    Some(sync.mine) == mine.as_integer() && sync.his.as_ref() == Some(his)
                });
                if !is_current {
                    self.send_cancel(&node, his);
                    self.begin_again(node)?;
                }
                Some(())
            }
            ("lost_connection", [of, life, number, to]) => {
                let (of, to) = (node(of)?, node(to)?);
                if !self.lost.is_news(&of, &to, life, number.as_integer()?) {
                    return None;
                }
                let (life, number) = (life.clone(), number.clone());
                let lost = tagged!("lost_connection", atom(&of), life, number, atom(&to));
                self.send_known(&of, &lost);
                let other = if to == self.core.ids.name { of } else { to };
                if self.is_known(&other) {
                    let remove = tagged!("remove_connection", self.us());
                    send_if_connected(&self.core, &other, remove);
                    self.lost.warn(&other, "asked to disconnect");
                    self.gone(&other, true);
                }
                Some(())
            }
            ("remove_connection", [from]) => {
                let from = node(from)?;
                if self.is_known(&from) {
                    if let Some(connection) = self.core.connection(&from) {
                        connection.close();
                    }
                    self.lost.warn(&from, "disconnected");
                    self.gone(&from, true);
                }
                Some(())
            }
            _ => None,
        }
    }

    pub(super) fn us(&self) -> Term {
        Term::Atom(self.core.ids.atom.clone())
    }

    pub(super) fn is_known(&self, node: &NodeName) -> bool {
        let is_pending = |sync: &NameSync| sync.his.is_some();
        self.known.contains_key(node) || self.syncs.get(node).is_some_and(is_pending)
    }

    /// The nodes synchronized with ours, in the format of the protocol.
    pub(super) fn known_list(&self) -> Term {
        let known = self.known.iter();
        Term::list(known.map(|(node, version)| Term::tuple([atom(node), Term::from(*version)])))
    }

    /// Handles the loss of a node, or, if `removed`, the decision to disconnect it.
    pub(super) fn gone(&mut self, node: &NodeName, removed: bool) {
        if let Some(sync) = self.syncs.remove(node) {
            self.cancel_locker(node.clone(), sync.mine, Vec::new());
        }
        self.locker.send(ClientMail::Job(Job::Unknown(node.clone())));
        if let Some((life, number)) = self.lost.notes(node, removed) {
            let lost = tagged!("lost_connection", self.us(), life, number, atom(node));
            self.send_known(node, &lost);
        }
        self.known.remove(node);
    }

    /// Sends a message to all known nodes except `but`.
    fn send_known(&self, but: &NodeName, what: &Term) {
        let pending = self.syncs.iter().filter(|(_, sync)| sync.his.is_some());
        for node in self.known.keys().chain(pending.map(|(node, _)| node)) {
            if node != but {
                send_if_connected(&self.core, node, what.clone());
            }
        }
    }

    /// Applies `{insert, {Name, Pid, Method}}` and `{delete, Name}`.
    pub(super) fn change(&mut self, changes: &[Term]) {
        for change in changes {
            match change.as_tuple() {
                Some([tag, entry]) if tag.is_atom("insert") => {
                    if let Some([name, Term::Pid(pid), method]) = entry.as_tuple() {
                        self.insert(name, pid, method);
                    }
                }
                Some([tag, name]) if tag.is_atom("delete") => self.delete(name),
                _ => {}
            }
        }
    }

    fn insert(&mut self, name: &Term, pid: &purlin_term::Pid, method: &Term) {
        self.delete(name);
        if let Some(monitor) = watch(&self.core, &self.me, pid) {
            self.names.insert(name.clone(), pid.clone(), method.clone(), monitor);
            self.watched.insert(monitor, Watched::Name(name.clone()));
        }
    }

    fn delete(&mut self, name: &Term) {
        if let Some(monitor) = self.names.delete(name) {
            self.watched.remove(&monitor);
            self.me.demonitor(monitor);
        }
    }

    fn ended(&mut self, monitor: MonitorRef) {
        match self.watched.remove(&monitor) {
            Some(Watched::Name(name)) => drop(self.names.delete(&name)),
            Some(Watched::Holder) => self.locks.ended(monitor),
            None => {}
        }
    }
}

/// Monitors a local or remote process.
fn watch(core: &Arc<Core>, me: &Process<Mail>, pid: &purlin_term::Pid) -> Option<MonitorRef> {
    match core.ids.ours(pid) {
        Some(ours) => Some(me.monitor(ours)),
        None => Some(me.monitor(&core.proxy(pid)?)),
    }
}
