//! Store: the server of the other node, and the process that watches the node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use purlin::pubsub::PubSub;
use purlin::registry::RegisterError;
use purlin::{ExitReason, Process, Recipient, receive};
use purlin_dist::NodeName;
use purlin_dist::cluster::{CallError, Cluster, NodeDown};
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use crate::request::{Pinged, Request};

/// Pause after the first attempt to reach the store, and the longest one. Each failed attempt doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Address of the store, and whether it can be reached.
#[derive(Debug)]
pub(crate) struct Store {
    cluster: Cluster,
    node: NodeName,
    /// Registered name of the server.
    name: String,
    /// Time limit of a request.
    limit: Duration,
    is_up: AtomicBool,
    changes: PubSub<(), bool>,
}

impl Store {
    pub(crate) fn new(cluster: Cluster, node: NodeName, name: String, limit: Duration) -> Self {
        let (is_up, changes) = (AtomicBool::new(false), PubSub::new());
        Self { cluster, node, name, limit, is_up, changes }
    }

    /// Sends a request, as `gen_server:call` does. Returns the answer, or the reason for its absence.
    pub(crate) async fn call<R: DeserializeOwned + 'static>(
        &self,
        request: Request,
    ) -> Result<R, NoAnswer> {
        let answer = self.cluster.call(&self.name, &self.node, request, self.limit).await;
        answer.map_err(|error| NoAnswer::of(&error))
    }

    /// Sends each change to a process. Returns whether the store can be reached now.
    pub(crate) fn subscribe(&self, process: Recipient<bool>) -> Result<bool, RegisterError> {
        // WHY first: a change after this look is sent.
        self.changes.subscribe((), process)?;
        Ok(self.is_up.load(Ordering::SeqCst))
    }

    /// Connects to the node, and waits for an answer of the store.
    async fn reach(&self) -> Result<(), String> {
        self.cluster.connect(&self.node).await.map_err(|error| error.to_string())?;
        match self.call(Request::Ping).await {
            Ok(Pinged::Pong) => Ok(()),
            Err(NoAnswer::NotSent) => Err("the request cannot be sent".into()),
            Err(NoAnswer::Unknown(why)) => Err(why.into()),
        }
    }

    async fn set(&self, is_up: bool) {
        self.is_up.store(is_up, Ordering::SeqCst);
        self.changes.publish(&(), is_up).await;
    }
}

/// The reason why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The request was not sent.
    NotSent,
    /// The request was sent. The store may have performed it, or may still do so.
    Unknown(&'static str),
}

impl NoAnswer {
    /// WHY fixed texts: the reason that a node gives for an end may be long.
    fn of(error: &CallError) -> Self {
        match error {
            CallError::NotMade | CallError::Request(_) => Self::NotSent,
            CallError::Timeout(_) => Self::Unknown("no answer in time"),
            CallError::Ended(ExitReason::NoConnection) => Self::Unknown("the connection was lost"),
            CallError::Ended(ExitReason::NoProcess) => Self::Unknown("the store does not run"),
            CallError::Ended(_) => Self::Unknown("the store has crashed"),
            CallError::Answer { .. } | CallError::BadRpc(_) => {
                Self::Unknown("the answer is invalid")
            }
        }
    }
}

/// Process function of the watcher: connects to the node of the store until the store answers, and again whenever the
/// connection was lost.
pub(crate) async fn watch(mut me: Process<NodeDown>, store: Arc<Store>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let monitor = store.cluster.monitor_node(&me, &store.node);
        match store.reach().await {
            Ok(()) => {
                store.set(true).await;
                receive!(me, { down if down.monitor == monitor => {} });
                store.set(false).await;
                pause = FIRST_PAUSE;
            }
            Err(error) => {
                if pause == FIRST_PAUSE {
                    tracing::warn!(%error, node = %store.node, "the store cannot be reached");
                }
                store.cluster.demonitor_node(&monitor);
                me.flush();
                sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
        }
    }
}
