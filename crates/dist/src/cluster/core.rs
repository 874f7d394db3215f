//! What all handles of a cluster share: who is connected, and how that comes about.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use purlin::foreign::{ForeignSignal, LocalProcess};
use purlin::{ExitReason, Pid, ProcessId};
use purlin_term::{Atom, Term};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tracing::warn;

use super::connection::{Behind, Connection};
use super::decoders::{Decoders, LastUsed};
use super::export::Exports;
use super::global::Global;
use super::groups::Sharers;
use super::ids::Ids;
use super::incoming::{Incoming, LastTo};
use super::nodes::{NodeChange, Nodes};
use super::reach::Reach;
use super::remote::{Encode, Remote};
use super::serving::Systems;
use super::stand_ins::StandIns;
use crate::connect::NoConnection;
use crate::control::{Control, Named};
use crate::flags::Flags;
use crate::handshake::{Called, Caller, Established, Local, Verdict};
use crate::link::{Link, Settings, Traffic};
use crate::listener::{Came, Listener};
use crate::name::NodeName;
use crate::peers::Peers;
use crate::stream::Stream;

/// What is done when a node is gone.
type NodeDown = Box<dyn FnOnce(&NodeName) + Send>;

/// How many messages for one process elsewhere wait in its stand-in while its connection has no room.
pub(super) const STAND_IN: usize = 1024;

pub(super) struct Core {
    pub(super) ids: Arc<Ids>,
    pub(super) local: Local,
    reach: Reach,
    settings: Settings,
    /// The longest wait for a process that a tool of another node asks about.
    pub(super) answers_within: Duration,
    pub(super) runtime: Handle,
    state: Mutex<State>,
    /// A connection is there, or an attempt is over.
    changed: Notify,
    pub(super) decoders: Decoders,
    /// What `sys` needs of processes whose type the cluster knows.
    pub(super) systems: Systems,
    pub(super) exports: Exports,
    pub(super) nodes: Nodes,
    pub(super) sharers: Sharers,
    /// Of a published node.
    pub(super) global: OnceLock<Global>,
    /// Messages from elsewhere that were none for their process.
    pub(super) undecoded: AtomicU64,
}

struct State {
    peers: Peers,
    connections: HashMap<NodeName, Arc<Connection>>,
    /// Calls of ours that are under way.
    calls: HashMap<NodeName, AbortHandle>,
    stand_ins: StandIns,
    /// The node has left the cluster.
    left: bool,
    watches: HashMap<NodeName, Vec<NodeDown>>,
}

