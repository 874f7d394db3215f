//! Name synchronization of the server with another node: the protocol from `init_connect` to `new_nodes`.

use std::sync::Arc;

use purlin::{Process, SpawnOptions};
use purlin_dist_protocol::NodeName;
use purlin_term::Term;

use super::mail::{ClientMail, Job, Mail, Them};
use super::messages::{atom, cast, node, send_if_connected};
use super::resolve;
use super::server::{NameSync, Server, VERSION};

impl Server {
    pub(super) fn current(&mut self, node: &NodeName, mine: i64) -> Option<&mut NameSync> {
        self.syncs.get_mut(node).filter(|sync| sync.mine == mine)
    }

    pub(super) fn up(&mut self, node: NodeName) {
        if self.known.contains_key(&node) || self.syncs.contains_key(&node) {
            return;
        }
        self.tags += 1;
        let mine = self.tags;
        let locker = self.core.ids.pid(self.locker.id());
        let locker = tagged!("locker", Term::atom("no_longer_a_pid"), Term::NIL, locker);
        let version = Term::tuple([VERSION, mine].map(Term::from));
        cast(&self.core, &node, tagged!("init_connect", version, self.us(), locker));
        self.syncs.insert(node, NameSync { mine, ..NameSync::default() });
    }

    pub(super) fn init_connect(
        &mut self,
        node: NodeName,
        version: i64,
        his: &Term,
        locker: &purlin_term::Pid,
    ) -> Option<()> {
        if self.syncs.get(&node)?.his.is_some() {
            // The peer has restarted, and must learn that this node restarts, too.
            self.send_cancel(&node, his);
            self.begin_again(node.clone())?;
        }
        let sync = self.syncs.get_mut(&node)?;
        sync.his = Some(his.clone());
        let mine = sync.mine;
        let them = Them { node: node.clone(), locker: locker.clone(), mine, his: his.clone() };
        self.locker.send(ClientMail::Job(Job::Them(them)));
        if version >= VERSION {
            let ack = tagged!("init_connect_ack", self.us(), his.clone(), mine);
            send_if_connected(&self.core, &node, ack);
        }
        Some(())
    }

    pub(super) fn lock_is_set(&mut self, node: &NodeName, mine: i64, lock: Term) {
        let us = self.us();
        let Some(sync) = self.current(node, mine) else {
            return self.cancel_locker(node.clone(), mine, Vec::new());
        };
        sync.lock = Some(lock);
        let (his, theirs) = (sync.his.clone().unwrap_or(Term::NIL), sync.names.take());
        cast(&self.core, node, tagged!("exchange", us, self.names.list(), Term::NIL, his));
        if let Some(names) = theirs {
            self.resolve(node.clone(), names);
        }
    }

    /// Resolves conflicts between the peer's names and ours.
    pub(super) fn resolve(&mut self, node: NodeName, theirs: Vec<Term>) {
        let Some(mine) = self.syncs.get(&node).map(|sync| sync.mine) else { return };
        let (here, conflicts) = resolve::compare(&self.names, theirs);
        if conflicts.is_empty() || self.core.ids.name > node {
            // The node with the lesser name decides.
            return self.exchanged(&node, mine, here, Vec::new());
        }
        let (core, server) = (Arc::clone(&self.core), self.me.pid());
        let decides = async move |me: Process<ClientMail>| {
            let (here, there) = resolve::decide(me, core, conflicts, here).await;
            server.send(Mail::Resolved { node, mine, here, there });
        };
        // If the process limit is reached, no decision is made, and the two nodes do not synchronize.
        let _ = SpawnOptions::new().spawn_on(&self.core.ids.node, decides);
    }

    pub(super) fn exchanged(
        &mut self,
        node: &NodeName,
        mine: i64,
        here: Vec<Term>,
        there: Vec<Term>,
    ) {
        let (us, known) = (self.us(), self.known_list());
        let Some(sync) = self.current(node, mine) else { return };
        sync.here = Some(here);
        let his = sync.his.clone().unwrap_or(Term::NIL);
        let (there, unused) = (Term::List(there), Term::atom("unused"));
        cast(&self.core, node, tagged!("resolved", us, there, known, unused, Term::NIL, his));
        self.together(node);
    }

