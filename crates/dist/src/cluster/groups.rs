//! Groups shared with other nodes: what `pg` of the BEAM says to `pg`.
//!
//! Each node keeps its own members and tells the others. Here a *sharer* stands between them and a scope of
//! [`purlin::pg`]: it watches the scope, tells others who has joined and left, and has the members of others join,
//! as stand-ins. To the other nodes it is the scope: what they say to its name comes to the sharer.
//!
//! | said | when | then |
//! |---|---|---|
//! | `{discover, Pid}` | a node has come, or a scope | the other answers with `sync`, monitors, and discovers in return |
//! | `{sync, Pid, Groups}` | discovered | these are all members there |
//! | `{join, Pid, Group, Pids}`, `{leave, Pid, Pids, Groups}` | one has joined or left | |
//!
//! A node that is gone, or a scope there, takes its members with it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::foreign::LocalProcess;
use purlin::pg::{Change, Event, Groups};
use purlin::{Down, ExitReason, LookupError, MonitorRef, Name, Pid, Process, ProcessId};
use purlin_term::{Atom, Term};
use serde::Serialize;

use super::core::Core;
use super::nodes::NodeChange;
use super::{Cluster, written};
use crate::control::Named;
use crate::name::NodeName;

/// The sharers of a node, by the names of their scopes.
#[derive(Debug, Default)]
pub(super) struct Sharers {
    all: Mutex<HashMap<Box<str>, LocalProcess>>,
    /// There has been one: whoever sends to a name need not look at the others.
    some: AtomicBool,
}

impl Sharers {
    fn all(&self) -> MutexGuard<'_, HashMap<Box<str>, LocalProcess>> {
        // Nobody panics under the lock.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who is told what is said to a scope.
    pub(super) fn find(&self, scope: &str) -> Option<LocalProcess> {
        // ORDER: acquire, partner of the release below; what is sent before is not for the sharer yet.
        if !self.some.load(Ordering::Acquire) {
            return None;
        }
        self.all().get(scope).filter(|sharer| !sharer.has_ended()).cloned()
    }

    /// Whether there was none for that scope.
    fn add(&self, scope: &str, sharer: LocalProcess) -> bool {
        let mut all = self.all();
        let is_new = all.get(scope).is_none_or(LocalProcess::has_ended);
        if is_new {
            all.insert(scope.into(), sharer);
            self.some.store(true, Ordering::Release);
        }
        is_new
    }

    /// The node leaves.
    pub(super) fn end(&self, core: &Core) {
        for (_, sharer) in self.all().drain() {
            core.ids.node.exit(sharer.id(), ExitReason::Kill);
        }
    }
}

/// Why the groups of a scope are not shared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotShared {
    /// The node has no scope of that name.
    NoScope(LookupError),
    /// They are shared already.
    Shared,
    /// The scope has ended, its name is longer than an atom can be, or there is no room for one more process.
    NotMade,
}

impl fmt::Display for NotShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScope(error) => error.fmt(f),
            Self::Shared => f.write_str("the groups of that scope are shared already"),
            Self::NotMade => f.write_str("there is no process that would share the groups"),
        }
    }
}

impl std::error::Error for NotShared {}

