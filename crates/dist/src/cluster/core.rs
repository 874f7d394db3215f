//! What all handles of a cluster share: who is connected, and how that comes about.

use std::any::TypeId;
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use purlin::foreign::LocalProcess;
use purlin::{ExitReason, Pid, Process};
use purlin_term::{Atom, Term};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tracing::warn;

use super::connection::Connection;
use super::export::{Exports, Job};
use super::ids::Ids;
use super::incoming::Incoming;
use super::ledger::Theirs;
use super::reason::Why;
use super::remote::{Encode, Remote};
use crate::connect::{NoConnection, call, dial};
use crate::control::{Control, Named, Spawn};
use crate::cookie::Cookie;
use crate::epmd::Epmd;
use crate::handshake::{Called, Caller, Established, Local, Verdict};
use crate::link::{Link, Settings};
use crate::listener::{Came, Listener};
use crate::name::NodeName;
use crate::peers::Peers;

/// Makes a message out of a term and sends it; an error says why it is none.
pub(super) type Decode = Arc<dyn Fn(LocalProcess, Term) -> Result<(), String> + Send + Sync>;

/// What is done when a node is gone.
type NodeDown = Box<dyn FnOnce(&NodeName) + Send>;

/// How many messages for one process elsewhere wait in its stand-in while its connection has no room.
const STAND_IN: usize = 1024;

pub(super) struct Core {
    pub(super) ids: Arc<Ids>,
    pub(super) local: Local,
    pub(super) epmd: Epmd,
    cookie: Cookie,
    settings: Settings,
    pub(super) runtime: Handle,
    state: Mutex<State>,
    /// A connection is there, or an attempt is over.
    changed: Notify,
    pub(super) decoders: RwLock<HashMap<TypeId, Decode>>,
    pub(super) exports: Exports,
    /// Messages from elsewhere that were none for their process.
    pub(super) undecoded: AtomicU64,
}

struct State {
    peers: Peers,
    connections: HashMap<NodeName, Arc<Connection>>,
    /// Calls of ours that are under way.
    calls: HashMap<NodeName, AbortHandle>,
    /// Stand-ins in whose name processes elsewhere send signals.
    stand_ins: HashMap<purlin_term::Pid, Pid<Term>>,
    watches: HashMap<NodeName, Vec<NodeDown>>,
}

