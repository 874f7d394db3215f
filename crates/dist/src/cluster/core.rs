//! Shared state of all handles of a cluster: connections, and how they are established.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use purlin::remote::{LocalProcess, RemoteSignal};
use purlin::{ExitReason, Pid, ProcessId};
use purlin_term::{Atom, Term};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tracing::warn;

use super::connection::{Connection, Deferred};
use super::decoders::{Decoders, LastUsed};
use super::export::Exports;
use super::global::Global;
use super::groups::Sharers;
use super::ids::Ids;
use super::incoming::{Incoming, LastTo};
use super::nodes::{NodeChange, Nodes};
use super::proxies::Proxies;
use super::reach::Reach;
use super::remote::{Encode, Remote};
use super::serving::Systems;
use crate::connect::NoConnection;
use crate::connection_table::ConnectionTable;
use crate::control::{Control, Named};
use crate::flags::Flags;
use crate::handshake::{Called, Caller, Established, LocalNode, Verdict};
use crate::link::{Link, Settings, Traffic};
use crate::listener::{Accepted, Listener};
use crate::name::NodeName;
use crate::stream::Stream;

/// Callback for the loss of a node.
type NodeDown = Box<dyn FnOnce(&NodeName) + Send>;

/// Capacity of a proxy's mailbox, used while its connection has no capacity.
pub(super) const PROXY_MAILBOX: usize = 1024;

pub(super) struct Core {
    pub(super) ids: Arc<Ids>,
    pub(super) local: LocalNode,
    reach: Reach,
    settings: Settings,
    /// Maximum wait for a local process that a remote tool inspects.
    pub(super) answers_within: Duration,
    pub(super) runtime: Handle,
    state: Mutex<State>,
    /// Notified when a connection is established or an attempt ends.
    changed: Notify,
    pub(super) decoders: Decoders,
    /// Functions for `sys` requests, by message type of the process.
    pub(super) systems: Systems,
    pub(super) exports: Exports,
    pub(super) nodes: Nodes,
    pub(super) sharers: Sharers,
    /// Set on a published node.
    pub(super) global: OnceLock<Global>,
    /// Number of remote messages dropped because they could not be decoded.
    pub(super) undecoded: AtomicU64,
}

struct State {
    connection_table: ConnectionTable,
    connections: HashMap<NodeName, Arc<Connection>>,
    /// Outgoing calls in progress.
    calls: HashMap<NodeName, AbortHandle>,
    proxies: Proxies,
    /// The node has left the cluster.
    left: bool,
    watches: HashMap<NodeName, Vec<NodeDown>>,
}

impl Core {
    pub(super) fn new(
        ids: Ids,
        local: LocalNode,
        reach: Reach,
        settings: Settings,
        answers_within: Duration,
        runtime: Handle,
    ) -> Arc<Self> {
        let peers = ConnectionTable::new(ids.name.clone());
        let (connections, calls) = (HashMap::new(), HashMap::new());
        let (proxies, watches) = (Proxies::new(), HashMap::new());
        let state =
            State { connection_table: peers, connections, calls, proxies, left: false, watches };
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
        // No code under the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The established connection to a node, or `None`. WHY not a lost one: a process that has received `noconnection`
    /// sends its next message over a new connection.
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
        // WHY outside the lock: a link's lock is held while a message is written to it, which can take long.
        let all: Vec<_> = self.state().connections.values().cloned().collect();
        let up = |there: Arc<Connection>| Some((there.node.clone(), there.link()?.traffic()));
        let mut nodes: Vec<_> = all.into_iter().filter_map(up).collect();
        nodes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        nodes
    }

    /// Returns the connection to a node; connects first if necessary.
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
            // The peer's call won over ours, and has failed.
            if let Some(refused) = refused {
                return Err(refused);
            }
            if *node == self.ids.name {
                return Err(Arc::new(NoConnection::Unknown(node.clone())));
            }
            if self.state().connection_table.call(node) {
                // WHY a task: this future may be dropped, and the call must still run to its end.
                match self.runtime.spawn(Arc::clone(self).call(node.clone())).await {
                    Ok(Ok(connection)) => return Ok(connection),
                    Ok(Err(error)) if matches!(*error, NoConnection::Refused(_)) => {
                        refused = Some(error)
                    }
                    Ok(Err(error)) => return Err(error),
                    // The peer's call won.
                    Err(_) => {}
                }
                if refused.is_some() && !self.state().connection_table.is_answering(node) {
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
            // Cancelled in favour of the peer's call.
            Err(_) => match self.connection(&node) {
                Some(connection) => Ok(connection),
                None => Err(Arc::new(NoConnection::Slow)),
            },
        };
        if result.is_err() {
            self.state().connection_table.call_failed(&node);
        }
        self.changed.notify_waiters();
        result
    }

