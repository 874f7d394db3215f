//! A sharer: monitors a local scope, announces joins and leaves to other nodes, and adds remote members to the scope as
//! proxies.
//!
//! | message | when | effect |
//! |---|---|---|
//! | `{discover, Pid}` | a node or a scope comes up | answered by `sync`, a monitor and `discover` |
//! | `{sync, Pid, Groups}` | after `discover` | replaces all members of the sender's node |
//! | `{join, Pid, Group, Pids}`, `{leave, Pid, Pids, Groups}` | a member joins or leaves | |
//!
//! C and Java nodes have no scopes, so they are not discovered. When a node disconnects or its scope ends, its members leave. A scope that restarts discovers only the visible nodes,
//! so the sharer discovers it periodically while the node stays connected.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use purlin::pg::{Change, Event, Groups};
use purlin::remote::LocalProcess;
use purlin::{
    Down, ExitReason, LookupError, Message, MonitorRef, Name, Process, ProcessId, yield_now,
};
use purlin_dist_protocol::{Flags, NodeName};
use purlin_term::{Atom, Pid, Term};

use crate::cluster::core::Core;
use crate::cluster::net_kernel::nodes::NodeChange;

/// Interval in which the scope of a connected node is discovered after it has ended.
const REDISCOVER: Duration = Duration::from_secs(1);

/// The reason why a scope is not shared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotShared {
    /// The node has no scope of that name.
    #[error(transparent)]
    NoScope(LookupError),
    /// The scope is shared already.
    #[error("the groups of that scope are shared already")]
    Shared,
    /// The scope has ended, its name is too long for an atom, or the process limit is reached.
    #[error("there is no process that would share the groups")]
    NotMade,
}

/// Returns the proxy of a member.
pub(super) type MakeProxy = fn(&Arc<Core>, &Pid) -> Option<LocalProcess>;

/// Message type of a sharer.
#[derive(Message)]
pub(super) enum Mail {
    Term(Term),
    #[from]
    Event(Event),
    #[from]
    Down(Down),
    Up(NodeName),
    /// The scope of this node has ended, [`REDISCOVER`] ago or longer.
    Rediscover(NodeName),
}

/// Number of steps of a loop without other suspension after which a sharer yields.
const STEPS: u32 = 256;

/// The members on another node by group, as announced by its scope, each with the number of times it has joined.
type Scope = HashMap<Name, HashMap<Pid, usize>>;

/// State of a sharer.
pub(super) struct Sharer {
    me: Process<Mail>,
    core: Arc<Core>,
    name: Atom,
    groups: Groups,
    proxy: MakeProxy,
    /// Monitor of the scope; the sharer ends with it.
    scope: MonitorRef,
    own: BTreeMap<Name, Vec<ProcessId>>,
    /// Proxies that have joined, with the number of times; events of the scope about them are not announced.
    theirs: HashMap<ProcessId, usize>,
    scopes: HashMap<Pid, Scope>,
    monitors: HashMap<MonitorRef, Pid>,
    /// The nodes of which a [`Mail::Rediscover`] will arrive.
    rediscovered: HashSet<NodeName>,
    /// Steps since the sharer has yielded.
    steps: u32,
}

/// The scope has ended.
struct Over;

impl Sharer {
    pub(super) async fn new(
        me: Process<Mail>,
        core: Arc<Core>,
        name: Atom,
        proxy: MakeProxy,
    ) -> Result<Self, NotShared> {
        let groups = Groups::find(name.as_str()).await.map_err(NotShared::NoScope)?;
        if !core.sharers.add(name.as_str(), LocalProcess::from(&me.pid())) {
            return Err(NotShared::Shared);
        }
        let scope = me.monitor(groups.server().id());
        let (_, own) = groups.monitor_scope(&me).await.map_err(|_| NotShared::NotMade)?;
        let to_me = me.pid();
        core.nodes.add(move |node, change| {
            if let NodeChange::Up { .. } = change {
                to_me.send(Mail::Up(node.clone()));
            }
            to_me.is_alive()
        });
        let (theirs, scopes, monitors, rediscovered) = Default::default();
        Ok(Self {
            me,
            core,
            name,
            groups,
            proxy,
            scope,
            own,
            theirs,
            scopes,
            monitors,
            rediscovered,
            steps: 0,
        })
    }