impl Core {
    pub(super) fn new(
        ids: Ids,
        local: Local,
        epmd: Epmd,
        cookie: Cookie,
        settings: Settings,
        runtime: Handle,
    ) -> Arc<Self> {
        let peers = Peers::new(ids.name.clone());
        let (connections, calls) = (HashMap::new(), HashMap::new());
        let (stand_ins, watches) = (HashMap::new(), HashMap::new());
        let state = Mutex::new(State { peers, connections, calls, stand_ins, watches });
        let (ids, changed) = (Arc::new(ids), Notify::new());
        let (decoders, exports, undecoded) = Default::default();
        Arc::new(Self {
            ids,
            local,
            epmd,
            cookie,
            settings,
            runtime,
            state,
            changed,
            decoders,
            exports,
            undecoded,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nobody panics under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection to a node, if there is one.
    pub(super) fn connection(&self, node: &NodeName) -> Option<Arc<Connection>> {
        self.state().connections.get(node).cloned()
    }

    pub(super) fn connected(&self) -> Vec<NodeName> {
        let mut nodes: Vec<_> = self.state().connections.keys().cloned().collect();
        nodes.sort_unstable();
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
    ) -> Result<(TcpStream, Established), NoConnection> {
        let mut stream = dial(&self.epmd, &node).await?;
        let is_dead = || self.state().peers.is_dead(&node);
        let cookie = self.cookie.clone();
        let established = call(&mut stream, &self.local, node.clone(), cookie, is_dead).await?;
        Ok((stream, established))
    }

    /// Answers nodes that call, until it is dropped.
    pub(super) async fn answer(self: Arc<Self>, socket: tokio::net::TcpListener) {
        let core = Arc::clone(&self);
        let decide = move |caller: &Caller| {
            let verdict = match &caller.called {
                Called::Name(name) => core.state().peers.called(name),
                Called::Host(_) => Verdict::NotAllowed,
            };
            (verdict, core.cookie.clone())
        };
        let mut listener = Listener::new(socket, self.local.clone(), decide);
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
        stream: TcpStream,
        established: Established,
        our_call: bool,
    ) -> Arc<Connection> {
        let node = established.peer.clone();
        let (up, before) = {
            let mut state = self.state();
            let up = state.peers.up(&node, our_call);
            let before = state.connections.remove(&node);
            if up.give_up_call
                && let Some(call) = state.calls.get(&node)
            {
                call.abort();
            }
            (up, before)
        };
        if let Some(before) = before {
            before.link().inspect(|link| link.close());
            self.lost(&before);
        }
        let connection = Connection::new(node.clone(), up.connection, &self.ids);
        // WHY before the link: what comes first may have to be answered.
        self.state().connections.insert(node, Arc::clone(&connection));
        let incoming = Incoming { core: Arc::clone(self), connection: Arc::clone(&connection) };
        let entered = self.runtime.enter();
        let link = Link::start(stream, established, self.settings, incoming);
        drop(entered);
        connection.linked(link.clone());
        self.changed.notify_waiters();
        self.runtime.spawn(Arc::clone(self).watch(link, Arc::clone(&connection)));
        connection
    }

    async fn watch(self: Arc<Self>, link: Link, connection: Arc<Connection>) {
        link.ended().await;
        let is_gone = {
            let mut state = self.state();
            let is_gone = state.peers.down(&connection.node, connection.number);
            if is_gone {
                state.connections.remove(&connection.node);
            }
            is_gone
        };
        if is_gone {
            self.lost(&connection);
        }
        self.changed.notify_waiters();
    }

    /// The node leaves the cluster.
    pub(super) fn disconnect_all(&self) {
        let connections: Vec<_> = self.state().connections.values().cloned().collect();
        for connection in connections {
            connection.link().inspect(|link| link.close());
        }
    }

    fn lost(&self, connection: &Connection) {
        connection.lose(&self.ids.node);
        let watches = self.state().watches.remove(&connection.node);
        for told in watches.into_iter().flatten() {
            told(&connection.node);
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

    /// The stand-in in whose name a process elsewhere sends signals; `None` if there is no room for one.
    pub(super) fn stand_in(self: &Arc<Self>, of: &purlin_term::Pid) -> Option<Pid<Term>> {
        if let Some(known) = self.state().stand_ins.get(of) {
            return Some(known.clone());
        }
        let node = of.node.as_str().parse().ok()?;
        let made = self.make_stand_in(node, Named::Pid(of.clone()), Arc::new(Ok))?;
        // Two may have made one at once: the first counts.
        Some(self.state().stand_ins.entry(of.clone()).or_insert(made).clone())
    }

    /// Gives a process of ours a term from elsewhere, as a message of its type. What is none is counted, and
    /// logged the first time.
    pub(super) fn receive(&self, process: LocalProcess, term: Term) {
        let kind = process.message_type();
        if kind == TypeId::of::<Term>() {
            if let Ok(pid) = process.pid::<Term>() {
                pid.send(term);
            }
            return;
        }
        let decoders = self.decoders.read().unwrap_or_else(PoisonError::into_inner);
        let (id, decode) = (process.id(), decoders.get(&kind).cloned());
        drop(decoders);
        let result = match decode {
            Some(decode) => decode(process, term),
            None => Err("the cluster was not told how to read its messages".to_owned()),
        };
        if let Err(error) = result {
            // ORDER: relaxed: it counts, and nothing else.
            if self.undecoded.fetch_add(1, Ordering::Relaxed) == 0 {
                warn!(process = %id, "a message from elsewhere was dropped: {error}");
            }
        }
    }

    /// Runs an exported function for a process elsewhere, and says so.
    pub(super) fn spawn_for(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        spawn: Spawn,
        arguments: Vec<Term>,
    ) {
        let answer = |result: Result<purlin_term::Pid, Atom>, monitored| Control::Spawned {
            request: spawn.request.clone(),
            to: spawn.from.clone(),
            linked: false,
            monitored,
            result,
            token: None,
        };
        let refuse = |why| connection.say(None, answer(Err(Atom::from_static(why)), false), None);
        let Some(job) = Job::of(&self.exports, &spawn, arguments) else { return refuse("notsup") };
        let asked = |what| spawn.options.iter().any(|option: &Term| option.is_atom(what));
        if asked("link") {
            return refuse("notsup");
        }
        let theirs = Theirs {
            watcher: spawn.from.clone(),
            reference: spawn.request.clone(),
            watched: Named::Pid(self.ids.pid_of_node()),
        };
        // It begins when it has been told of, so that its end is not told before.
        let (begin, begun) = tokio::sync::oneshot::channel();
        let runs = async move |_: Process<Infallible>| match begun.await {
            Ok(()) => ExitReason::error(Why(job.run().await)),
            Err(_) => ExitReason::Normal,
        };
        match self.ids.node.try_spawn(runs) {
            Ok(pid) => {
                let pid = self.ids.pid(pid.id());
                connection.say(None, answer(Ok(pid.clone()), asked("monitor")), None);
                if asked("monitor")
                    && let Some(ours) = self.ids.ours(&pid)
                {
                    let theirs = Theirs { watched: Named::Pid(pid), ..theirs };
                    connection.watched(&self.ids, ours, theirs);
                }
                let _ = begin.send(());
            }
            Err(_) => refuse("system_limit"),
        }
    }

    /// A stand-in whose messages become terms by `encode`.
    pub(super) fn make_stand_in<M: Send + 'static>(
        self: &Arc<Self>,
        node: NodeName,
        to: Named,
        encode: Encode<M>,
    ) -> Option<Pid<M>> {
        let remote = Remote::new(Arc::clone(self), node, to, encode);
        match self.ids.node.stand_in(STAND_IN, remote) {
            Ok(stand_in) => Some(stand_in),
            Err(error) => {
                warn!("no stand-in for a process elsewhere: {error}");
                None
            }
        }
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("name", &self.ids.name).finish_non_exhaustive()
    }
}
