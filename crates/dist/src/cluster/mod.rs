//! A purlin node in an Erlang cluster.
//!
//! A [`Cluster`] gives a [`Node`] a name, a registration with epmd and connections to other nodes. Local
//! processes send to, link to and monitor remote processes like local ones. To other nodes it is an
//! ordinary node: they can ping it, send to its processes by pid and by name, link to and monitor them,
//! and call its servers and its exported functions.
//!
//! ```no_run
//! use purlin::{Node, Process};
//! use purlin_dist::cluster::Cluster;
//! use purlin_term::Term;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let node = Node::builder().build()?;
//! let cluster = Cluster::builder("shop@127.0.0.1".parse()?).cookie("secret").start(&node).await?;
//! let printer = node.spawn(async |mut me: Process<Term>| println!("{}", me.receive().await));
//! node.register("printer", &printer)?;
//! // In `erl -name a@127.0.0.1 -setcookie secret`: {printer, 'shop@127.0.0.1'} ! hello.
//! if let Some(shell) = cluster.named::<Term>("shell", &"a@127.0.0.1".parse()?) {
//!     shell.send(Term::atom("hello"));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Remote processes
//!
//! A remote process is represented by a *proxy* ([`purlin::remote`]): a local process-table entry
//! with a [`Pid`]. Links, monitors and exit signals go through it; an [`purlin::Exit`] or a
//! [`purlin::Down`] names it. A signal without a connection establishes one, as in Erlang. If no
//! connection can be established, messages are dropped, and links and monitors fire `noconnection`.
//! Messages of one local process through one proxy arrive in order; between two proxies no order is
//! guaranteed. There is one proxy for each remote process and message type. It ends some time after
//! its last `Pid` is dropped.
//!
//! When the last [`Cluster`] is dropped, the node leaves the cluster and all proxies end. When the node
//! stops ([`Node::stop`]), its connections end; remote processes receive `noconnection`, and no exit
//! signals.
//!
//! # Messages
//!
//! Messages are terms. A process of type [`Term`] receives any. For another type the cluster needs a
//! decoder, registered once ([`Cluster::receives`]), by `serde` or a function. A message that cannot be
//! decoded is dropped and counted ([`Cluster::undecoded`]); the first one is logged. A bounded mailbox
//! never blocks a connection: with [`purlin::Overflow::Wait`] it accepts remote messages beyond its
//! bound; the other policies apply to them unchanged.
//!
//! # Hidden and published nodes
//!
//! The node is hidden unless [`Builder::published`] is set: other nodes do not connect to it
//! automatically, `nodes()` of the BEAM does not list it, and `global` ignores it.
//!
//! | file | role |
//! |---|---|
//! | `builder.rs` | configuration and start |
//! | `core.rs` | shared state: connections, and how they are established |
//! | `reach.rs` | hosts, cookies, TLS |
//! | `connection.rs`, `link_table.rs` | one connection, and its table of links and monitors |
//! | `proxies.rs` | registry of proxies, and the end of unused ones |
//! | `remote.rs` | outgoing: from a proxy to the wire |
//! | `incoming.rs`, `decoders.rs` | incoming: from the wire to local processes, as typed messages |
//! | `ids.rs`, `reason.rs`, `gen_call.rs` | conversion of ids, exit reasons and calls |
//! | `deliver.rs` | delivery of payloads to local processes |
//! | `nodes.rs` | notification of node changes |
//! | `ping.rs` | round-trip time to a node |
//! | `groups/` | process groups shared with `pg` |
//! | `global/` | `global`, on a published node |
//! | `alias.rs` | local and remote aliases |
//! | `call.rs`, `spawn.rs` | outgoing calls and spawn requests |
//! | `serving/` | local servers and supervisors for `gen_server`, `supervisor` and `sys` |
//! | `builtin/` | built-in exported functions, for `observer` and others |
//! | `logs.rs` | forwarding of log events to subscribed nodes |
//! | `export.rs`, `rex.rs`, `spawned.rs` | exported functions, and the processes that run them |

mod alias;
mod builder;
mod builtin;
mod call;
mod connection;
mod core;
mod decoders;
mod deliver;
mod export;
mod gen_call;
mod global;
mod groups;
mod ids;
mod incoming;
mod link_table;
mod logs;
mod nodes;
mod ping;
mod proxies;
mod reach;
mod reason;
mod remote;
mod rex;
mod serving;
mod spawn;
mod spawned;

use std::any::{Any, TypeId};
use std::fmt;
use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use purlin::server::{Mail, Server};
use purlin::{Node, Pid, Process, ProcessId};
use purlin_term::{Atom, Term};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::AbortHandle;

