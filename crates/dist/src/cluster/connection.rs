//! One connection of the cluster: its link, and its table of links and monitors.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use purlin::remote::{LocalProcess, RemoteSignal, suspend_current, with_sender};
use purlin::{ExitReason, Node, ProcessId};
use purlin_dist_protocol::control::Control;
use purlin_dist_protocol::frame::{OutgoingControl, Payload};
use purlin_dist_protocol::link::{DeferredAnswer, Link, Origin};
use purlin_dist_protocol::{Flags, NodeName};
use purlin_term::Term;
use tokio::runtime::Handle;
use tokio::sync::SetOnce;
use tracing::debug;

use crate::cluster::ids::Ids;
use crate::cluster::links::link_table::{LinkTable, RemoteMonitor};
use crate::cluster::receive::requests::Requests;

/// The number under which the node sends to local processes.
pub(super) fn sender_number(node: &NodeName) -> u32 {
    let mut hasher = DefaultHasher::new();
    node.hash(&mut hasher);
    // WHY shifted: the largest number is reserved.
    (hasher.finish() >> 33) as u32
}

/// A connection, established or lost.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) node: NodeName,
    /// Distinguishes this connection from others to the same node.
    pub(super) number: u64,
    /// Number of the node as a sender to local processes.
    sender: u32,
    link: OnceLock<Link>,
    link_table: Mutex<LinkTable>,
    /// Links and monitors of this connection have been notified of the loss.
    lost: AtomicBool,
    /// Set when all have been notified of the loss.
    pub(super) over: SetOnce<()>,
    /// Monitors local processes on behalf of remote ones; the connection ends with it.
    pub(super) agent: OnceLock<LocalProcess>,
    /// Requests of the peer that wait until their answers can be sent.
    pub(super) requests: Requests,
    /// The remote process that prints for local processes.
    pub(super) user: OnceLock<purlin_term::Pid>,
}

impl Connection {
    /// Creates a connection whose link and agent are set later.
    pub(super) fn new(node: NodeName, number: u64) -> Arc<Self> {
        let (link, link_table, lost, agent, requests, user) = Default::default();
        let over = SetOnce::new();
        let sender = sender_number(&node);
        Arc::new(Self { node, number, sender, link, link_table, lost, over, agent, requests, user })
    }

    /// Sets the link. Closes it immediately if the node is stopping, because exits of local processes would no longer
    /// reach the peer.
    pub(super) fn linked(&self, link: Link) {
        // This function is called once.
        let _ = self.link.set(link);
        if self.agent.get().is_none_or(LocalProcess::has_ended) {
            self.close();
        }
    }

    /// Whether links and monitors of this connection have been notified of the loss.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Closes the link, if it is set.
    pub(super) fn close(&self) {
        if let Some(link) = self.link.get() {
            link.close();
        }
    }

    /// Ends the link immediately, if it is set.
    pub(super) fn abort(&self) {
        if let Some(link) = self.link.get() {
            link.abort();
        }
    }

    pub(super) fn link(&self) -> Option<&Link> {
        self.link.get()
    }

    /// The table of links and monitors over this connection. INVARIANT: signals that the table yields for a local
    /// process are delivered under its lock, so that the loss of the connection, and signals of the next one, come
    /// after them.
    pub(super) fn link_table(&self) -> MutexGuard<'_, LinkTable> {
        // No code under the lock panics.
        self.link_table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn flags(&self) -> Flags {
        self.link.get().map_or(Flags::empty(), Link::flags)
    }

    /// Sends a control message, after everything sent before with the same ordering key, as a rule the recipient's pid.
    /// Drops the message if the connection has ended.
    pub(super) fn send_control(
        &self,
        ordering_key: Option<purlin_term::Pid>,
        control: Control,
        payload: Option<Term>,
    ) {
        let payload = payload.map(Payload::Term);
        self.put(Origin::Process, ordering_key.as_ref(), &control, payload);
    }

    /// Like [`Connection::send_control`], for an answer to a signal of the peer.
    pub(super) fn answer(
        &self,
        ordering_key: Option<purlin_term::Pid>,
        control: Control,
        payload: Option<Term>,
    ) {
        let payload = payload.map(Payload::Term);
        self.put(Origin::Peer, ordering_key.as_ref(), &control, payload);
    }

