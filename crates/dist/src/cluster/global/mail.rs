//! Message types of the two processes of `global`, Erlang's cluster-wide name registry.
//!
//! The *server* answers the other nodes and keeps the names. The *locker* waits for locks on other
//! nodes in its place. When two nodes connect, each side gives this attempt to synchronize a number,
//! its *tag*: `mine` is this node's, `his` the peer's. Messages with an old tag are ignored.

use purlin::{Down, Message};
use purlin_dist_protocol::NodeName;
use purlin_term::Term;
use tokio::sync::oneshot;

use crate::cluster::rpc::gen_call;

/// Message to the server.
#[derive(Debug, Message)]
pub(super) enum Mail {
    /// Message from another node, or from a client in Erlang's terms.
    #[from]
    Term(Term),
    /// The process behind a name, or the holder of a lock, has ended.
    #[from]
    Down(Down),
    /// A node has connected.
    Up(NodeName),
    /// A node has disconnected.
    Gone(NodeName),
    /// The attempt to connect to an announced node has ended; `is_there` states whether it is connected.
    Tried { node: NodeName, is_there: bool },
    /// Answered when no synchronization is in progress.
    Sync(oneshot::Sender<()>),
    /// The locker has locked both partitions, ours and the one that `node` belongs to.
    LockIsSet { node: NodeName, mine: i64, lock: Term },
    /// Conflicts between the names of both partitions are resolved: changes to apply here, and on
    /// the peer. Sent by a process that the server spawns for the decision.
    Resolved { node: NodeName, mine: i64, here: Vec<Term>, there: Vec<Term> },
}

/// Message to a local process that calls servers, such as the locker: a [`Job`] or an answer.
pub(super) type ClientMail = gen_call::ClientMail<Job>;

/// Message from the server to the locker.
#[derive(Debug)]
pub(super) enum Job {
    /// A node to synchronize with.
    Them(Them),
    /// The peer's locker has acquired the lock, or has failed to.
    LockSet { node: NodeName, mine: i64, set: bool },
    /// The attempt with a node has ended; `then` are messages to send before the lock is released.
    Cancel { node: NodeName, mine: i64, then: Vec<(NodeName, Term)> },
    /// Nodes that are now synchronized with ours.
    Known(Vec<NodeName>),
    /// A node that is no longer synchronized with ours.
    Unknown(NodeName),
}

/// A node to synchronize with.
#[derive(Clone, Debug)]
pub(super) struct Them {
    pub(super) node: NodeName,
    /// The peer's locker.
    pub(super) locker: purlin_term::Pid,
    /// Our tag for this attempt, and the peer's tag.
    pub(super) mine: i64,
    pub(super) his: Term,
}