use self::core::Core;
use self::deliver::Target;
use crate::connect::NoConnection;
use crate::control::Named;
use crate::epmd::Registration;
use crate::frame::Unread;
use crate::link::Traffic;
use crate::name::NodeName;

pub use builder::{Builder, StartError};
pub use call::CallError;
pub use export::Outcome;
pub use gen_call::GenCall;
pub use global::NotRegistered;
pub use groups::NotShared;
pub use logs::Logs;
pub use nodes::NodeChange;
pub use ping::PingError;
pub use reason::TermReason;
pub use serving::{Caller, Served};
pub use spawn::NotSpawned;

/// Handle to a node's membership in a cluster. Clones refer to the same membership; dropping the last one leaves it.
#[derive(Clone, Debug)]
pub struct Cluster {
    inner: Arc<Inner>,
}

/// Weak handle to a node's membership in a cluster. Clones refer to the same membership.
#[derive(Clone, Debug)]
pub struct WeakCluster(Weak<Inner>);

impl WeakCluster {
    /// Returns the cluster, or `None` if the node has left it.
    #[must_use]
    pub fn upgrade(&self) -> Option<Cluster> {
        self.0.upgrade().map(|inner| Cluster { inner })
    }
}

#[derive(Debug)]
struct Inner {
    core: Arc<Core>,
    /// Listener task; like the registration, `None` on an outgoing-only node.
    answering: Option<AbortHandle>,
    _registration: Option<Registration>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(answering) = &self.answering {
            answering.abort();
        }
        self.core.leave();
    }
}

impl Cluster {
    /// Returns the configuration of a node with that name.
    pub fn builder(name: NodeName) -> Builder {
        Builder::new(name)
    }

    fn core(&self) -> &Arc<Core> {
        &self.inner.core
    }

    /// Returns a weak handle, which does not keep the node in the cluster.
    #[must_use]
    pub fn downgrade(&self) -> WeakCluster {
        WeakCluster(Arc::downgrade(&self.inner))
    }

    /// The node's name in the cluster.
    #[must_use]
    pub fn name(&self) -> &NodeName {
        &self.core().ids.name
    }