    pub(super) async fn run(mut self) {
        for node in self.core.connected() {
            self.discover(node);
        }
        loop {
            let done = match self.me.receive().await {
                Mail::Term(term) => self.message(&term).await,
                Mail::Event(event) => {
                    self.event(event);
                    Ok(())
                }
                Mail::Down(down) if down.monitor == self.scope => Err(Over),
                Mail::Down(down) => match self.monitors.remove(&down.monitor) {
                    Some(peer) => {
                        let scope = self.scopes.remove(&peer).unwrap_or_default();
                        // WHY the reason: a message to a node that is disconnected would connect to it again.
                        if down.reason != ExitReason::NoConnection
                            && let Ok(node) = peer.node.as_str().parse()
                        {
                            self.rediscover(node);
                        }
                        self.leave_all(scope).await
                    }
                    None => Ok(()),
                },
                Mail::Up(node) => {
                    self.discover(node);
                    Ok(())
                }
                Mail::Rediscover(node) => {
                    self.rediscovered.remove(&node);
                    self.rediscover(node);
                    Ok(())
                }
            };
            if let Err(Over) = done {
                return;
            }
        }
    }

    fn own_pid(&self) -> Pid {
        self.core.ids.pid(self.me.id())
    }

    /// Discovers the scope of a node, unless it is a C or Java node. WHY: `ei_rpc` takes the first message for its answer.
    fn discover(&self, node: NodeName) {
        let Some(there) = self.core.named(self.name.clone(), &node) else { return };
        let (core, discover) = (Arc::clone(&self.core), tagged!("discover", self.own_pid()));
        // WHY a task: the flags are known once the connection is established, shortly after `Up`.
        self.core.runtime.spawn(async move {
            if let Ok(connection) = core.connect(&node).await
                && connection.flags().contains(Flags::MONITORS)
            {
                there.send(discover);
            }
        });
    }

    /// Discovers the scope of a connected node, now and periodically until it is known.
    fn rediscover(&mut self, node: NodeName) {
        let is_known = self.scopes.keys().any(|peer| *peer.node.as_str() == *node.as_str());
        if is_known || self.core.connection(&node).is_none() {
            return;
        }
        self.discover(node.clone());
        // WHY one timer: many scopes of a node may end.
        if self.rediscovered.insert(node.clone()) {
            self.me.pid().send_after(REDISCOVER, Mail::Rediscover(node));
        }
    }

