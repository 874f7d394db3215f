//! The processes on the BEAM as addressed by the processes on purlin.
//!
//! Half of them address another process with the message type `Term`, half with a type that is converted to terms; so
//! one program uses both kinds of proxy. A process that is the target of a link from another process addresses that
//! process as `Term`, because the proxy of this type holds the link.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::{ExitReason, MonitorRef, Pid, Process, ProcessId};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_term::{Atom, Reference, Term};

use super::alias::AliasOf;
use super::message::Msg;
use crate::language::{By, NAMES, Name, Op, Program, Script, Side, Tag, Who};

/// Type of a message to a remote process: `{message, Who, Tag}`.
type Tuple = (Atom, Who, Tag);

/// Returns the registered name of a name in a spread program; it is the same on both nodes.
pub(super) fn name(name: Name) -> String {
    format!("differential_name_{name}")
}

/// A process known to another process.
pub(super) enum Peer {
    Here(Pid<Msg>),
    Term(Pid<Term>),
    Tuple(Pid<Tuple>),
}

macro_rules! with {
    ($peer:expr, $pid:ident => $does:expr) => {
        match $peer {
            Peer::Here($pid) => $does,
            Peer::Term($pid) => $does,
            Peer::Tuple($pid) => $does,
        }
    };
}

impl Peer {
    pub(super) fn send(&self, from: Who, tag: Tag) {
        let word = || Atom::from_static("message");
        match self {
            Self::Here(pid) => pid.send(Msg::Message(from, tag)),
            Self::Term(pid) => {
                let parts =
                    [Term::Atom(word()), Term::from(i64::from(from)), i64::from(tag).into()];
                pid.send(Term::tuple(parts));
            }
            Self::Tuple(pid) => pid.send((word(), from, tag)),
        }
    }

    pub(super) fn link(&self, me: &Process<Msg>) {
        with!(self, pid => me.link(pid));
    }

    pub(super) fn link_priority(&self, me: &Process<Msg>) {
        with!(self, pid => me.link_priority(pid));
    }

    pub(super) fn unlink(&self, me: &Process<Msg>) {
        with!(self, pid => me.unlink(pid));
    }

    pub(super) fn monitor(&self, me: &Process<Msg>) -> MonitorRef {
        with!(self, pid => me.monitor(pid))
    }

    pub(super) fn exit(&self, reason: ExitReason) {
        with!(self, pid => pid.exit(reason));
    }
}

/// A remote process with both kinds of proxy.
struct There {
    who: Who,
    term: Pid<Term>,
    tuple: Pid<Tuple>,
}

/// The other node, as seen by a program.
pub(crate) struct Abroad {
    cluster: Cluster,
    seed: u32,
    scripts: Vec<Script>,
    there: Mutex<Vec<There>>,
    aliases: Vec<(Who, Reference)>,
    names: Vec<(Name, Pid<Term>)>,
    cut: Arc<dyn Fn(By) + Send + Sync>,
}

impl Abroad {
    pub(crate) fn new(
        cluster: &Cluster,
        node: &NodeName,
        program: &Program,
        seed: u32,
        cut: Arc<dyn Fn(By) + Send + Sync>,
    ) -> Option<Self> {
        let named = |own| Some((own, cluster.named(&name(own), node)?));
        let far = (0..NAMES).filter(|own| Side::of_name(*own) == Side::Beam);
        let names = far.map(named).collect::<Option<_>>()?;
        let (cluster, scripts) = (cluster.clone(), program.scripts.clone());
        let (there, aliases) = (Mutex::default(), Vec::new());
        Some(Self { cluster, seed, scripts, there, aliases, names, cut })
    }

    /// Sets the aliases of the base processes of the other node.
    pub(crate) fn with_aliases(self, aliases: Vec<(Who, Reference)>) -> Self {
        Self { aliases, ..self }
    }

    pub(super) fn alias(&self, of: Who) -> AliasOf {
        match self.aliases.iter().find(|(who, _)| *who == of) {
            Some((_, alias)) => AliasOf::There(self.cluster.clone(), alias.clone()),
            None => unreachable!("a valid program uses aliases of base processes only"),
        }
    }

    fn there(&self) -> MutexGuard<'_, Vec<There>> {
        self.there.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a process of the other node; returns `None` if no proxy can be created.
    pub(crate) fn knows(&self, who: Who, pid: &purlin_term::Pid) -> Option<()> {
        let there = There { who, term: self.cluster.pid(pid)?, tuple: self.cluster.pid(pid)? };
        self.there().push(there);
        Some(())
    }

    /// Returns the proxy for `who` that the local process `of` always uses.
    pub(super) fn peer(&self, of: Who, who: Who) -> Option<Peer> {
        let there = self.there();
        let there = there.iter().find(|there| there.who == who)?;
        let theirs = &self.scripts[usize::from(who)];
        let links = theirs.contains(&Op::Link(of)) || theirs.contains(&Op::LinkPriority(of));
        let terms = links || (self.seed >> (of * 3 + who) & 1) == 0;
        Some(match terms {
            true => Peer::Term(there.term.clone()),
            false => Peer::Tuple(there.tuple.clone()),
        })
    }

    pub(super) fn named(&self, name: Name) -> Peer {
        match self.names.iter().find(|(own, _)| *own == name) {
            Some((_, pid)) => Peer::Term(pid.clone()),
            None => unreachable!("a name that is not ours is theirs"),
        }
    }

    pub(super) fn cut(&self, by: By) {
        (self.cut)(by);
    }

    pub(super) fn name_of(&self, id: ProcessId) -> Option<Name> {
        self.names.iter().find(|(_, pid)| pid.id() == id).map(|(name, _)| *name)
    }

    pub(super) fn who(&self, id: ProcessId) -> Option<Who> {
        let there = self.there();
        let is_it = |there: &&There| there.term.id() == id || there.tuple.id() == id;
        there.iter().find(is_it).map(|there| there.who)
    }
}