impl Cluster {
    /// Shares the groups of a scope of this node, [`purlin::pg`], with the scopes of that name on all nodes that it is
    /// connected to, or will be: those of `pg` on the BEAM, and of nodes of ours that share theirs. From then on
    /// the members on other nodes are members here, as processes that receive messages of type `M`, and those of
    /// this node, whatever they receive, are members there. The BEAM's own scope is `pg`.
    ///
    /// A group has an atom for a name there, of the text that it has here; unless that text is another term in
    /// Erlang's syntax, like `{shop,7}`, which then is its name.
    ///
    /// A hidden node finds the scopes that are there when it connects; a published one also those that
    /// are started later.
    ///
    /// ```
    /// # use purlin::pg::Groups;
    /// # use purlin::{Node, Process};
    /// # use purlin_dist::cluster::Cluster;
    /// # use purlin_dist::epmd::Server;
    /// # use purlin_term::Term;
    /// # #[purlin::main] async fn main(me: Process<()>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// # let epmd = Server::start("127.0.0.1:0").await?;
    /// # let node = Node::current().expect("this is a process");
    /// # let shop = Cluster::builder("shop@127.0.0.1".parse()?).epmd(epmd.address()).start(&node).await?;
    /// let groups = Groups::start("pg").await?;
    /// shop.share_groups::<Term>("pg").await?;
    /// let clerks = groups.members::<Term>("clerks");
    /// assert!(clerks.is_empty(), "nobody has joined, on no node");
    /// # Ok(()) }
    /// ```
    ///
    /// *Cancellation*: the groups are shared all the same.
    ///
    /// # Errors
    /// [`NotShared`] says why they are not.
    ///
    /// COST: for each member elsewhere a stand-in and a monitor; for each join or leave of ours a message to each node.
    pub async fn share_groups<M>(&self, scope: &str) -> Result<(), NotShared>
    where
        M: Serialize + Send + 'static,
    {
        let scope = Atom::new(scope).map_err(|_| NotShared::NotMade)?;
        let core = Arc::clone(self.core());
        core.decodes(|term| Ok(Told::Term(term)));
        let stand_in: StandIn = |core, of| {
            let node = of.node.as_str().parse().ok()?;
            let encode = || Arc::new(written::<M>) as _;
            let pid = core.stand_in_for::<M>(node, Named::Pid(of.clone()), encode)?;
            Some(LocalProcess::from(&pid))
        };
        let (told, result) = tokio::sync::oneshot::channel();
        let inside = Arc::clone(&core);
        let shares = async move |me: Process<Told>| {
            let sharer = Sharer::new(me, inside, scope, stand_in).await;
            // Whoever asked may have given up.
            let _ = told.send(sharer.as_ref().map(drop).map_err(Clone::clone));
            if let Ok(sharer) = sharer {
                sharer.run().await;
            }
        };
        core.ids.node.try_spawn(shares).map_err(|_| NotShared::NotMade)?;
        result.await.unwrap_or(Err(NotShared::NotMade))
    }
}

/// Makes the stand-in of a member.
type StandIn = fn(&Arc<Core>, &purlin_term::Pid) -> Option<LocalProcess>;

/// What a sharer is told.
enum Told {
    Term(Term),
    Event(Event),
    Down(Down),
    Up(NodeName),
}

impl From<Event> for Told {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

impl From<Down> for Told {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
}

/// The members on another node, as its scope has told.
#[derive(Default)]
struct Scope {
    groups: HashMap<Name, Vec<purlin_term::Pid>>,
}

struct Sharer {
    me: Process<Told>,
    core: Arc<Core>,
    name: Atom,
    groups: Groups,
    stand_in: StandIn,
    /// Ours ends with the scope.
    scope: MonitorRef,
    own: BTreeMap<Name, Vec<ProcessId>>,
    /// Stand-ins that have joined, and how often: what the scope says of them is no news to others.
    theirs: HashMap<ProcessId, usize>,
    scopes: HashMap<purlin_term::Pid, Scope>,
    monitors: HashMap<MonitorRef, purlin_term::Pid>,
}

/// The scope has ended.
struct Over;

impl Sharer {
    async fn new(
        me: Process<Told>,
        core: Arc<Core>,
        name: Atom,
        stand_in: StandIn,
    ) -> Result<Self, NotShared> {
        let groups = Groups::find(name.as_str()).await.map_err(NotShared::NoScope)?;
        if !core.sharers.add(name.as_str(), LocalProcess::from(&me.pid())) {
            return Err(NotShared::Shared);
        }
        let scope = me.monitor(groups.server().id());
        let (_, own) = groups.monitor_scope(&me).await.map_err(|_| NotShared::NotMade)?;
        let tells = me.pid();
        core.nodes.add(move |node, change| {
            if let NodeChange::Up { .. } = change {
                tells.send(Told::Up(node.clone()));
            }
        });
        let (theirs, scopes, monitors) = Default::default();
        Ok(Self { me, core, name, groups, stand_in, scope, own, theirs, scopes, monitors })
    }

