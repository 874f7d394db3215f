//! One connection of the cluster: its link, and its table of monitors.

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
use crate::cluster::links::monitor_table::{MonitorTable, RemoteMonitor};
use crate::cluster::receive::answer_queues::AnswerQueues;
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
    monitor_table: Mutex<MonitorTable>,
    /// Links and monitors of this connection are being notified of the loss, or have been.
    lost: AtomicBool,
    /// This node has closed the link, which may not have ended yet. It accepts no signal.
    closed: AtomicBool,
    /// Set when all have been notified of the loss.
    pub(super) over: SetOnce<()>,
    /// Monitors local processes on behalf of remote ones; the connection ends with it.
    pub(super) agent: OnceLock<LocalProcess>,
    /// Requests of the peer that wait until their answers can be sent.
    pub(super) requests: Requests,
    /// Requests of the peer that tasks answer.
    pub(super) answer_queues: AnswerQueues,
    /// The remote process that prints for local processes.
    pub(super) user: OnceLock<purlin_term::Pid>,
    /// Whether `sys:get_state` of the peer expects `{ok, State}`.
    pub(super) wraps_states: OnceLock<bool>,
}

impl Connection {
    /// Creates a connection whose link and agent are set later.
    pub(super) fn new(node: NodeName, number: u64) -> Arc<Self> {
        let (link, monitor_table, lost, closed) = Default::default();
        let (agent, user, requests, answer_queues, wraps_states) = Default::default();
        let over = SetOnce::new();
        let sender = sender_number(&node);
        Arc::new(Self {
            node,
            number,
            sender,
            link,
            monitor_table,
            lost,
            closed,
            over,
            agent,
            requests,
            answer_queues,
            user,
            wraps_states,
        })
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

    /// Whether links and monitors of this connection are being notified of the loss, or have been.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Whether new signals need another connection: this one is lost, or closed and about to be.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed) || self.is_lost()
    }

    /// Closes the link, if it is set.
    pub(super) fn close(&self) {
        // ORDER: what the caller sends afterwards sees the flag set, because the delivery to a proxy orders the two; for
        // others it is a hint, and the link is authoritative.
        self.closed.store(true, Ordering::Relaxed);
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

    /// The table of monitors over this connection. INVARIANT: signals that the table yields for a local process are
    /// delivered under its lock, so that the loss of the connection, and signals of the next one, come after them.
    pub(super) fn monitor_table(&self) -> MutexGuard<'_, MonitorTable> {
        // No code under the lock panics.
        self.monitor_table.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Delivers a signal about a remote monitor to a local process. Without an agent, no remote monitor is in effect.
    pub(super) fn deliver(&self, node: &Node, to: ProcessId, signal: RemoteSignal) {
        if let Some(agent) = self.agent.get() {
            node.deliver(agent, to, signal);
        }
    }

    /// Monitors a local process on behalf of a remote one.
    pub(super) fn watched(&self, ids: &Ids, ours: ProcessId, theirs: RemoteMonitor) {
        let monitor = ids.monitor();
        let mut monitor_table = self.monitor_table();
        if monitor_table.watched(monitor, ours, theirs) {
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

    /// Waits until an answer can be sent, in place of [`Connection::suspend_sender`] for a task. Returns `false` if the
    /// connection has ended.
    pub(super) async fn may_answer(&self) -> bool {
        match self.link.get() {
            Some(link) => link.wait_for_answers().await,
            None => true,
        }
    }

    /// Runs `f`, on any thread. What it sends to a local process arrives in the order of all that is sent in this way for
    /// the node, over this connection and others (M2).
    pub(super) fn in_order<R>(&self, f: impl FnOnce() -> R) -> R {
        with_sender(self.sender, f)
    }

    /// Marks the connection as lost for new signals, before links and monitors are notified.
    pub(super) fn begin_loss(&self) {
        // ORDER: a process notified afterwards sees the flag set, because the delivery orders the two; for other readers
        // it is a hint, and the tables are authoritative.
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Marks the connection as lost: all monitors over it fire `noconnection`. No signal of the peer is delivered
    /// meanwhile or afterwards.
    pub(super) fn lose(&self, node: &Node) {
        self.begin_loss();
        self.in_order(|| {
            let mut monitor_table = self.monitor_table();
            let lost = monitor_table.lose();
            for (monitor, ours) in lost.ours {
                let down = RemoteSignal::Down(monitor, ExitReason::NoConnection);
                node.deliver(&ours.proxy, ours.watcher, down);
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

#[cfg(test)]
mod tests {
    use purlin::{Down, Process};
    use purlin_dist_protocol::control::Named;
    use purlin_term::Atom;
    use tokio::sync::oneshot;

    use super::*;
    use crate::cluster::links::monitor_table::LocalMonitor;

    // D1: at the process limit a connection has no agent. It is closed immediately, and a process may have used it before.
    #[tokio::test]
    async fn a_monitor_over_a_connection_without_an_agent_fires_when_the_connection_is_lost() {
        let node = Node::builder().workers(1).build().expect("a node");
        let proxy = node.spawn(async |mut me: Process<()>| me.receive().await);
        let (sender, made) = oneshot::channel();
        let of = proxy.clone();
        let watcher = node.spawn(async move |mut me: Process<Down>| {
            let _ = sender.send(me.monitor(&of));
            me.receive().await.reason
        });
        let monitor = made.await.expect("it monitors");
        let connection = Connection::new("there@h".parse().expect("a name"), 1);
        let (ours, proxy) = (watcher.id(), LocalProcess::from(&proxy));
        let watched = Named::Name(Atom::from_static("shop"));
        let ours = LocalMonitor { watcher: ours, proxy, watched };
        connection.monitor_table().watch(monitor, ours).expect("it is not lost");
        connection.lose(&node);
        assert_eq!(watcher.ended().await, ExitReason::NoConnection);
    }
}