    /// Completes the synchronization if both sides have sent their changes.
    pub(super) fn together(&mut self, node: &NodeName) -> Option<()> {
        let sync = self.syncs.get(node)?;
        if sync.here.is_none() || sync.resolved.is_none() {
            return None;
        }
        let sync = self.syncs.remove(node)?;
        let (mut changes, (there, theirs)) = (sync.here?, sync.resolved?);
        changes.extend(there);
        let version = Term::tuple([atom(node), Term::from(VERSION)]);
        let nodes: Vec<_> = std::iter::once(version).chain(theirs.iter().cloned()).collect();
        let extra = Term::list([tagged!("vsn", VERSION), tagged!("lock", sync.lock?)]);
        let (changed, listed) = (Term::List(changes.clone()), Term::List(nodes.clone()));
        let new = tagged!("new_nodes", self.us(), changed, Term::NIL, listed, extra);
        let then = self.known.keys().map(|known| (known.clone(), new.clone())).collect();
        self.change(&changes);
        let added = self.add_known(&nodes);
        let others: Vec<_> = added.iter().filter(|other| *other != node).cloned().collect();
        self.greet(&others);
        for other in others {
            if let Some(begun) = self.syncs.remove(&other) {
                self.cancel_locker(other, begun.mine, Vec::new());
            }
        }
        self.cancel_locker(node.clone(), sync.mine, then);
        self.locker.send(ClientMail::Job(Job::Known(added)));
        Some(())
    }

    /// Adds nodes to the known ones. Returns those that were not known.
    pub(super) fn add_known(&mut self, nodes: &[Term]) -> Vec<NodeName> {
        let mut added = Vec::new();
        for known in nodes {
            let (name, version) = match known.as_tuple() {
                Some([name, version]) => (node(name), version.as_integer().unwrap_or(0)),
                _ => (node(known), 0),
            };
            let Some(name) = name.filter(|name| *name != self.core.ids.name) else { continue };
            if self.known.insert(name.clone(), version).is_none() {
                added.push(name);
            }
        }
        added
    }

    /// Connects to nodes that are synchronized with ours. One that cannot be reached is reported to the server.
    pub(super) fn greet(&self, nodes: &[NodeName]) {
        for node in nodes {
            if self.core.connection(node).is_some() {
                self.in_sync(node);
                continue;
            }
            let (core, server, node) = (Arc::clone(&self.core), self.me.pid(), node.clone());
            self.core.runtime.spawn(async move {
                let is_there = core.connect(&node).await.is_ok();
                server.send(Mail::Tried { node, is_there });
            });
        }
    }

    fn in_sync(&self, node: &NodeName) {
        cast(&self.core, node, tagged!("in_sync", self.us(), true));
    }

    /// The attempt to connect to an announced node has ended. WHY it is then forgotten if it is not there: when it
    /// connects, it must be synchronized.
    pub(super) fn tried(&mut self, node: &NodeName, is_there: bool) {
        if !self.known.contains_key(node) {
            return;
        }
        // It may have connected meanwhile.
        if is_there || self.core.connection(node).is_some() {
            self.in_sync(node);
        } else {
            self.gone(node, false);
        }
    }

    pub(super) fn cancel_locker(&self, node: NodeName, mine: i64, then: Vec<(NodeName, Term)>) {
        self.locker.send(ClientMail::Job(Job::Cancel { node, mine, then }));
    }

    pub(super) fn send_cancel(&self, node: &NodeName, his: &Term) {
        let cancel = tagged!("cancel_connect", self.us(), his.clone());
        send_if_connected(&self.core, node, cancel);
    }

    /// Cancels the synchronization with a node and starts it again.
    pub(super) fn begin_again(&mut self, node: NodeName) -> Option<()> {
        let sync = self.syncs.remove(&node)?;
        self.cancel_locker(node.clone(), sync.mine, Vec::new());
        self.up(node);
        Some(())
    }
}
