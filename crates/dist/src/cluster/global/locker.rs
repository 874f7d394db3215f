//! The locker of `global`: acquires locks on all nodes, to register names and to merge two partitions.
//!
//! A lock is first requested from the greatest node, so that of two competing requesters one fails at the first node. A
//! requester that is refused by a node releases the locks it has, and retries after a random delay.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Pid, Process, receive};
use purlin_dist_protocol::NodeName;
use purlin_term::{Atom, Term};

use super::handle::SERVER;
use super::mail::{ClientMail, Job, Mail, Them};
use super::messages::{atom, cast};
use crate::cluster::core::Core;
use crate::cluster::rpc::call::ask;

/// A process that calls the servers of all nodes.
pub(super) struct Asker {
    pub(super) me: Process<ClientMail>,
    pub(super) core: Arc<Core>,
    /// The server of this node.
    pub(super) server: Pid<Mail>,
}

impl Asker {
    /// Calls the server of a node. Returns `None` if the node is disconnected.
    pub(super) async fn ask(&mut self, node: &NodeName, request: Term) -> Option<Term> {
        let (me, core) = (&mut self.me, &self.core);
        let answer = if *node == core.ids.name {
            ask(me, core, &self.server, request, Duration::MAX).await
        } else {
            let server = core.named(Atom::from_static(SERVER), node)?;
            ask(me, core, &server, request, Duration::MAX).await
        };
        answer.ok()
    }

    /// Requests a lock on all given nodes, the greatest first; on failure releases those acquired. Skips disconnected
    /// nodes.
    pub(super) async fn lock(&mut self, id: &Term, nodes: &mut Vec<NodeName>) -> bool {
        nodes.sort_unstable_by(|a, b| b.cmp(a));
        nodes.dedup();
        for (index, node) in nodes.iter().enumerate() {
            let asked = self.ask(node, tagged!("set_lock", id.clone())).await;
            if asked.is_some_and(|answer| answer.as_bool() == Some(false)) {
                self.give_back(id, nodes[..index].iter()).await;
                return false;
            }
        }
        true
    }

    async fn give_back(&mut self, id: &Term, nodes: impl Iterator<Item = &NodeName>) {
        for node in nodes {
            self.ask(node, tagged!("del_lock", id.clone())).await;
        }
    }

    /// Releases the lock, on the greatest node last.
    pub(super) async fn unlock(&mut self, id: &Term, nodes: &[NodeName]) {
        self.give_back(id, nodes.iter().rev()).await;
    }
}

/// The locker: merges our partition with others, one at a time.
pub(super) struct Locker {
    pub(super) asker: Asker,
    pub(super) them: Vec<Them>,
    pub(super) known: Vec<NodeName>,
}

impl Locker {
    pub(super) async fn run(mut self) {
        loop {
            let job = if self.them.is_empty() {
                Some(self.asker.me.receive().await)
            } else {
                // CLOCK: OTP's locker waits between 0.2 and 3 s; the random delay lets one of two purlin nodes start
                // first.
                let delay = Duration::from_millis(300 + u64::from(chance() % 1200));
                receive!(self.asker.me, { job => Some(job), after delay => None })
            };
            match job {
                Some(ClientMail::Job(job)) => self.take(job).await,
                // A late answer.
                Some(_) => {}
                None => self.begin().await,
            }
        }
    }

    async fn take(&mut self, job: Job) {
        match job {
            Job::Them(them) => self.them.push(them),
            Job::LockSet { set: false, .. } => {}
            Job::LockSet { node, mine, set: true } => {
                let found = self.them.iter().find(|them| them.node == node && them.mine == mine);
                if let Some(them) = found.cloned() {
                    self.join(them).await;
                }
            }
            Job::Cancel { node, mine, then } => self.cancel(&node, mine, then),
            Job::Known(nodes) => self.known.extend(nodes),
            Job::Unknown(node) => self.known.retain(|known| *known != node),
        }
    }

    fn cancel(&mut self, node: &NodeName, mine: i64, then: Vec<(NodeName, Term)>) {
        for (node, what) in then {
            cast(&self.asker.core, &node, what);
        }
        self.them.retain(|them| them.node != *node || them.mine != mine);
    }

    /// The id of the lock that both lockers use: their pids in Erlang term order.
    fn lock_id(&self, them: &Them) -> Term {
        let own = Term::from(self.asker.core.ids.pid(self.asker.me.id()));
        let mut lockers = [own, Term::from(them.locker.clone())];
        lockers.sort_by(Term::compare);
        tagged!("global", Term::list(lockers))
    }

    fn send_lock_set(&self, them: &Them, set: bool) {
        let own = self.asker.core.ids.pid(self.asker.me.id());
        let known = Term::list(self.known.iter().map(atom));
        let set = tagged!("lock_set", own, set, known, them.his.clone());
        cast(&self.asker.core, &them.node, set);
    }

    /// The peer's locker has locked its partition and this node; now locks our partition.
    async fn join(&mut self, them: Them) {
        let id = self.lock_id(&them);
        let mut nodes = self.known.clone();
        nodes.push(self.asker.core.ids.name.clone());
        let set = self.asker.lock(&id, &mut nodes).await;
        self.send_lock_set(&them, set);
        if set {
            self.exchange(&them, &id, &nodes).await;
        }
    }

    /// No peer has started: locks our partition and the peer's node, and lets the peer's locker lock the rest.
    async fn begin(&mut self) {
        let known = &self.known;
        self.them.retain(|them| !known.contains(&them.node));
        if self.them.is_empty() {
            return;
        }
        let them = self.them[chance() as usize % self.them.len()].clone();
        let id = self.lock_id(&them);
        let mut nodes = self.known.clone();
        nodes.extend([self.asker.core.ids.name.clone(), them.node.clone()]);
        if !self.asker.lock(&id, &mut nodes).await {
            return;
        }
        self.send_lock_set(&them, true);
        let (node, mine) = (&them.node, them.mine);
        let set = receive!(self.asker.me, {
            ClientMail::Job(Job::LockSet { node: of, mine: by, set }) if of == *node && by == mine => {
                Ok(set)
            },
            ClientMail::Job(Job::Cancel { node: of, mine: by, then }) if of == *node && by == mine => {
                Err(then)
            },
        });
        match set {
            Ok(true) => return self.exchange(&them, &id, &nodes).await,
            Ok(false) => {}
            Err(then) => self.cancel(&them.node, them.mine, then),
        }
        self.asker.unlock(&id, &nodes).await;
    }

    /// Both partitions are locked. The servers exchange their names, then the lock is released.
    async fn exchange(&mut self, them: &Them, id: &Term, nodes: &[NodeName]) {
        let (node, mine) = (&them.node, them.mine);
        self.asker.server.send(Mail::LockIsSet { node: node.clone(), mine, lock: id.clone() });
        let then = receive!(self.asker.me, {
            ClientMail::Job(Job::Cancel { node: of, mine: by, then }) if of == *node && by == mine => then,
        });
        self.cancel(node, mine, then);
        self.asker.unlock(id, nodes).await;
    }
}

/// A random number.
pub(super) fn chance() -> u32 {
    getrandom::u32().unwrap_or_default()
}
