//! Processes of other nodes: local proxies for them, and the transport behind a proxy.
//!
//! A remote process is represented on this node by a *proxy* ([`Node::spawn_proxy`]): a process cell with a [`Pid`] to
//! send to, link to and monitor, but without a process function. The proxy passes everything that arrives in its inbox,
//! in order and of every kind (M2), to a [`Transport`], which forwards it to the remote process. In the other
//! direction, [`Node::deliver`] puts signals into the inbox of a process of this node with the proxy as the sender;
//! messages are sent through the process's pid ([`LocalProcess::pid`]).
//!
//! The signals of [`RemoteSignal`] correspond one to one to those of Erlang's distribution protocol. A proxy stores
//! none of them: links and monitors are recorded at both ends and in the transport, which must report `noconnection` to
//! this end when it loses the other: a link by [`Node::deliver_link_loss`], a monitor by `Down`.
//!
//! | on this node | signal given to the transport | signal delivered in return |
//! |---|---|---|
//! | [`Process::link`](crate::Process::link) to a proxy | `Link` | `LinkExit`, when that process ends |
//! | a linked process ends | `LinkExit` | |
//! | [`Process::unlink`](crate::Process::unlink) | `Unlink` with a number | `UnlinkAck` with that number |
//! | [`Process::monitor`](crate::Process::monitor) | `Monitor` with a reference | `Down` with that reference |
//! | [`Process::demonitor`](crate::Process::demonitor) | `Demonitor` | |
//! | [`Pid::exit`] | `Exit` | |
//!
//! In the other direction, a delivered `Link`, `Unlink` or `Monitor` is answered through the transport of the proxy
//! that is its sender, also if the receiving process has ended (L6, D2). So is the loss of a link, by `UnlinkAck`.
//!
//! A proxy ends when its transport says so. It also ends when its node stops, after all processes that could send to
//! it have ended; the remote process is not informed of that. Local processes see a proxy that has ended as they see
//! any ended process. The tasks that read and write connections run as system processes ([`Node::spawn_system`]).

mod answer;
mod ended;
mod layer;
mod proxy;
mod reply;
mod service;

use std::any::TypeId;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

pub use answer::Answer;
pub use layer::layer;
pub use reply::reply;

pub use crate::mailbox::backpressure::suspend_current;
pub use crate::mailbox::suspension::Suspension;
pub use crate::process::process_ref::sender;
/// For the tasks that deliver what one remote process has sent, and for a process that answers in
/// the place of another.
#[doc(inline)]
pub use purlin_raw::with_sender;

use crate::node::erlang_types::Peer;
use crate::process::pid::ended;
use crate::signals::end::answer_as_ended;
use crate::signals::reference::{Reference, batch};
use crate::signals::signal::{Signal, send_signal};
use crate::{Alias, ExitReason, LookupError, MonitorRef, Node, Pid, ProcessId};

/// Transport of a proxy: forwards messages and signals from the proxy to the remote process.
///
/// The methods are called in the proxy's turns, on a worker, and must not block.
pub trait Transport<M>: Send + 'static {
    /// Called once, in the proxy's first turn, with the proxy as a local process.
    fn begin(&mut self, proxy: &LocalProcess) {
        let _ = proxy;
    }

    /// Returns `Ready` with the exit reason when the proxy is to end.
    ///
    /// Polled at the start of every turn, also if nothing has arrived, and again when everything has been passed on.
    /// The transport must keep the waker of the latest poll.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<ExitReason>;

    /// Returns `Ready` if the transport can take the next item, and otherwise `Pending`; then the item stays in the
    /// proxy, and the transport keeps the waker.
    ///
    /// Polled before each message, [`RemoteSignal::Link`], [`RemoteSignal::Monitor`] and [`RemoteSignal::Exit`], but
    /// not before other signals. Those are small, and their number is bounded: each answers or ends one of the items
    /// above or one delivered signal.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Forwards a message.
    fn message(&mut self, message: M);

    /// Forwards a signal. `from` is the process of this node that sent it. It is `None` if no process did, and for
    /// [`RemoteSignal::Demonitor`] and [`RemoteSignal::Down`], which are identified by their monitor.
    fn signal(&mut self, from: Option<ProcessId>, signal: RemoteSignal);
}

