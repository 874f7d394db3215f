//! Message types of the processes of `global`.

use purlin::{Down, Message};
use purlin_dist_protocol::NodeName;
use purlin_term::Term;
use tokio::sync::oneshot;

use crate::cluster::rpc::gen_call;

/// Message type of the server.
#[derive(Debug, Message)]
pub(super) enum Mail {
    #[from]
    Term(Term),
    #[from]
    Down(Down),
    Up(NodeName),
    Gone(NodeName),
    /// Answered when no synchronization is in progress.
    Sync(oneshot::Sender<()>),
    /// The locker has locked both partitions.
    LockIsSet {
        node: NodeName,
        mine: i64,
        lock: Term,
    },
    /// Conflicts are resolved: changes to apply here, and on the peer.
    Resolved {
        node: NodeName,
        mine: i64,
        here: Vec<Term>,
        there: Vec<Term>,
    },
}

/// Message type of a local process that calls servers.
pub(super) type ClientMail = gen_call::ClientMail<Job>;

/// Message from the server to the locker.
#[derive(Debug)]
pub(super) enum Job {
    /// A node to synchronize with.
    Them(Them),
    /// The peer's locker has acquired the lock, or has failed to.
    LockSet {
        node: NodeName,
        mine: i64,
        set: bool,
    },
    /// The attempt with a node has ended; messages to send before the lock is released.
    Cancel {
        node: NodeName,
        mine: i64,
        then: Vec<(NodeName, Term)>,
    },
    /// Nodes that are now synchronized with ours.
    Known(Vec<NodeName>),
    Unknown(NodeName),
}

/// A node to synchronize with.
#[derive(Clone, Debug)]
pub(super) struct Them {
    pub(super) node: NodeName,
    pub(super) locker: purlin_term::Pid,
    /// Our tag for this attempt, and the peer's tag.
    pub(super) mine: i64,
    pub(super) his: Term,
}
