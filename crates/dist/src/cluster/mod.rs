//! A purlin node in an Erlang cluster.
//!
//! A [`Cluster`] gives a [`Node`](purlin::Node) a name, a registration with epmd and connections to other nodes. Local
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
//! with a [`Pid`](purlin::Pid). Links, monitors and exit signals go through it; an [`purlin::Exit`] or a
//! [`purlin::Down`] names it. A signal without a connection establishes one, as in Erlang. If no
//! connection can be established, messages are dropped, and links and monitors fire `noconnection`.
//! Messages of one local process through one proxy arrive in order; between two proxies no order is
//! guaranteed. There is one proxy for each remote process and message type. It ends some time after
//! its last `Pid` is dropped.
//!
//! When the last [`Cluster`] is dropped, the node leaves the cluster and all proxies end. When the node
//! stops ([`Node::stop`](purlin::Node::stop)), its connections end; remote processes receive
//! `noconnection`, and no exit signals.
//!
//! # Messages
//!
//! Messages are terms. A process of type [`Term`](purlin_term::Term) receives any. For another type the cluster needs a
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
//! | `builder.rs` | configuration and start; imports all below |
//! | `receive/` | incoming: from the wire to local processes, as typed messages |
//! | `builtin/` | built-in exported functions, for `observer` and others |
//! | `serving/` | local servers and supervisors for `gen_server`, `supervisor` and `sys` |
//! | `global/`, `groups/` | `global`, on a published node; process groups shared with `pg` |
//! | `spawn/` | spawn requests, outgoing and incoming |
//! | `rpc/` | calls of servers and exported functions, outgoing and incoming |
//! | `alias.rs`, `logs.rs` | aliases; forwarding of log events to subscribed nodes |
//! | `proxy/` | outgoing: proxies, and their transport to the wire |
//! | `net_kernel/` | how connections are established: hosts, cookies, discovery; monitors of nodes |
//! | `readiness.rs` | what a readiness probe asks |
//! | `handle.rs`, `core.rs` | [`Cluster`], and the state that all handles share |
//! | `links/`, `connection.rs` | one connection, with its monitors; links over all connections |
//! | `ids.rs`, `reason.rs`, `pid.rs` | conversion of ids and exit reasons; `serde` for [`purlin::Pid`] |

/// A tuple whose first element is an atom; the others are converted to terms.
macro_rules! tagged {
    ($tag:literal $(, $part:expr)* $(,)?) => {
        purlin_term::Term::tuple([
            purlin_term::Term::atom($tag) $(, purlin_term::Term::from($part))*
        ])
    };
}

mod alias;
mod builder;
mod builtin;
mod connection;
mod core;
mod global;
mod groups;
mod handle;
mod ids;
mod links;
mod logs;
mod net_kernel;
pub mod pid;
mod proxy;
mod readiness;
mod reason;
mod receive;
mod rpc;
mod serving;
mod spawn;

pub use builder::{Builder, StartError};
pub use global::NotRegistered;
pub use groups::NotShared;
pub use handle::{Cluster, WeakCluster};
pub use logs::Logs;
pub use net_kernel::discovery::Discovery;
pub use net_kernel::monitor::{NodeDown, NodeEvent, NodeMonitor};
pub use net_kernel::nodes::NodeChange;
pub use net_kernel::ping::PingError;
pub use readiness::Readiness;
pub use reason::TermReason;
pub use rpc::call::CallError;
pub use rpc::export::Outcome;
pub use rpc::gen_call::GenCall;
pub use serving::{Caller, Serve, Served};
pub use spawn::pending::NotSpawned;
