//! Untyped references to processes.

use self::sealed::Found;
use crate::node::context::with_context;
use crate::node::erlang_types::Peer;
use crate::signals::signal::Signal;
use crate::{ExitReason, Node, Pid, ProcessId};

/// A process, by address or by id: `&Pid<M>`, `&ServerRef<S>`, `&Recipient<T>`, [`ProcessId`] or
/// `&ProcessId`.
///
/// An id is looked up on the current node. An id that no live process has stands for a process that
/// has ended.
pub trait ToProcess: sealed::ToProcess {}

impl<T: sealed::ToProcess> ToProcess for T {}

pub(crate) mod sealed {
    use super::{Peer, ProcessId};

    /// The process; `None` if it has ended.
    pub struct Found(pub(crate) Option<Peer>);

    pub trait ToProcess {
        /// Returns the id of the process.
        fn id(&self) -> ProcessId;
        /// Looks up the process.
        fn find(&self) -> Found;
    }
}

impl<M: Send + 'static> sealed::ToProcess for &Pid<M> {
    fn id(&self) -> ProcessId {
        Pid::id(self)
    }

    fn find(&self) -> Found {
        Found(Some(self.address().clone().untyped()))
    }
}

impl sealed::ToProcess for ProcessId {
    fn id(&self) -> ProcessId {
        *self
    }

    fn find(&self) -> Found {
        let find = with_context(|here| {
            let slot = self.slot_on(here.node_core.state().creation)?;
            here.node_core.find(slot)
        });
        Found(find.flatten())
    }
}

impl sealed::ToProcess for &ProcessId {
    fn id(&self) -> ProcessId {
        **self
    }

    fn find(&self) -> Found {
        sealed::ToProcess::find(*self)
    }
}

/// Sends an exit signal, as [`Pid::exit`] does: Erlang's `exit(Pid, Reason)`.
///
/// ```
/// # use purlin::{ExitReason, Process, spawn};
/// # #[purlin::main] async fn main() {
/// let pid = spawn(async |mut me: Process<()>| me.receive().await);
/// purlin::exit_process(pid.id(), ExitReason::Kill);
/// assert_eq!(pid.ended().await, ExitReason::Killed);
/// # }
/// ```
///
/// Does nothing if the process has ended.
pub fn exit_process(process: impl ToProcess, reason: ExitReason) {
    send_exit(process.find().0, reason);
}

fn send_exit(to: Option<Peer>, reason: ExitReason) {
    let from = sender();
    if let Some(peer) = to {
        crate::signals::signal::send_signal(&peer, Signal::Exit { from, reason });
    }
}

/// Returns the process that this thread runs, which is the sender of the exit signals that the thread
/// sends. Returns `None` outside of processes.
#[must_use]
pub fn sender() -> Option<ProcessId> {
    with_context(|here| here.parent().id()).flatten()
}

impl<M: Send + 'static> Pid<M> {
    /// Sends an exit signal (L4): Erlang's `exit(Pid, Reason)`.
    ///
    /// A process that does not trap exits ends with this reason at its next await (L7), unless the
    /// reason is `normal` and the sender is another process. A process that traps exits receives an
    /// [`Exit`](crate::Exit) message. [`ExitReason::Kill`] cannot be trapped, and other processes
    /// see it as `killed`.
    ///
    /// ```
    /// # use purlin::{ExitReason, Process, spawn};
    /// # #[purlin::main] async fn main() {
    /// let pid = spawn(async |mut me: Process<()>| me.receive().await);
    /// pid.exit(ExitReason::Normal);
    /// pid.exit(ExitReason::Shutdown);
    /// assert_eq!(pid.ended().await, ExitReason::Shutdown);
    /// # }
    /// ```
    pub fn exit(&self, reason: ExitReason) {
        send_exit(Some(self.address().clone().untyped()), reason);
    }
}

impl Node {
    /// Sends an exit signal to a process of this node, from any thread; see [`Pid::exit`].
    pub fn exit(&self, id: ProcessId, reason: ExitReason) {
        send_exit(self.find(id), reason);
    }
}
