//! Process addresses.

use std::fmt;
use std::future::poll_fn;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::task::{Context, Poll};

use purlin_raw::Address;

use crate::node::erlang_types::{ErlangTypes, Peer};
use crate::process::exit_status::ExitStatus;
use crate::process::yielding::must_yield;
use crate::signals::signal::{EndWatch, Signal};
use crate::{ExitReason, LookupError, ProcessId};

/// Address of a process that receives messages of type `M`.
///
/// It can send from any thread, inside or outside of a node. It may outlive the process: messages
/// sent after the end are dropped, as in Erlang (M4).
///
/// COST: one word; cloning and dropping are one atomic operation each.
pub struct Pid<M> {
    address: Address<ErlangTypes, M>,
}

impl<M: Send + 'static> Pid<M> {
    pub(crate) fn new(address: Address<ErlangTypes, M>) -> Self {
        Self { address }
    }

    /// Restores the type of an address. Returns an error if the process receives another type.
    pub(crate) fn typed(process: Peer) -> Result<Self, LookupError> {
        process.typed().map(Self::new).map_err(|process| LookupError::OtherType {
            id: ProcessId::of(&process),
            wanted: std::any::type_name::<M>(),
            receives: process.snapshot().process_type.message_type(),
        })
    }

    pub(crate) fn address(&self) -> &Address<ErlangTypes, M> {
        &self.address
    }

    /// Returns the id of the process.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.address)
    }

    /// Returns whether the process is alive. The result may be outdated when it is returned.
    ///
    /// Describes processes of this node only. The address of a remote process (`Cluster::pid` and
    /// `Cluster::named` of `purlin-dist`) counts as alive until this node stops or leaves the cluster.
    /// [`ended`](Self::ended), or a monitor, informs about the remote process.
    pub fn is_alive(&self) -> bool {
        !self.address.has_ended()
    }

    /// Returns the exit reason; `None` if the process is alive.
    ///
    /// Describes processes of this node only, as [`is_alive`](Self::is_alive) does. For a remote one
    /// it is `noconnection` once this node has left the cluster.
    pub fn exit_reason(&self) -> Option<ExitReason> {
        exit_reason(&self.address)
    }

    /// Returns the number of waiting messages, in the save queue and the inbox, including signals in
    /// the inbox that the process has not handled yet. May be stale.
    pub fn mailbox_len(&self) -> usize {
        self.address.mailbox_len()
    }
}

/// Waits for the end of a process of this node, which may be a proxy; see [`Pid::ended`].
pub(crate) async fn ended(process: &Peer) -> ExitReason {
    let mut watching: Option<Watching> = None;
    poll_fn(|cx| {
        if let Some(reason) = exit_reason(process) {
            return once_over(process, reason, cx);
        }
        match &watching {
            Some(Watching(watch)) => watch.set(Some(cx.waker().clone())),
            None => {
                let watch = Arc::new(EndWatch::default());
                watch.set(Some(cx.waker().clone()));
                let sent = process.signal(Signal::WatchEnd(Arc::clone(&watch)));
                watching = Some(Watching(watch));
                if sent.is_err() {
                    cx.waker().wake_by_ref();
                }
            }
        }
        // The process may have ended and woken the previous waker while this one was stored.
        exit_reason(process).map_or(Poll::Pending, |reason| once_over(process, reason, cx))
    })
    .await
}

fn exit_reason(process: &Peer) -> Option<ExitReason> {
    process.exit_status().map(ExitStatus::reason)
}

/// Returns the reason once the worker that ran the process has finished the clean-up under way.
fn once_over(process: &Peer, reason: ExitReason, cx: &mut Context<'_>) -> Poll<ExitReason> {
    if !process.is_drained() {
        cx.waker().wake_by_ref();
        return Poll::Pending;
    }
    if must_yield(cx) { Poll::Pending } else { Poll::Ready(reason) }
}

/// Registration of a future that waits for the end of a process; removed when it is dropped.
struct Watching(Arc<EndWatch>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

impl<M> Clone for Pid<M> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone() }
    }
}

impl<M> PartialEq for Pid<M> {
    fn eq(&self, other: &Self) -> bool {
        self.address.is_same(&other.address)
    }
}

impl<M> Eq for Pid<M> {}

impl<M: Send + 'static> Hash for Pid<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl<M: Send + 'static> fmt::Display for Pid<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.id(), f)
    }
}

impl<M: Send + 'static> fmt::Debug for Pid<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid({})", self.id())
    }
}