    async fn shake_hands(
        self: Arc<Self>,
        node: NodeName,
    ) -> Result<(Stream, Established), NoConnection> {
        let is_dead = || self.state().connection_table.is_dead(&node);
        self.reach.call(&self.local, node.clone(), is_dead).await
    }

    /// Accepts connections until the future is dropped.
    pub(super) async fn answer(self: Arc<Self>, socket: tokio::net::TcpListener) {
        let core = Arc::clone(&self);
        let decide = move |caller: &Caller| {
            let verdict = match &caller.called {
                Called::Name(name) => core.state().connection_table.called(name),
                Called::Host(_) => Verdict::NotAllowed,
            };
            (verdict, core.reach.cookie_for(caller))
        };
        let listener = Listener::new(socket, self.local.clone(), decide);
        let mut listener = listener.over(self.reach.tls.clone());
        loop {
            match listener.next().await {
                Accepted::Up(stream, established) => drop(self.up(stream, established, false)),
                Accepted::Failed(node) => {
                    self.state().connection_table.answer_failed(&node);
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
            let up = state.connection_table.up(&node, our_call);
            if up.give_up_call
                && let Some(call) = state.calls.get(&node)
            {
                call.abort();
            }
            // WHY under this lock: another connection may be coming up, and must find this one.
            let connection = Connection::new(node.clone(), up.connection, self);
            let before = state.connections.insert(node.clone(), Arc::clone(&connection));
            let told = before.as_ref().and_then(|_| state.watches.remove(&node));
            (connection, before, told)
        };
        // WHY before the link: signals of the new connection come after the end of the old one.
        if let Some(before) = before {
            before.close();
            self.lose(&before);
            notify_node_down(told, &node);
        }
        let incoming = Incoming {
            core: Arc::clone(self),
            connection: Arc::clone(&connection),
            last: LastUsed::default(),
            last_to: LastTo::default(),
        };
        let entered = self.runtime.enter();
        // WHY on the node's workers: a message is received where it was read and a frame is written where it was sent,
        // without waking another thread.
        let serve = |task| {
            // The node is stopping, which closes the link.
            let _ = self.ids.node.spawn_system(task);
        };
        let link = Link::start_on(stream.halves(), established, self.settings, incoming, serve);
        drop(entered);
        // WHY before it is linked: no message of the peer is processed before that.
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
        // WHY first: signals of the next connection come after the end of this one.
        self.lose(&connection);
        let told = {
            let mut state = self.state();
            let is_gone = state.connection_table.down(&connection.node, connection.number);
            is_gone.then(|| state.connections.remove(&connection.node));
            if is_gone { state.watches.remove(&connection.node) } else { None }
        };
        self.changed.notify_waiters();
        notify_node_down(told, &connection.node);
    }

    /// Notifies links and monitors of a lost connection, and subscribers of node changes.
    fn lose(&self, connection: &Connection) {
        if connection.lose(&self.ids.node) {
            let visible = connection.flags().has(Flags::PUBLISHED);
            self.nodes.tell(&connection.node, NodeChange::Down { visible });
        }
    }

    /// Leaves the cluster: connections and proxies end.
    pub(super) fn leave(&self) {
        if let Some(global) = self.global.get() {
            global.end();
        }
        self.sharers.end(self);
        let (connections, proxies) = {
            let mut state = self.state();
            state.left = true;
            let connections: Vec<_> = state.connections.values().cloned().collect();
            (connections, state.proxies.take())
        };
        for connection in connections {
            connection.close();
        }
        self.end(proxies);
        self.changed.notify_waiters();
    }

    /// Sends a message to a remote process from a local process that may have sent it messages through any proxy. It is
    /// sent after the pending messages of all proxies (M2) except `own`, which has none left.
    pub(super) fn send_after_pending(
        &self,
        connection: &Arc<Connection>,
        theirs: &purlin_term::Pid,
        own: Option<ProcessId>,
        said: (Control, Option<Term>),
    ) {
        let process = (connection.node.clone(), Named::Pid(theirs.clone()));
        let mut others = self.state().proxies.of(&process);
        others.retain(|other| Some(other.id()) != own);
        let connection = Arc::clone(connection);
        let behind = Deferred { connection, theirs: theirs.clone(), said: Some(said) };
        let all_before = ExitReason::error(behind);
        for other in others {
            let signal = RemoteSignal::Down(self.ids.monitor(), all_before.clone());
            self.ids.node.deliver(&other, other.id(), signal);
        }
    }

    /// Ends proxies after all their pending messages.
    fn end(&self, proxies: Vec<LocalProcess>) {
        for proxy in proxies {
            let nobody_left = RemoteSignal::Down(self.ids.monitor(), ExitReason::Normal);
            self.ids.node.deliver(&proxy, proxy.id(), nobody_left);
        }
    }

    /// Calls `told` once when the node is disconnected; immediately if it is not connected.
    pub(super) fn when_down(&self, node: &NodeName, told: NodeDown) {
        let mut state = self.state();
        if state.connections.contains_key(node) {
            state.watches.entry(node.clone()).or_default().push(told);
        } else {
            drop(state);
            told(node);
        }
    }

    /// The remote processes that the given local proxies stand for.
    pub(super) fn stand_for(&self, some: &HashSet<ProcessId>) -> Vec<(ProcessId, NodeName, Named)> {
        self.state().proxies.remotes_of(some)
    }

    /// The proxy that sends signals on behalf of a remote process. Returns `None` if the process limit is reached.
    pub(super) fn proxy(self: &Arc<Self>, of: &purlin_term::Pid) -> Option<Pid<Term>> {
        self.term_proxy(of.node.as_str().parse().ok()?, Named::Pid(of.clone()))
    }

    /// The proxy for a remote process that receives terms.
    pub(super) fn term_proxy(self: &Arc<Self>, node: NodeName, to: Named) -> Option<Pid<Term>> {
        self.typed_proxy(node, to, || Arc::new(|term, _| Ok(Some(term))))
    }

    /// The local process that receives remote messages to this name.
    pub(super) fn local_name(&self, name: &str) -> Option<LocalProcess> {
        self.sharers.find(name).or_else(|| self.ids.node.local_name(name))
    }

    /// The proxy, for terms, of a remote registered name.
    pub(super) fn named(self: &Arc<Self>, name: Atom, node: &NodeName) -> Option<Pid<Term>> {
        self.term_proxy(node.clone(), Named::Name(name))
    }

    /// The proxy of a remote process for messages of type `M`, which `encode` converts to terms.
    pub(super) fn typed_proxy<M: Send + 'static>(
        self: &Arc<Self>,
        node: NodeName,
        to: Named,
        encode: impl FnOnce() -> Encode<M>,
    ) -> Option<Pid<M>> {
        let key = (node, to);
        let state = self.state();
        if let Some(known) = state.proxies.find(&key, TypeId::of::<M>()) {
            return known.pid().ok();
        }
        let own = Arc::default();
        let (node, to) = key.clone();
        let remote = Remote::new(Arc::clone(self), node, to, encode(), Arc::clone(&own));
        let proxy = match self.ids.node.spawn_proxy(PROXY_MAILBOX, remote) {
            Ok(proxy) => proxy,
            Err(error) => {
                warn!("no proxy for a remote process: {error}");
                return None;
            }
        };
        let listed = own.get_or_init(|| LocalProcess::from(&proxy)).clone();
        self.list(state, key, listed);
        Some(proxy)
    }

    /// Adds an existing proxy for a remote process that had none.
    pub(super) fn add_proxy(&self, of: (NodeName, Named), proxy: LocalProcess) {
        self.list(self.state(), of, proxy);
    }

    fn list(&self, mut state: MutexGuard<'_, State>, of: (NodeName, Named), listed: LocalProcess) {
        let mut unused = state.proxies.add(of, listed);
        if state.left {
            unused.extend(state.proxies.take());
        }
        drop(state);
        self.end(unused);
    }
}

/// Calls the callbacks for a lost node.
fn notify_node_down(told: Option<Vec<NodeDown>>, node: &NodeName) {
    for told in told.into_iter().flatten() {
        // WHY caught, here and where messages are decoded: user code runs in one of our tasks.
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
