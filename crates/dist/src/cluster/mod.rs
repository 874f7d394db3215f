//! A purlin node in an Erlang cluster.
//!
//! A [`Cluster`] gives a [`Node`] a name, an epmd to be found by, and connections to other nodes,
//! whose processes are then sent to, linked to and monitored like its own. To them it is a node like
//! any other: they ping it, send to its processes by pid and by name, link and monitor, call its
//! servers and its exported functions.
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
//! # What a process elsewhere is here
//!
//! A *stand-in* ([`purlin::foreign`]): a cell with a [`Pid`] of its own. Links, monitors and exit
//! signals go through it; an [`purlin::Exit`] or a [`purlin::Down`] names it. It connects when
//! something is sent and there is no connection, as Erlang does; when none can be had messages are
//! dropped, and links and monitors fire `noconnection`. What one process of ours sends through one
//! stand-in arrives in order; between two of them nothing is promised. For one process and one type of
//! message there is one stand-in; it ends some time after the last address of it is gone.
//!
//! With the last [`Cluster`] the node leaves: all stand-ins end. When the node stops
//! ([`Node::stop`]) its connections end; processes elsewhere see `noconnection`, and nothing else.
//!
//! # What messages are
//!
//! Terms. A process of type [`Term`] receives any; for another type the cluster is told once how to
//! read it ([`Cluster::receives`]), by `serde` or otherwise. What does not fit is dropped and counted
//! ([`Cluster::undecoded`]), and logged the first time. A mailbox with a bound holds up no other node:
//! with [`purlin::Overflow::Wait`] it takes what comes from there past the bound; the other policies hold.
//!
//! # Hidden, or published
//!
//! The node is a hidden one, as long as [`Builder::published`] does not say otherwise: others do not connect
//! to it by themselves, `nodes()` of the BEAM does not show it, and `global` does not count it.
//!
//! | file | role |
//! |---|---|
//! | `core.rs` | who is connected, and how that comes about |
//! | `reach.rs` | hosts, cookies, TLS: how other nodes are reached |
//! | `connection.rs`, `ledger.rs` | one connection, and which links and monitors cross it |
//! | `stand_ins.rs` | which stand-ins there are, and which of them end |
//! | `remote.rs` | from a stand-in to the wire |
//! | `incoming.rs`, `decoders.rs` | from the wire to our processes, as messages of their types |
//! | `ids.rs`, `reason.rs`, `gen_call.rs` | names, exit reasons and calls, on both sides |
//! | `deliver.rs` | what has come, given to a process of ours |
//! | `nodes.rs` | being told which nodes come and go |
//! | `ping.rs` | whether a node answers, and how soon |
//! | `groups/` | groups shared with `pg` |
//! | `global/` | a published node: `global` is answered |
//! | `alias.rs` | aliases of ours and of theirs |
//! | `call.rs`, `spawn.rs` | calls of ours, and processes that ours spawn elsewhere |
//! | `serving/` | servers and supervisors of ours, as `gen_server`, `supervisor` and `sys` ask them |
//! | `builtin/` | functions that every node has, for `observer` and others |
//! | `logs.rs` | what is logged, for nodes that ask for it |
//! | `export.rs`, `rex.rs`, `spawned.rs` | functions that others may call, and processes that run them |

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
mod ledger;
mod logs;
mod nodes;
mod ping;
mod reach;
mod reason;
mod remote;
mod rex;
mod serving;
mod spawn;
mod spawned;
mod stand_ins;

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
use self::deliver::For;
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
pub use reason::Why;
pub use serving::{Caller, Served};
pub use spawn::NotSpawned;

/// A node of a cluster. A clone is the same one; with the last one the node leaves it.
#[derive(Clone, Debug)]
pub struct Cluster {
    inner: Arc<Inner>,
}

/// A node of a cluster as long as it is one. A clone is the same one.
#[derive(Clone, Debug)]
pub struct WeakCluster(Weak<Inner>);

impl WeakCluster {
    /// The cluster, unless the node has left it.
    #[must_use]
    pub fn upgrade(&self) -> Option<Cluster> {
        self.0.upgrade().map(|inner| Cluster { inner })
    }
}

#[derive(Debug)]
struct Inner {
    core: Arc<Core>,
    /// Neither is there if it only calls.
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
    /// What a node of that name is to be.
    pub fn builder(name: NodeName) -> Builder {
        Builder::new(name)
    }

    fn core(&self) -> &Arc<Core> {
        &self.inner.core
    }

    /// The cluster for whoever only looks at it: it does not keep the node in it.
    #[must_use]
    pub fn downgrade(&self) -> WeakCluster {
        WeakCluster(Arc::downgrade(&self.inner))
    }