    async fn run(mut self) {
        for node in self.core.connected() {
            self.discover(node);
        }
        loop {
            let done = match self.me.receive().await {
                Told::Term(term) => self.message(&term).await,
                Told::Event(event) => {
                    self.event(event);
                    Ok(())
                }
                Told::Down(down) if down.monitor == self.scope => Err(Over),
                Told::Down(down) => match self.monitors.remove(&down.monitor) {
                    Some(peer) => {
                        let scope = self.scopes.remove(&peer).unwrap_or_default();
                        self.leave_all(scope).await
                    }
                    None => Ok(()),
                },
                Told::Up(node) => {
                    self.discover(node);
                    Ok(())
                }
            };
            if let Err(Over) = done {
                return;
            }
        }
    }

    fn own_pid(&self) -> Term {
        Term::from(self.core.ids.pid(self.me.id()))
    }

    fn discover(&self, node: NodeName) {
        if let Some(there) = self.core.named(self.name.clone(), &node) {
            there.send(Term::tuple([Term::atom("discover"), self.own_pid()]));
        }
    }

    async fn message(&mut self, term: &Term) -> Result<(), Over> {
        let Some([tag, said @ ..]) = term.as_tuple() else { return Ok(()) };
        match (tag.as_atom().map_or("", Atom::as_str), said) {
            // With a version, of OTP 28 and later.
            ("discover", [Term::Pid(peer)] | [Term::Pid(peer), _]) => self.discovered(peer),
            ("$gen_cast", [cast]) => {
                if let Some([tag, Term::Pid(peer), Term::List(groups)]) = cast.as_tuple()
                    && tag.is_atom("sync")
                {
                    return self.sync(peer, groups).await;
                }
            }
            ("join", [Term::Pid(peer), group, pids]) if self.scopes.contains_key(&**peer) => {
                let group = name_of(group);
                for pid in listed(pids) {
                    self.join(peer, &group, pid).await?;
                }
            }
            ("leave", [Term::Pid(peer), pids, Term::List(groups)]) => {
                for group in groups {
                    let group = name_of(group);
                    for pid in listed(pids) {
                        self.leave(peer, &group, &pid).await?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The scope of a node, monitored if it was not known; whether it was.
    fn know(&mut self, peer: &purlin_term::Pid) -> Option<(Pid<Term>, bool)> {
        let there = self.core.stand_in(peer)?;
        let was_known = self.scopes.contains_key(peer);
        if !was_known {
            self.scopes.insert(peer.clone(), Scope::default());
            self.monitors.insert(self.me.monitor(&there), peer.clone());
        }
        Some((there, was_known))
    }

    fn discovered(&mut self, peer: &purlin_term::Pid) {
        let Some((there, was_known)) = self.know(peer) else { return };
        let pid = |id: &ProcessId| Term::from(self.core.ids.pid(*id));
        let own = self.own.iter().map(|(group, members)| {
            Term::tuple([term_of(group), Term::list(members.iter().map(pid))])
        });
        let sync = Term::tuple([Term::atom("sync"), self.own_pid(), Term::list(own)]);
        there.send(Term::tuple([Term::atom("$gen_cast"), sync]));
        if !was_known {
            there.send(Term::tuple([Term::atom("discover"), self.own_pid()]));
        }
    }

    /// All members there, whatever was told before.
    async fn sync(&mut self, peer: &purlin_term::Pid, groups: &[Term]) -> Result<(), Over> {
        if self.know(peer).is_none() {
            return Ok(());
        }
        let mut before = self.scopes.insert(peer.clone(), Scope::default()).unwrap_or_default();
        for entry in groups {
            let Some([group, pids]) = entry.as_tuple() else { continue };
            let group = name_of(group);
            for pid in listed(pids) {
                let known = before.groups.get_mut(&group).into_iter().find_map(|known| {
                    let place = known.iter().position(|known| *known == pid)?;
                    Some(known.swap_remove(place))
                });
                match known {
                    Some(pid) => self.note(peer, &group, pid),
                    None => self.join(peer, &group, pid).await?,
                }
            }
        }
        self.leave_all(before).await
    }

    fn note(&mut self, peer: &purlin_term::Pid, group: &Name, pid: purlin_term::Pid) {
        if let Some(scope) = self.scopes.get_mut(peer) {
            scope.groups.entry(group.clone()).or_default().push(pid);
        }
    }

    async fn join(
        &mut self,
        peer: &purlin_term::Pid,
        group: &Name,
        pid: purlin_term::Pid,
    ) -> Result<(), Over> {
        // Members are of the node that tells of them.
        let member = if pid.node == peer.node { (self.stand_in)(&self.core, &pid) } else { None };
        let Some(member) = member else { return Ok(()) };
        *self.theirs.entry(member.id()).or_default() += 1;
        self.note(peer, group, pid);
        self.groups.join(group, member.id()).await.map_err(|_| Over)
    }

    async fn leave(
        &mut self,
        peer: &purlin_term::Pid,
        group: &Name,
        pid: &purlin_term::Pid,
    ) -> Result<(), Over> {
        let Some(scope) = self.scopes.get_mut(peer) else { return Ok(()) };
        let Some(known) = scope.groups.get_mut(group) else { return Ok(()) };
        let Some(place) = known.iter().position(|known| known == pid) else { return Ok(()) };
        known.swap_remove(place);
        if known.is_empty() {
            scope.groups.remove(group);
        }
        self.leave_here(group, pid).await
    }

    async fn leave_all(&mut self, scope: Scope) -> Result<(), Over> {
        for (group, pids) in scope.groups {
            for pid in pids {
                self.leave_here(&group, &pid).await?;
            }
        }
        Ok(())
    }

    async fn leave_here(&mut self, group: &Name, pid: &purlin_term::Pid) -> Result<(), Over> {
        let Some(member) = (self.stand_in)(&self.core, pid) else { return Ok(()) };
        // It may have left by its end.
        self.groups.leave(group, member.id()).await.map(drop).map_err(|_| Over)
    }

    /// Somebody has joined or left the scope.
    fn event(&mut self, event: Event) {
        for member in event.members {
            if let Some(times) = self.theirs.get_mut(&member) {
                if event.change == Change::Left {
                    *times -= 1;
                    if *times == 0 {
                        self.theirs.remove(&member);
                    }
                }
                continue;
            }
            let members = self.own.entry(event.group.clone()).or_default();
            let (group, pid) = (term_of(&event.group), Term::from(self.core.ids.pid(member)));
            let told = if event.change == Change::Joined {
                members.push(member);
                [Term::atom("join"), self.own_pid(), group, pid]
            } else {
                if let Some(place) = members.iter().position(|known| *known == member) {
                    members.swap_remove(place);
                }
                if members.is_empty() {
                    self.own.remove(&event.group);
                }
                [Term::atom("leave"), self.own_pid(), pid, Term::list([group])]
            };
            let told = Term::tuple(told);
            for peer in self.scopes.keys() {
                if let Some(there) = self.core.stand_in(peer) {
                    there.send(told.clone());
                }
            }
        }
    }
}

/// One process, or several.
fn listed(pids: &Term) -> Vec<purlin_term::Pid> {
    let pid = |term: &Term| term.as_pid().cloned();
    match pids {
        Term::List(pids) => pids.iter().filter_map(pid).collect(),
        one => pid(one).into_iter().collect(),
    }
}

/// What a group is called here.
fn name_of(group: &Term) -> Name {
    match group {
        Term::Atom(atom) => Name::from(atom.as_str()),
        other => Name::from(other.to_string().as_str()),
    }
}

/// What a group is called elsewhere.
fn term_of(group: &Name) -> Term {
    match group.parse::<Term>() {
        Ok(term) if term.as_atom().is_none() => term,
        _ => Atom::new(group).map_or_else(|_| Term::from(&**group), Term::Atom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_called_here_what_it_is_called_there() {
        for text in
            ["clerks", "'Clerks'", "'a b'", "{shop,7}", "[1,2]", "<<\"bin\">>", "#{a => 1}", "7"]
        {
            let term: Term = text.parse().expect("a term");
            assert_eq!(term_of(&name_of(&term)), term, "{text}");
        }
        assert_eq!(term_of(&Name::from("not a term {")), Term::atom("not a term {"));
    }
}
