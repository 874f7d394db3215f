//! Pending spawn request, and the reason why no process was spawned.

use std::sync::Arc;

use purlin::ProcessId;
use purlin::remote::LocalProcess;
use purlin_dist_protocol::connect::NoConnection;
use purlin_term::Atom;
use tokio::sync::oneshot;

/// The reason why no remote process was spawned.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotSpawned {
    /// There is no connection to the node.
    #[error("noconnection: {0}")]
    NoConnection(#[source] Arc<NoConnection>),
    /// The connection was lost before the answer. The process may exist; it has received `noconnection`.
    #[error("noconnection: the connection was lost before the answer")]
    Lost,
    /// `notsup`: the node does not support spawn requests, or not this one.
    #[error("notsup: the node does not spawn that by request")]
    NotSupported,
    /// `badarg`: more than 255 arguments, a name too long for an atom, or an argument that cannot be encoded.
    #[error(
        "badarg: more than 255 arguments, a name longer than 255 characters, or an argument that cannot be encoded"
    )]
    BadArgument,
    /// `system_limit`: the process limit of that node, or of this one, is reached, or the arguments exceed a limit of that
    /// node.
    #[error("system_limit: the process limit is reached, or the arguments exceed a limit")]
    SystemLimit,
    /// Any other reason given by the node.
    #[error("the node refused: {0}")]
    Refused(Atom),
}

/// A pending spawn request. Dropping it notifies the requester that the connection is lost.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    /// The local process to link to it, or that monitors it.
    pub(super) by: Option<ProcessId>,
    pub(super) proxy: LocalProcess,
    pub(super) born: oneshot::Sender<purlin_term::Pid>,
    pub(super) answer: oneshot::Sender<Result<(), NotSpawned>>,
}
