//! Who sets the locks of `global` on all nodes: for names of ours, and to bring two parts of a cluster together.
//!
//! A lock is first asked of the greatest node, so of two who want it one loses at once. Who does not get it on some
//! node gives back what it has, and tries again after a while.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Pid, Process, receive};
use purlin_term::{Atom, Term};

use super::server::Mail;
use super::speech::{Post, ask, atom, cast};
use crate::cluster::core::Core;
use crate::name::NodeName;

/// What the server tells the locker.
#[derive(Debug)]
pub(super) enum Job {
    /// A node that wants to come together with ours.
    Them(Them),
    /// Its locker has got the lock, or has not.
    LockSet {
        node: NodeName,
        mine: i64,
        set: bool,
    },
    /// It is over with a node: what is to be said before the lock is given back.
    Cancel {
        node: NodeName,
        mine: i64,
        then: Vec<(NodeName, Term)>,
    },
    /// Nodes that are together with ours.
    Known(Vec<NodeName>),
    Unknown(NodeName),
}

/// A node that wants to come together with ours.
#[derive(Clone, Debug)]
pub(super) struct Them {
    pub(super) node: NodeName,
    pub(super) locker: purlin_term::Pid,
    /// What ours calls this attempt, and what they do.
    pub(super) mine: i64,
    pub(super) his: Term,
}

/// A process that asks the servers of all nodes.
pub(super) struct Asker<J> {
    pub(super) me: Process<Post<J>>,
    pub(super) core: Arc<Core>,
    /// Our own server.
    pub(super) server: Pid<Mail>,
}

impl<J: Send + 'static> Asker<J> {
    fn us(&self) -> &NodeName {
        &self.core.ids.name
    }

    /// What the server of a node answers; nothing if it is gone.
    pub(super) async fn ask(&mut self, node: &NodeName, request: Term) -> Option<Term> {
        let (me, core) = (&mut self.me, &self.core);
        if *node == core.ids.name {
            return ask(me, core, &self.server, request).await;
        }
        let server = core.named(Atom::from_static(super::SERVER), node)?;
        ask(me, core, &server, request).await
    }

    /// Asks for a lock on some nodes: on all of them, or on none. One that is gone is not needed.
    async fn set(&mut self, id: &Term, nodes: &[NodeName]) -> bool {
        for (place, node) in nodes.iter().enumerate() {
            let asked = self.ask(node, Term::tuple([Term::atom("set_lock"), id.clone()])).await;
            if asked.is_some_and(|answer| answer.as_bool() == Some(false)) {
                self.give_back(id, nodes[..place].iter()).await;
                return false;
            }
        }
        true
    }

    async fn give_back(&mut self, id: &Term, nodes: impl Iterator<Item = &NodeName>) {
        for node in nodes {
            self.ask(node, Term::tuple([Term::atom("del_lock"), id.clone()])).await;
        }
    }

    /// Asks for a lock on these nodes, the greatest first.
    pub(super) async fn lock(&mut self, id: &Term, nodes: &mut Vec<NodeName>) -> bool {
        nodes.sort_unstable_by(|a, b| b.cmp(a));
        nodes.dedup();
        self.set(id, nodes).await
    }

    /// Gives it back, on the greatest last.
    pub(super) async fn unlock(&mut self, id: &Term, nodes: &[NodeName]) {
        self.give_back(id, nodes.iter().rev()).await;
    }
}

/// The locker: brings our part of the cluster together with others, one at a time.
pub(super) struct Locker {
    pub(super) asker: Asker<Job>,
    pub(super) them: Vec<Them>,
    pub(super) known: Vec<NodeName>,
}

impl Locker {
    pub(super) async fn run(mut self) {
        loop {
            let job = if self.them.is_empty() {
                Some(self.asker.me.receive().await)
            } else {
                // CLOCK: theirs wait between 0.2 and 3 s; of two of ours one begins.
                let patience = Duration::from_millis(300 + u64::from(chance() % 1200));
                receive!(self.asker.me, { job => Some(job), after patience => None })
            };
            match job {
                Some(Post::Job(job)) => self.take(job).await,
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

    /// What the lock of us two is called: by both lockers, in Erlang's order.
    fn lock_id(&self, them: &Them) -> Term {
        let own = Term::from(self.asker.core.ids.pid(self.asker.me.id()));
        let mut lockers = [own, Term::from(them.locker.clone())];
        lockers.sort_by(Term::compare);
        Term::tuple([Term::atom("global"), Term::list(lockers)])
    }

    fn tell(&self, them: &Them, set: bool) {
        let own = Term::from(self.asker.core.ids.pid(self.asker.me.id()));
        let known = Term::list(self.known.iter().map(atom));
        let set = [Term::atom("lock_set"), own, Term::from(set), known, them.his.clone()];
        cast(&self.asker.core, &them.node, Term::tuple(set));
    }

    /// Their locker has locked their part, and this node: now ours.
    async fn join(&mut self, them: Them) {
        let id = self.lock_id(&them);
        let mut nodes = self.known.clone();
        nodes.push(self.asker.us().clone());
        let set = self.asker.lock(&id, &mut nodes).await;
        self.tell(&them, set);
        if set {
            self.exchange(&them, &id, &nodes).await;
        }
    }

    /// Nobody has come: locks our part and their node, and has their locker lock theirs.
    async fn begin(&mut self) {
        let known = &self.known;
        self.them.retain(|them| !known.contains(&them.node));
        if self.them.is_empty() {
            return;
        }
        let them = self.them[chance() as usize % self.them.len()].clone();
        let id = self.lock_id(&them);
        let mut nodes = self.known.clone();
        nodes.extend([self.asker.us().clone(), them.node.clone()]);
        if !self.asker.lock(&id, &mut nodes).await {
            return;
        }
        self.tell(&them, true);
        let (node, mine) = (&them.node, them.mine);
        let set = receive!(self.asker.me, {
            Post::Job(Job::LockSet { node: of, mine: by, set }) if of == *node && by == mine => {
                Ok(set)
            },
            Post::Job(Job::Cancel { node: of, mine: by, then }) if of == *node && by == mine => {
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

    /// Both parts are locked. The servers exchange what they know; then the lock is given back.
    async fn exchange(&mut self, them: &Them, id: &Term, nodes: &[NodeName]) {
        let (node, mine) = (&them.node, them.mine);
        self.asker.server.send(Mail::LockIsSet { node: node.clone(), mine, lock: id.clone() });
        let then = receive!(self.asker.me, {
            Post::Job(Job::Cancel { node: of, mine: by, then }) if of == *node && by == mine => then,
        });
        self.cancel(node, mine, then);
        self.asker.unlock(id, nodes).await;
    }
}

/// Some number.
pub(super) fn chance() -> u32 {
    getrandom::u32().unwrap_or_default()
}