/// Signal between a process of this node and a remote one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteSignal {
    /// Exit signal with this reason (L4).
    Exit(ExitReason),
    /// Exit signal of a link: the sender has ended (L2) or does not exist (L6).
    LinkExit(ExitReason),
    /// Link request (L1).
    Link,
    /// Unlink request, to be acknowledged with this number (L5).
    Unlink(u64),
    /// Acknowledgement of an `Unlink` with this number.
    UnlinkAck(u64),
    /// Monitor request (D1).
    Monitor(MonitorRef),
    /// Cancels a monitor.
    Demonitor(MonitorRef),
    /// Down signal of a monitor: the sender has ended for this reason.
    Down(MonitorRef, ExitReason),
}

/// Untyped handle to a process of this node, possibly a proxy.
#[derive(Clone)]
pub struct LocalProcess(Peer);

impl LocalProcess {
    /// Returns the process's identity.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.0)
    }

    /// Returns the type of the messages the process receives.
    pub fn message_type(&self) -> TypeId {
        self.0.message_type()
    }

    /// Returns whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// Waits for the end of the process and returns the exit reason. Of a proxy, this is the end of the proxy itself.
    ///
    /// *Cancellation*: dropping the future changes nothing.
    pub async fn ended(&self) -> ExitReason {
        ended(&self.0).await
    }

    /// Returns whether the process is a proxy.
    pub fn is_proxy(&self) -> bool {
        self.0.shared().is_proxy()
    }

    /// Calls `act` in the next turn of the process, which this call causes. Drops `act` if the process has ended, or
    /// ends in its current turn, for example by a panic.
    ///
    /// `act` must not block. Its panics are caught and logged.
    ///
    /// COST: a signal and two allocations; no task.
    pub fn in_next_turn(&self, act: impl FnOnce() + Send + 'static) {
        let still = reply::sender(|still: Option<()>| {
            if still.is_some() {
                act();
            }
        });
        send_signal(&self.0, Signal::StillThere(still));
    }

    /// Returns an upper bound of the references to the process: its addresses, its `LocalProcess` handles, the process
    /// table's reference while the process lives, and the references that linked and monitoring processes hold.
    ///
    /// A caller that finds only its own references also finds everything that other holders sent before they dropped
    /// theirs.
    pub fn references(&self) -> u32 {
        self.0.references()
    }

    /// Returns the process's pid.
    ///
    /// # Errors
    /// Returns [`LookupError::OtherType`] if the process receives messages of another type.
    pub fn pid<M: Send + 'static>(self) -> Result<Pid<M>, LookupError> {
        Pid::typed(self.0)
    }

    /// Returns the process's alias with this [`Alias::number`]. Messages to an alias that was never created or was
    /// taken back are dropped (L9).
    ///
    /// # Errors
    /// Returns [`LookupError::OtherType`] if the process receives messages of another type.
    pub fn alias<M: Send + 'static>(self, number: u64) -> Result<Alias<M>, LookupError> {
        let pid = self.pid::<M>()?;
        Ok(Alias::from_number(pid.address().clone(), number))
    }
}

impl<M: Send + 'static> From<&Pid<M>> for LocalProcess {
    fn from(pid: &Pid<M>) -> Self {
        Self(pid.address().clone().untyped())
    }
}

impl fmt::Debug for LocalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalProcess").field(&self.id()).finish()
    }
}

/// Source of references for monitors that remote processes have on processes of this node.
///
/// COST: one atomic operation on a counter of the node per thousand references.
#[derive(Debug)]
pub struct MonitorRefs(Range<u64>);

impl MonitorRefs {
    /// Returns a unique reference.
    pub fn next(&mut self, node: &Node) -> MonitorRef {
        loop {
            match self.0.next() {
                Some(number) => return MonitorRef::from_number(number),
                None => *self = node.monitor_refs(),
            }
        }
    }
}