    /// The local node.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.core().ids.node
    }

    /// Returns the connected nodes, sorted by name, as Erlang's `nodes(connected)` does.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeName> {
        self.core().connected()
    }

    /// Returns the connected nodes, with the traffic of each connection.
    ///
    /// COST: takes two locks that senders also take, each for a few instructions.
    #[must_use]
    pub fn traffic(&self) -> Vec<(NodeName, Traffic)> {
        self.core().traffic()
    }

    /// Connects to a node, unless it is connected, as Erlang's `net_kernel:connect_node` does.
    ///
    /// *Cancellation*: the attempt continues.
    ///
    /// # Errors
    /// [`NoConnection`]: the node is not registered with epmd, does not answer, or has another cookie.
    pub async fn connect(&self, node: &NodeName) -> Result<(), Arc<NoConnection>> {
        self.core().connect(node).await.map(drop)
    }

    /// Closes the connection to a node. Returns whether there was one. Links and monitors over it fire `noconnection`.
    pub fn disconnect(&self, node: &NodeName) -> bool {
        let connection = self.core().connection(node);
        connection
            .as_ref()
            .and_then(|connection| connection.link())
            .inspect(|link| link.close())
            .is_some()
    }

    /// Calls `told` once when the connection to the node ends; immediately if it is not connected. Erlang's
    /// `monitor_node`, with a message of the caller's choice:
    ///
    /// ```no_run
    /// # use purlin::Pid;
    /// # use purlin_dist::{NodeName, cluster::Cluster};
    /// # struct Lost(NodeName);
    /// # fn example(cluster: &Cluster, me: Pid<Lost>, other: &NodeName) {
    /// cluster.when_down(other, move |node| me.send(Lost(node.clone())));
    /// # }
    /// ```
    pub fn when_down(&self, node: &NodeName, told: impl FnOnce(&NodeName) + Send + 'static) {
        self.core().when_down(node, Box::new(told));
    }

    /// Returns the external pid of a local process, for use in terms sent to other nodes.
    #[must_use]
    pub fn term_of(&self, process: ProcessId) -> purlin_term::Pid {
        self.core().ids.pid(process)
    }

    /// Returns a remote process by its pid, with messages of type `M`. Returns `None` if the process limit is reached,
    /// or the node part of the pid is not a valid node name.
    ///
    /// For a process of this node use [`Node::pid`].
    pub fn pid<M: Serialize + Send + 'static>(&self, of: &purlin_term::Pid) -> Option<Pid<M>> {
        let node = of.node.as_str().parse().ok()?;
        self.core().typed_proxy(node, Named::Pid(of.clone()), || Arc::new(written::<M>))
    }

    /// Returns a handle to a registered name on a remote node. Each message goes to the process that has the name when
    /// the message arrives; without one it is dropped. A monitor watches the process that has the name when the monitor
    /// arrives (D5). Returns `None` as [`Cluster::pid`] does, and if the name is not a valid atom.
    pub fn named<M: Serialize + Send + 'static>(
        &self,
        name: &str,
        on: &NodeName,
    ) -> Option<Pid<M>> {
        let to = Named::Name(Atom::new(name).ok()?);
        self.core().typed_proxy(on.clone(), to, || Arc::new(written::<M>))
    }

    /// Decodes terms as messages of type `M` by `serde`, for all local processes that receive this type.
    pub fn receives<M: DeserializeOwned + Send + 'static>(&self) {
        let decode = |to: Target, message: Unread<'_>| {
            // The recipient's type is the one this decoder was found for.
            let _ = to.send(message.value::<M>()?);
            Ok(())
        };
        self.core().decoders.add(TypeId::of::<M>(), Arc::new(decode));
    }

    /// Like [`Cluster::receives`], with a function instead of `serde`.
    pub fn receives_by<M, F>(&self, read: F)
    where
        M: Send + 'static,
        F: Fn(Term) -> Result<M, String> + Send + Sync + 'static,
    {
        self.core().decodes(read);
    }

    /// Lets remote processes use all local servers of type `S`: with `gen_server:call` and `cast`, with plain messages,
    /// and with `sys`; see [`Served`].
    pub fn serves<S: Server>(&self, served: Served<S>) {
        let (core, mail) = (self.core(), TypeId::of::<Mail<S>>());
        core.systems.insert(mail, served.system());
        let decode = served.decode(Arc::downgrade(core));
        core.decoders.add(mail, decode);
    }

    /// Number of remote messages dropped because they could not be decoded for their process.
    #[must_use]
    pub fn undecoded(&self) -> u64 {
        self.core().undecoded.load(Ordering::Relaxed)
    }

    /// Exports a function: remote nodes can call it by module, name and arity with `rpc:call` and `erpc:call`, and
    /// spawn a process that runs it. An `Err` becomes the reason of an `error` there.
    ///
    /// # Errors
    /// A name is too long for an atom.
    pub fn export<F, Fut>(
        &self,
        module: &str,
        name: &str,
        arity: usize,
        function: F,
    ) -> Result<(), purlin_term::AtomTooLong>
    where
        F: Fn(Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        self.export_process(module, name, arity, move |_, arguments| function(arguments))
    }

    /// Like [`Cluster::export`], for a function that also receives the process that runs it: to receive messages from
    /// the process that spawned it, to link, or to send its own pid. It should not hold a [`Cluster`], because then the
    /// node would never leave.
    ///
    /// ```no_run
    /// # use purlin_dist::cluster::Cluster;
    /// # use purlin_term::Term;
    /// # fn example(cluster: &Cluster) -> Result<(), purlin_term::AtomTooLong> {
    /// // spawn_monitor('shop@127.0.0.1', shop, wait, [])
    /// cluster.export_process("shop", "wait", 0, async |mut me, _| Ok(me.receive().await))
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Cluster::export`].
    pub fn export_process<F, Fut>(
        &self,
        module: &str,
        name: &str,
        arity: usize,
        function: F,
    ) -> Result<(), purlin_term::AtomTooLong>
    where
        F: Fn(Process<Term>, Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let (module, name) = (Atom::new(module)?, Atom::new(name)?);
        self.core().exports.insert(module, name, arity, function);
        Ok(())
    }

    /// Answers a call from a remote process. Drops the answer if the caller's node is disconnected.
    pub fn reply(&self, call: GenCall, reply: Term) {
        self.core().reply(call, reply);
    }
}

/// Appends the encoding of a message to the buffer; returns a [`Term`] unchanged instead.
fn written<M: Serialize + 'static>(
    message: M,
    bytes: &mut Vec<u8>,
) -> Result<Option<Term>, String> {
    let mut message = Some(message);
    if let Some(term) = (&mut message as &mut dyn Any).downcast_mut::<Option<Term>>() {
        return Ok(term.take());
    }
    let Some(message) = message else { return Ok(None) };
    purlin_term::Options::default().write(&message, bytes).map_err(|error| error.to_string())?;
    Ok(None)
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.name(), f)
    }
}