    /// Sends a control message with that origin, which may have a prepared template.
    pub(super) fn put<'a>(
        &self,
        origin: Origin,
        ordering_key: Option<&purlin_term::Pid>,
        control: impl Into<OutgoingControl<'a>>,
        payload: Option<Payload<'_>>,
    ) {
        let Some(link) = self.link.get() else { return };
        if let Err(unsent) = link.signal_behind(origin, ordering_key, control, payload) {
            debug!(peer = %self.node, "{unsent}");
        }
    }

    /// Delivers a monitor signal to a local process.
    pub(super) fn deliver(&self, node: &Node, to: ProcessId, signal: RemoteSignal) {
        if let Some(agent) = self.agent.get() {
            node.deliver(agent, to, signal);
        }
    }

    /// Monitors a local process on behalf of a remote one.
    pub(super) fn watched(&self, ids: &Ids, ours: ProcessId, theirs: RemoteMonitor) {
        let monitor = ids.monitor();
        let mut link_table = self.link_table();
        if link_table.watched(monitor, ours, theirs) {
            self.deliver(&ids.node, ours, RemoteSignal::Monitor(monitor));
        }
    }

    /// Suspends the current process, if there is one and too many answers wait for the peer, until fewer wait.
    pub(super) fn suspend_sender(&self, runtime: &Handle) {
        let Some(link) = self.link.get().filter(|link| link.suspends()) else { return };
        if let Some(suspension) = suspend_current() {
            let link = link.clone();
            runtime.spawn(async move {
                link.wait_for_answers().await;
                drop(suspension);
            });
        }
    }

    /// Runs `f`, on any thread. What it sends to a local process arrives in the order of all that is sent in this way for
    /// the node, over this connection and others (M2).
    pub(super) fn in_order<R>(&self, f: impl FnOnce() -> R) -> R {
        with_sender(self.sender, f)
    }

    /// Marks the connection as lost: all links and monitors over it fire `noconnection`. No signal of the peer is
    /// delivered meanwhile or afterwards.
    pub(super) fn lose(&self, node: &Node) {
        // ORDER: a process notified below sees the flag set, because the delivery orders the two; for other readers it
        // is a hint, and the table is authoritative.
        self.lost.store(true, Ordering::Relaxed);
        self.in_order(|| {
            let mut link_table = self.link_table();
            let lost = link_table.lose();
            for (ours, name, signal) in lost.links {
                node.deliver(&name, ours, signal);
            }
            for (ours, monitor) in lost.ours {
                self.deliver(node, ours, RemoteSignal::Down(monitor, ExitReason::NoConnection));
            }
            for (ours, monitor) in lost.theirs {
                self.deliver(node, ours, RemoteSignal::Demonitor(monitor));
            }
        });
        if let Some(agent) = self.agent.get() {
            node.exit(agent.id(), ExitReason::Normal);
        }
    }
}

/// A message that is sent when the last clone of this value is dropped. Each proxy with pending messages to the same
/// process receives a clone in order, and drops it after those messages or when it ends.
#[derive(Debug, thiserror::Error)]
#[error("a message for {theirs}")]
pub(super) struct Deferred {
    pub(super) connection: Arc<Connection>,
    pub(super) theirs: purlin_term::Pid,
    pub(super) message: Option<(Control, Option<Payload<'static>>)>,
    /// Counts the message until it is sent.
    pub(super) counted: Option<DeferredAnswer>,
}

impl Drop for Deferred {
    fn drop(&mut self) {
        if let Some((control, payload)) = self.message.take() {
            self.connection.put(Origin::Peer, Some(&self.theirs), &control, payload);
        }
        drop(self.counted.take());
    }
}

impl Deferred {
    /// A message to be sent later, which is counted. Returns `None` if it cannot be sent.
    pub(super) fn new(
        connection: &Arc<Connection>,
        theirs: &purlin_term::Pid,
        (control, payload): (Control, Option<Payload<'static>>),
    ) -> Option<Self> {
        match connection.link()?.defer(Some(theirs), payload) {
            Ok((counted, payload)) => {
                let (connection, theirs) = (Arc::clone(connection), theirs.clone());
                let (message, counted) = (Some((control, payload)), Some(counted));
                Some(Self { connection, theirs, message, counted })
            }
            Err(unsendable) => {
                debug!(peer = %connection.node, "{unsendable}");
                None
            }
        }
    }
}