    /// The node's name in the cluster.
    #[must_use]
    pub fn name(&self) -> &NodeName {
        &self.core().ids.name
    }

    /// The node whose processes these are.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.core().ids.node
    }

    /// The nodes it is connected to, by name: Erlang's `nodes(connected)`.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeName> {
        self.core().connected()
    }

    /// The nodes it is connected to, and what has crossed each connection.
    ///
    /// COST: two locks that those who send take too, for some instructions.
    #[must_use]
    pub fn traffic(&self) -> Vec<(NodeName, Traffic)> {
        self.core().traffic()
    }

    /// Connects to a node, unless it is connected: Erlang's `net_kernel:connect_node`.
    ///
    /// *Cancellation*: the attempt goes on.
    ///
    /// # Errors
    /// [`NoConnection`]: epmd does not know it, it does not answer, or does not know the cookie.
    pub async fn connect(&self, node: &NodeName) -> Result<(), Arc<NoConnection>> {
        self.core().connect(node).await.map(drop)
    }

    /// Ends the connection to a node; says whether there was one. What crosses it fires `noconnection`.
    pub fn disconnect(&self, node: &NodeName) -> bool {
        let connection = self.core().connection(node);
        connection
            .as_ref()
            .and_then(|connection| connection.link())
            .inspect(|link| link.close())
            .is_some()
    }

    /// Has `told` called once, when the connection to that node is gone; at once if there is none. Erlang's
    /// `monitor_node`, with a message of the caller's:
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

    /// A process of this node as others know it, to be told to them in a term.
    #[must_use]
    pub fn term_of(&self, process: ProcessId) -> purlin_term::Pid {
        self.core().ids.pid(process)
    }

    /// A process elsewhere, whose messages are of type `M`, by its pid; `None` if there is no room for a
    /// stand-in, or its node has no name that a node can have.
    ///
    /// A process of this very node is found with [`Node::pid`].
    pub fn pid<M: Serialize + Send + 'static>(&self, of: &purlin_term::Pid) -> Option<Pid<M>> {
        let node = of.node.as_str().parse().ok()?;
        self.core().stand_in_for(node, Named::Pid(of.clone()), || Arc::new(written::<M>))
    }

    /// The process elsewhere that has that name when something is sent to it; what is sent while nobody has
    /// it is dropped. A monitor of it watches who has the name at that moment (D5). `None` as for
    /// [`Cluster::pid`], and for what is no name.
    pub fn named<M: Serialize + Send + 'static>(
        &self,
        name: &str,
        on: &NodeName,
    ) -> Option<Pid<M>> {
        let to = Named::Name(Atom::new(name).ok()?);
        self.core().stand_in_for(on.clone(), to, || Arc::new(written::<M>))
    }

    /// Has terms read as messages of type `M`, for all processes of this node that receive those.
    pub fn receives<M: DeserializeOwned + Send + 'static>(&self) {
        let decode = |to: For, message: Unread<'_>| {
            // Its type is that for which this was found.
            let _ = to.send(message.value::<M>()?);
            Ok(())
        };
        self.core().decoders.add(TypeId::of::<M>(), Arc::new(decode));
    }

    /// [`Cluster::receives`] with a function: for what `serde` does not say.
    pub fn receives_by<M, F>(&self, read: F)
    where
        M: Send + 'static,
        F: Fn(Term) -> Result<M, String> + Send + Sync + 'static,
    {
        self.core().decodes(read);
    }

    /// Has processes elsewhere call all servers of type `S` on this node with `gen_server:call` and `cast`, send
    /// to them, and look at them with `sys`: [`Served`] says how.
    pub fn serves<S: Server>(&self, served: Served<S>) {
        let (core, mail) = (self.core(), TypeId::of::<Mail<S>>());
        core.systems.insert(mail, served.system());
        let decode = served.decode(Arc::downgrade(core));
        core.decoders.add(mail, decode);
    }

    /// How many messages from elsewhere were none of their process's type, and were dropped.
    #[must_use]
    pub fn undecoded(&self) -> u64 {
        self.core().undecoded.load(Ordering::Relaxed)
    }

    /// Lets others call a function by module, name and number of arguments, with `rpc:call` and `erpc:call`, and
    /// spawn a process that runs it. An error is the reason of an `error` there.
    ///
    /// # Errors
    /// The name that is longer than an atom can be.
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

    /// [`Cluster::export`] of a function that is given the process which runs it: to receive what whoever has
    /// spawned it sends, to link, or to say who it is. It should not keep a [`Cluster`], which would then never
    /// leave.
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

    /// Answers a call that a process elsewhere has made. If its node is gone, so is whoever waits.
    pub fn reply(&self, call: GenCall, reply: Term) {
        self.core().reply(call, reply);
    }
}

/// Writes a message behind what the buffer holds; a term is given back as it is.
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
