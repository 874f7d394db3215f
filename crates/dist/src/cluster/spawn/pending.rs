//! Pending spawn request, and the reason why no process was spawned.

use std::fmt;
use std::sync::Arc;

use purlin::ProcessId;
use purlin::remote::LocalProcess;
use purlin_dist_protocol::connect::NoConnection;
use purlin_term::Atom;
use tokio::sync::oneshot;

/// The reason why no remote process was spawned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NotSpawned {
    /// There is no connection to the node.
    NoConnection(Arc<NoConnection>),
    /// The connection was lost before the answer. The process may exist; it has received `noconnection`.
    Lost,
    /// `notsup`: the node does not support spawn requests, or not this one.
    NotSupported,
    /// `badarg`: more than 255 arguments, or a name too long for an atom.
    BadArgument,
    /// `system_limit`: the process limit of that node, or of this one, is reached.
    SystemLimit,
    /// Any other reason given by the node.
    Refused(Atom),
}

impl fmt::Display for NotSpawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoConnection(why) => write!(f, "noconnection: {why}"),
            Self::Lost => f.write_str("noconnection: the connection was lost before the answer"),
            Self::NotSupported => f.write_str("notsup: the node does not spawn that by request"),
            Self::BadArgument => {
                f.write_str("badarg: more than 255 arguments, or a name longer than 255 characters")
            }
            Self::SystemLimit => f.write_str("system_limit: there is no room for one more process"),
            Self::Refused(why) => write!(f, "the node refused: {why}"),
        }
    }
}

impl std::error::Error for NotSpawned {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoConnection(why) => Some(why),
            _ => None,
        }
    }
}

/// A pending spawn request. Dropping it tells the requester that the connection is lost.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    /// The local process to link to it, or that monitors it.
    pub(super) by: Option<ProcessId>,
    pub(super) proxy: LocalProcess,
    pub(super) born: oneshot::Sender<purlin_term::Pid>,
    pub(super) told: oneshot::Sender<Result<(), NotSpawned>>,
}