impl Core {
    pub(super) fn new(
        ids: Ids,
        local: Local,
        reach: Reach,
        settings: Settings,
        answers_within: Duration,
        runtime: Handle,
    ) -> Arc<Self> {
        let peers = Peers::new(ids.name.clone());
        let (connections, calls) = (HashMap::new(), HashMap::new());
        let (stand_ins, watches) = (StandIns::new(), HashMap::new());
        let state = State { peers, connections, calls, stand_ins, left: false, watches };
        let state = Mutex::new(state);
        let (ids, changed) = (Arc::new(ids), Notify::new());
        let (decoders, systems, exports, undecoded) = Default::default();
        let (nodes, sharers, global) = Default::default();
        Arc::new(Self {
            ids,
            local,
            reach,
            settings,
            answers_within,
            runtime,
            state,
            changed,
            decoders,
            systems,
            exports,
            nodes,
            sharers,
            global,
            undecoded,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nobody panics under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection to a node, if there is one on which something can be said. WHY not a lost one: whoever was
    /// told so says what comes next on a new one.
    pub(super) fn connection(&self, node: &NodeName) -> Option<Arc<Connection>> {
        let state = self.state();
        let there = state.connections.get(node);
        there.filter(|there| there.link().is_some() && !there.is_lost()).cloned()
    }

    pub(super) fn connected(&self) -> Vec<NodeName> {
        let mut nodes: Vec<_> = self.state().connections.keys().cloned().collect();
        nodes.sort_unstable();
        nodes
    }

    pub(super) fn traffic(&self) -> Vec<(NodeName, Traffic)> {
        // WHY not under the lock: a link is locked while a message is written to it, which can take long.
        let all: Vec<_> = self.state().connections.values().cloned().collect();
        let up = |there: Arc<Connection>| Some((there.node.clone(), there.link()?.traffic()));
        let mut nodes: Vec<_> = all.into_iter().filter_map(up).collect();
        nodes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        nodes
    }

    /// The connection to a node; calls it if there is none.
    pub(super) async fn connect(
        self: &Arc<Self>,
        node: &NodeName,
    ) -> Result<Arc<Connection>, Arc<NoConnection>> {
        let mut refused = None;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(connection) = self.connection(node) {
                return Ok(connection);
            }
            if self.state().left {
                return Err(Arc::new(NoConnection::Left));
            }
            // Its call counted and not ours, and has come to nothing.
            if let Some(refused) = refused {
                return Err(refused);
            }
            if *node == self.ids.name {
                return Err(Arc::new(NoConnection::Unknown(node.clone())));
            }
            if self.state().peers.call(node) {
                // WHY a task: whoever waits may give up, and the call must not be left half-way.
                match self.runtime.spawn(Arc::clone(self).call(node.clone())).await {
                    Ok(Ok(connection)) => return Ok(connection),
                    Ok(Err(error)) if matches!(*error, NoConnection::Refused(_)) => {
                        refused = Some(error)
                    }
                    Ok(Err(error)) => return Err(error),
                    // The other node's call counted.
                    Err(_) => {}
                }
                if refused.is_some() && !self.state().peers.is_answering(node) {
                    continue;
                }
            }
            changed.await;
        }
    }

    async fn call(self: Arc<Self>, node: NodeName) -> Result<Arc<Connection>, Arc<NoConnection>> {
        let calling = self.runtime.spawn(Arc::clone(&self).shake_hands(node.clone()));
        self.state().calls.insert(node.clone(), calling.abort_handle());
        let called = calling.await;
        self.state().calls.remove(&node);
        let result = match called {
            Ok(Ok((stream, established))) => Ok(self.up(stream, established, true)),
            Ok(Err(error)) => Err(Arc::new(error)),
            // Given up for the other node's call.
            Err(_) => match self.connection(&node) {
                Some(connection) => Ok(connection),
                None => Err(Arc::new(NoConnection::Slow)),
            },
        };
        if result.is_err() {
            self.state().peers.call_failed(&node);
        }
        self.changed.notify_waiters();
        result
    }

    async fn shake_hands(
        self: Arc<Self>,
        node: NodeName,
    ) -> Result<(Stream, Established), NoConnection> {
        let is_dead = || self.state().peers.is_dead(&node);
        self.reach.call(&self.local, node.clone(), is_dead).await
    }

    /// Answers nodes that call, until it is dropped.
    pub(super) async fn answer(self: Arc<Self>, socket: tokio::net::TcpListener) {
        let core = Arc::clone(&self);
        let decide = move |caller: &Caller| {
            let verdict = match &caller.called {
                Called::Name(name) => core.state().peers.called(name),
                Called::Host(_) => Verdict::NotAllowed,
            };
            (verdict, core.reach.cookie_for(caller))
        };
        let listener = Listener::new(socket, self.local.clone(), decide);
        let mut listener = listener.over(self.reach.tls.clone());
        loop {
            match listener.next().await {
                Came::Up(stream, established) => drop(self.up(stream, established, false)),
                Came::Failed(node) => {
                    self.state().peers.answer_failed(&node);
                    self.changed.notify_waiters();
                }
            }
        }
    }

    fn up(
        self: &Arc<Self>,
        stream: Stream,
        established: Established,
        our_call: bool,
    ) -> Arc<Connection> {
        let node = established.peer.clone();
        let (connection, before, told) = {
            let mut state = self.state();
            let up = state.peers.up(&node, our_call);
            if up.give_up_call
                && let Some(call) = state.calls.get(&node)
            {
                call.abort();
            }
            // WHY at once: another one may be coming up, and is to find it.
            let connection = Connection::new(node.clone(), up.connection, self);
            let before = state.connections.insert(node.clone(), Arc::clone(&connection));
            let told = before.as_ref().and_then(|_| state.watches.remove(&node));
            (connection, before, told)
        };
        // WHY before the link: what comes by it comes after the end of the other.
        if let Some(before) = before {
            before.close();
            self.lose(&before);
            tell(told, &node);
        }
        let incoming = Incoming {
            core: Arc::clone(self),
            connection: Arc::clone(&connection),
            last: LastUsed::default(),
            last_to: LastTo::default(),
        };
        let entered = self.runtime.enter();
        // WHY among the processes: what comes is received where it was read, without waking another thread, and what
        // is sent is written where it was sent.
        let serve = |task| {
            // A node that stops ends the link.
            let _ = self.ids.node.serve(task);
        };
        let link = Link::start_on(stream.halves(), established, self.settings, incoming, serve);
        drop(entered);
        // WHY before it is linked: nothing that it says is taken before.
        let visible = link.flags().has(Flags::PUBLISHED);
        self.nodes.tell(&node, NodeChange::Up { visible });
        connection.linked(link.clone());
        if self.state().left {
            connection.close();
        }
        self.changed.notify_waiters();
        self.runtime.spawn(Arc::clone(self).watch(link, Arc::clone(&connection)));
        connection
    }

    async fn watch(self: Arc<Self>, link: Link, connection: Arc<Connection>) {
        link.ended().await;
        // WHY first: what the next connection brings comes after the end of this one.
        self.lose(&connection);
        let told = {
            let mut state = self.state();
            let is_gone = state.peers.down(&connection.node, connection.number);
            is_gone.then(|| state.connections.remove(&connection.node));
            if is_gone { state.watches.remove(&connection.node) } else { None }
        };
        self.changed.notify_waiters();
        tell(told, &connection.node);
    }

    /// A connection is lost, for all that crossed it, and for those who watch nodes.
    fn lose(&self, connection: &Connection) {
        if connection.lose(&self.ids.node) {
            let visible = connection.flags().has(Flags::PUBLISHED);
            self.nodes.tell(&connection.node, NodeChange::Down { visible });
        }
    }

    /// The node leaves the cluster: connections and stand-ins end.
    pub(super) fn leave(&self) {
        if let Some(global) = self.global.get() {
            global.end();
        }
        self.sharers.end(self);
        let (connections, stand_ins) = {
            let mut state = self.state();
            state.left = true;
            let connections: Vec<_> = state.connections.values().cloned().collect();
            (connections, state.stand_ins.take())
        };
        for connection in connections {
            connection.close();
        }
        self.end(stand_ins);
        self.changed.notify_waiters();
    }

    /// Says what comes to a process of theirs from one of ours that may have sent it something by any stand-in:
    /// behind what those have yet to say (M2), but for `own`, which has said all.
    pub(super) fn say_behind(
        &self,
        connection: &Arc<Connection>,
        theirs: &purlin_term::Pid,
        own: Option<ProcessId>,
        said: (Control, Option<Term>),
    ) {
        let process = (connection.node.clone(), Named::Pid(theirs.clone()));
        let mut others = self.state().stand_ins.of(&process);
        others.retain(|other| Some(other.id()) != own);
        let connection = Arc::clone(connection);
        let behind = Behind { connection, theirs: theirs.clone(), said: Some(said) };
        let all_before = ExitReason::error(behind);
        for other in others {
            let signal = ForeignSignal::Down(self.ids.monitor(), all_before.clone());
            self.ids.node.deliver(&other, other.id(), signal);
        }
    }

    /// Has stand-ins end behind all that they have been sent.
    fn end(&self, stand_ins: Vec<LocalProcess>) {
        for stand_in in stand_ins {
            let nobody_left = ForeignSignal::Down(self.ids.monitor(), ExitReason::Normal);
            self.ids.node.deliver(&stand_in, stand_in.id(), nobody_left);
        }
    }

    /// Has `told` called once, when the node is gone; at once if it is not connected.
    pub(super) fn when_down(&self, node: &NodeName, told: NodeDown) {
        let mut state = self.state();
        if state.connections.contains_key(node) {
            state.watches.entry(node.clone()).or_default().push(told);
        } else {
            drop(state);
            told(node);
        }
    }

    /// For which processes elsewhere some of ours stand.
    pub(super) fn stand_for(&self, some: &HashSet<ProcessId>) -> Vec<(ProcessId, NodeName, Named)> {
        self.state().stand_ins.stand_for(some)
    }

    /// The stand-in in whose name a process elsewhere sends signals; `None` if there is no room for one.
    pub(super) fn stand_in(self: &Arc<Self>, of: &purlin_term::Pid) -> Option<Pid<Term>> {
        self.term_stand_in(of.node.as_str().parse().ok()?, Named::Pid(of.clone()))
    }

    /// The stand-in for a process that is sent terms.
    pub(super) fn term_stand_in(self: &Arc<Self>, node: NodeName, to: Named) -> Option<Pid<Term>> {
        self.stand_in_for(node, to, || Arc::new(|term, _| Ok(Some(term))))
    }

    /// The process of ours to which things come that are said to that name.
    pub(super) fn local_name(&self, name: &str) -> Option<LocalProcess> {
        self.sharers.find(name).or_else(|| self.ids.node.local_name(name))
    }

    /// The stand-in for who has that name elsewhere, for terms.
    pub(super) fn named(self: &Arc<Self>, name: Atom, node: &NodeName) -> Option<Pid<Term>> {
        self.term_stand_in(node.clone(), Named::Name(name))
    }

    /// The stand-in for a process, with messages of that type, which become terms by `encode`.
    pub(super) fn stand_in_for<M: Send + 'static>(
        self: &Arc<Self>,
        node: NodeName,
        to: Named,
        encode: impl FnOnce() -> Encode<M>,
    ) -> Option<Pid<M>> {
        let key = (node, to);
        let state = self.state();
        if let Some(known) = state.stand_ins.find(&key, TypeId::of::<M>()) {
            return known.pid().ok();
        }
        let own = Arc::default();
        let (node, to) = key.clone();
        let remote = Remote::new(Arc::clone(self), node, to, encode(), Arc::clone(&own));
        let stand_in = match self.ids.node.stand_in(STAND_IN, remote) {
            Ok(stand_in) => stand_in,
            Err(error) => {
                warn!("no stand-in for a process elsewhere: {error}");
                return None;
            }
        };
        let listed = own.get_or_init(|| LocalProcess::from(&stand_in)).clone();
        self.list(state, key, listed);
        Some(stand_in)
    }

    /// Lists a stand-in of a process that nothing of ours stood for.
    pub(super) fn add_stand_in(&self, of: (NodeName, Named), stand_in: LocalProcess) {
        self.list(self.state(), of, stand_in);
    }

    fn list(&self, mut state: MutexGuard<'_, State>, of: (NodeName, Named), listed: LocalProcess) {
        let mut unused = state.stand_ins.add(of, listed);
        if state.left {
            unused.extend(state.stand_ins.take());
        }
        drop(state);
        self.end(unused);
    }
}

/// A node is gone, for those who wanted to be told.
fn tell(told: Option<Vec<NodeDown>>, node: &NodeName) {
    for told in told.into_iter().flatten() {
        // WHY caught, here and where messages are read: it is a function of the user's, in a task of ours.
        if catch_unwind(AssertUnwindSafe(|| told(node))).is_err() {
            warn!(%node, "a function that is called when a node is gone has panicked");
        }
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("name", &self.ids.name).finish_non_exhaustive()
    }
}
