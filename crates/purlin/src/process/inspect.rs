//! Inspection of processes from outside (P5).

use std::future::poll_fn;

use purlin_raw::oneshot;

use crate::node::context::with_context;
use crate::node::erlang_types::Peer;
use crate::process::yielding::without_wait;
use crate::signals::signal::Signal;
use crate::{Node, Pid, ProcessDetails, ProcessId, ProcessInfo};

impl<M: Send + 'static> Pid<M> {
    /// Returns a snapshot of the process (P5).
    pub fn info(&self) -> ProcessInfo {
        let address = self.address();
        let name = with_context(|here| here.node_core.state().name_of(address)).flatten();
        ProcessInfo::of(address, name)
    }

    /// Asks the process for its links, its monitors, and whether it traps exits (P5). Returns
    /// `None` if the process has ended. The request is a signal, which the process answers at its
    /// next turn; a process that does not await does not answer.
    ///
    /// *Cancellation*: dropping the future changes nothing.
    pub async fn details(&self) -> Option<ProcessDetails> {
        details(self.address()).await
    }
}

impl Node {
    /// Returns snapshots of the live processes (P5). No process is stopped. A process that starts
    /// or ends meanwhile may or may not be included.
    ///
    /// COST: one compare-and-swap for each process, and the list.
    pub fn processes(&self) -> Vec<ProcessInfo> {
        self.node_core().processes().map(|process| self.info_of(&process)).collect()
    }

    /// Returns a snapshot of a process; `None` if no live process of this node has this id.
    pub fn process_info(&self, id: ProcessId) -> Option<ProcessInfo> {
        self.find(id).map(|process| self.info_of(&process))
    }

    fn info_of(&self, process: &Peer) -> ProcessInfo {
        ProcessInfo::of(process, self.node_state().name_of(process))
    }

    /// Returns the details of a process, which reports them itself; `None` if no live process of
    /// this node has this id. The future does not hold the node. See [`Pid::details`].
    pub fn process_details(
        &self,
        id: ProcessId,
    ) -> impl Future<Output = Option<ProcessDetails>> + Send + use<> {
        let process = self.find(id);
        async move {
            match process {
                Some(process) => details(&process).await,
                None => without_wait(None).await,
            }
        }
    }
}

/// Asks a process for its details.
pub(crate) async fn details(process: &Peer) -> Option<ProcessDetails> {
    let (asker, mut answer) = oneshot();
    // A process that has ended drops the request, which counts as an answer.
    let _ = process.signal(Signal::Describe(asker));
    match poll_fn(|cx| answer.poll(cx)).await {
        None => without_wait(None).await,
        details => details,
    }
}