impl Node {
    /// Returns the live process of this node with this id.
    pub fn local_process(&self, id: ProcessId) -> Option<LocalProcess> {
        self.find(id).map(LocalProcess)
    }

    /// Returns the process of this node that is registered under this name (N1).
    pub fn local_name(&self, name: &str) -> Option<LocalProcess> {
        self.node_state().names.find(name).map(LocalProcess)
    }

    /// Returns this node's *creation* as in Erlang: the number of this start of the node, which is part of its
    /// processes' ids.
    pub fn creation(&self) -> u32 {
        self.node_state().creation
    }

    /// Returns a source of references for monitors.
    pub fn monitor_refs(&self) -> MonitorRefs {
        MonitorRefs(batch(self.node_state().batches.fetch_add(1, Ordering::Relaxed)))
    }

    /// Puts a signal into the inbox of a process of this node, with a proxy as the sender.
    ///
    /// If the process has ended or never existed, the proxy's transport is given the answer of an ended process:
    /// `LinkExit` or `Down` with `noproc`, or the acknowledgement of an unlink.
    pub fn deliver(&self, from: &LocalProcess, to: ProcessId, signal: RemoteSignal) {
        let (sender, peer) = (from.id(), || from.0.clone());
        let signal = match signal {
            RemoteSignal::Exit(reason) => Signal::Exit { from: Some(sender), reason },
            RemoteSignal::LinkExit(reason) => Signal::LinkExit { from: sender, reason },
            RemoteSignal::Link => Signal::Link(peer()),
            RemoteSignal::Unlink(id) => Signal::Unlink { from: peer(), id },
            RemoteSignal::UnlinkAck(id) => Signal::UnlinkAck { from: sender, id },
            RemoteSignal::Monitor(monitor) => {
                Signal::Monitor { reference: monitor.0, watcher: peer() }
            }
            RemoteSignal::Demonitor(monitor) => Signal::Demonitor(monitor.0),
            RemoteSignal::Down(monitor, reason) => Signal::Down { reference: monitor.0, reason },
        };
        let unread = match self.find(to) {
            Some(process) => process.signal(signal).err(),
            None => Some(signal),
        };
        if let Some(unread) = unread {
            answer_as_ended(to, unread);
        }
    }

    /// Puts the loss of a link to a proxy into the inbox of a process of this node: the process removes the link and
    /// receives an exit signal with the reason `noconnection`, unless it has unlinked. In any case the proxy's transport
    /// is given the acknowledgement with the number `id`. Whatever the process has sent about the link before that, it
    /// sent before it read the loss.
    ///
    /// WHY not [`RemoteSignal::LinkExit`]: a process can link to the proxy again, and the transport must know whether it
    /// did so before or after it read the loss.
    pub fn deliver_link_loss(&self, from: &LocalProcess, to: ProcessId, id: u64) {
        let signal = Signal::LinkLost { from: from.0.clone(), id };
        let unread = match self.find(to) {
            Some(process) => process.signal(signal).err(),
            None => Some(signal),
        };
        if let Some(unread) = unread {
            answer_as_ended(to, unread);
        }
    }

    /// Puts an exit signal to the alias with this [`Alias::number`] into the inbox of a process of this node (L9), with
    /// priority or without (M6). The sender is a process of this node or a proxy, or none. The signal is dropped if the
    /// process has ended or has removed the alias.
    ///
    /// WHY not a [`RemoteSignal`]: one more variant of it cost each message between two purlin nodes 15 % more time.
    pub fn deliver_alias_exit(
        &self,
        from: Option<ProcessId>,
        to: ProcessId,
        number: u64,
        priority: bool,
        reason: ExitReason,
    ) {
        let Some(process) = self.find(to) else { return };
        let alias = Reference::from_number(number);
        send_signal(&process, Signal::AliasExit { alias, priority, from, reason });
    }
}