    async fn message(&mut self, term: &Term) -> Result<(), Over> {
        let Some([tag, fields @ ..]) = term.as_tuple() else { return Ok(()) };
        match (tag.as_atom().map_or("", Atom::as_str), fields) {
            // With a version, since OTP 28.
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
            ("leave", [Term::Pid(peer), pids, Term::List(groups)])
                if self.scopes.contains_key(&**peer) =>
            {
                let pids = listed(pids);
                for group in groups {
                    self.step().await;
                    let group = name_of(group);
                    for pid in &pids {
                        // WHY first: a peer may name many groups that it does not have, and many pids.
                        if !self.scopes.get(&**peer).is_some_and(|scope| scope.contains_key(&group))
                        {
                            break;
                        }
                        self.step().await;
                        self.leave(peer, &group, pid).await?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Yields once in [`STEPS`] calls. WHY: a message of a peer may cause many steps, and most do not suspend.
    async fn step(&mut self) {
        self.steps += 1;
        if self.steps == STEPS {
            self.steps = 0;
            yield_now().await;
        }
    }

    /// The proxy of a remote scope, and whether it was known. Monitors a new one.
    fn know(&mut self, peer: &Pid) -> Option<(purlin::Pid<Term>, bool)> {
        let there = self.core.proxy(peer)?;
        let was_known = self.scopes.contains_key(peer);
        if !was_known {
            self.scopes.insert(peer.clone(), Scope::new());
            self.monitors.insert(self.me.monitor(&there), peer.clone());
        }
        Some((there, was_known))
    }

    fn discovered(&mut self, peer: &Pid) {
        let Some((there, was_known)) = self.know(peer) else { return };
        let pid = |id: &ProcessId| Term::from(self.core.ids.pid(*id));
        let own = self.own.iter().map(|(group, members)| {
            Term::tuple([term_of(group), Term::list(members.iter().map(pid))])
        });
        let sync = tagged!("sync", self.own_pid(), Term::list(own));
        there.send(tagged!("$gen_cast", sync));
        if !was_known {
            there.send(tagged!("discover", self.own_pid()));
        }
    }

    /// Replaces all members of the peer.
    async fn sync(&mut self, peer: &Pid, groups: &[Term]) -> Result<(), Over> {
        if self.know(peer).is_none() {
            return Ok(());
        }
        let mut before = self.scopes.insert(peer.clone(), Scope::new()).unwrap_or_default();
        for entry in groups {
            let Some([group, pids]) = entry.as_tuple() else { continue };
            let group = name_of(group);
            for pid in listed(pids) {
                self.step().await;
                if take(&mut before, &group, &pid) {
                    self.note(peer, &group, pid);
                } else {
                    self.join(peer, &group, pid).await?;
                }
            }
        }
        self.leave_all(before).await
    }

    fn note(&mut self, peer: &Pid, group: &Name, pid: Pid) {
        if let Some(scope) = self.scopes.get_mut(peer) {
            *scope.entry(group.clone()).or_default().entry(pid).or_default() += 1;
        }
    }

    async fn join(&mut self, peer: &Pid, group: &Name, pid: Pid) -> Result<(), Over> {
        // Only members on the announcing node are accepted.
        let member = if pid.node == peer.node { (self.proxy)(&self.core, &pid) } else { None };
        let Some(member) = member else { return Ok(()) };
        *self.theirs.entry(member.id()).or_default() += 1;
        self.note(peer, group, pid);
        self.groups.join(group, member.id()).await.map_err(|_| Over)
    }

    async fn leave(&mut self, peer: &Pid, group: &Name, pid: &Pid) -> Result<(), Over> {
        if !self.scopes.get_mut(peer).is_some_and(|scope| take(scope, group, pid)) {
            return Ok(());
        }
        self.leave_here(group, pid).await
    }

    async fn leave_all(&mut self, scope: Scope) -> Result<(), Over> {
        for (group, pids) in scope {
            for (pid, times) in pids {
                for _ in 0..times {
                    self.leave_here(&group, &pid).await?;
                }
            }
        }
        Ok(())
    }

    async fn leave_here(&mut self, group: &Name, pid: &Pid) -> Result<(), Over> {
        let Some(member) = (self.proxy)(&self.core, pid) else { return Ok(()) };
        // The member may have ended and left already.
        self.groups.leave(group, member.id()).await.map(drop).map_err(|_| Over)
    }

    /// Announces a join or leave in the scope.
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
            let message = if event.change == Change::Joined {
                members.push(member);
                tagged!("join", self.own_pid(), group, pid)
            } else {
                if let Some(index) = members.iter().position(|known| *known == member) {
                    members.swap_remove(index);
                }
                if members.is_empty() {
                    self.own.remove(&event.group);
                }
                tagged!("leave", self.own_pid(), pid, Term::list([group]))
            };
            for peer in self.scopes.keys() {
                // WHY: a message to a node that is disconnected would connect to it again.
                if self.core.connection_of(peer).is_none() {
                    continue;
                }
                if let Some(there) = self.core.proxy(peer) {
                    there.send(message.clone());
                }
            }
        }
    }
}

/// Removes a member from a group once. Returns whether it was one.
fn take(scope: &mut Scope, group: &Name, pid: &Pid) -> bool {
    let Some(members) = scope.get_mut(group) else { return false };
    let Some(times) = members.get_mut(pid) else { return false };
    *times -= 1;
    if *times == 0 {
        members.remove(pid);
    }
    if members.is_empty() {
        scope.remove(group);
    }
    true
}

/// One pid, or a list of pids.
fn listed(pids: &Term) -> Vec<Pid> {
    let pid = |term: &Term| term.as_pid().cloned();
    match pids {
        Term::List(pids) => pids.iter().filter_map(pid).collect(),
        one => pid(one).into_iter().collect(),
    }
}

/// The local name of a group: its term in Erlang syntax, without the quotes of an atom that is not confused with another
/// term without them.
fn name_of(group: &Term) -> Name {
    match group {
        Term::Atom(atom) if term_of(atom.as_str()) == *group => Name::from(atom.as_str()),
        other => Name::from(other.to_string().as_str()),
    }
}

/// The remote name of a group.
fn term_of(group: &str) -> Term {
    match group.parse::<Term>() {
        Ok(term) if term.as_atom().is_none() => term,
        // A quoted atom. Its text is shorter than the name, so the recursion ends.
        Ok(Term::Atom(atom)) if atom != *group && *name_of(&atom.clone().into()) == *group => {
            Term::Atom(atom)
        }
        _ => Atom::new(group).map_or_else(|_| Term::from(group), Term::Atom),
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use purlin::Node;
    use tokio::runtime::Builder;

    use crate::cluster::handle::Cluster;

    use super::*;

    #[test]
    fn group_names_survive_the_round_trip() {
        for text in
            ["clerks", "'Clerks'", "'a b'", "{shop,7}", "[1,2]", "<<\"bin\">>", "#{a => 1}", "7"]
        {
            let term: Term = text.parse().expect("a term");
            assert_eq!(term_of(&name_of(&term)), term, "{text}");
        }
        for (atom, name) in [
            ("Clerks", "Clerks"),
            ("a b", "a b"),
            ("'", "'"),
            ("''", "''"),
            ("'a b'", "'a b'"),
            ("7", "'7'"),
            ("{shop,7}", "'{shop,7}'"),
            ("[]", "'[]'"),
            ("'7'", "'\\'7\\''"),
        ] {
            let term = Term::atom(atom);
            assert_eq!((&*name_of(&term), term_of(&name_of(&term))), (name, term), "{atom}");
        }
        assert_eq!(term_of(&Name::from("not a term {")), Term::atom("not a term {"));
    }

    // A message of a peer may name any number of groups and pids.
    #[test]
    fn leave_of_many_pids_yields_and_that_of_an_unknown_scope_or_group_costs_little() {
        let mut tokio = Builder::new_current_thread();
        let tokio = tokio.enable_all().start_paused(true);
        let mut simulated = Node::builder().simulated(1, tokio).expect("a node");
        let node = simulated.node().clone();
        let done = simulated.run(async move |_: Process<()>| {
            let builder = Cluster::builder("here@h".parse().expect("a name"));
            let cluster = builder.cookie("secret").only_calls().start(&node).await;
            let cluster = cluster.expect("it starts");
            let core = Arc::clone(cluster.core());
            let _groups = Groups::start("pg").await.expect("it starts");
            let shares = node.spawn(async move |me: Process<Mail>| {
                let proxy: MakeProxy =
                    |core, of| core.proxy(of).map(|pid| LocalProcess::from(&pid));
                let sharer = Sharer::new(me, core, Atom::from_static("pg"), proxy).await;
                let mut sharer = sharer.unwrap_or_else(|error| panic!("{error}"));
                let pid =
                    |id| Pid { node: Atom::from_static("there@h"), id, serial: 0, creation: 1 };
                let (peer, stranger) = (pid(1), pid(2));
                let members = HashMap::from([(pid(3), 1)]);
                let scope = Scope::from([(Name::from("clerks"), members)]);
                sharer.scopes.insert(peer.clone(), scope);
                let leave = |peer: &Pid, groups: u32, group: &'static str| {
                    let pids = Term::list((100..10_000).map(|id| Term::from(pid(id))));
                    let groups = Term::list((0..groups).map(|_| Term::atom(group)));
                    tagged!("leave", peer.clone(), pids, groups)
                };
                let mut at_once = async |term| {
                    let mut handled = std::pin::pin!(sharer.message(&term));
                    poll_fn(|cx| Poll::Ready(handled.as_mut().poll(cx).is_ready())).await
                };
                assert!(at_once(leave(&stranger, 10_000, "clerks")).await, "an unknown scope");
                assert!(at_once(leave(&peer, STEPS / 2, "shops")).await, "an unknown group");
                assert!(!at_once(leave(&peer, 1, "clerks")).await, "many pids");
            });
            shares.ended().await
        });
        assert_eq!(done.expect("it ends"), ExitReason::Normal);
    }
}
