//! Listing and logging of processes that do not yield (clause F2 of SEMANTICS).
//!
//! The scheduler's sysmon thread detects such a process: a worker has been in the same turn, one poll
//! of the process, for a millisecond, or up to eight where all workers were computing before, while
//! others wait. It hands the worker's queues to another thread. The scheduler's hooks call [`report`]
//! and [`report_end`].

use std::time::{Duration, Instant};

use crate::process::unwind::contain;
use purlin_raw::{NodeCore, Slot};

use crate::node::erlang_types::ErlangTypes;
use crate::{Node, ProcessId};

/// Target of the log events of `tracing`.
const TARGET: &str = "purlin::stalled";

/// A process that computes or blocks without awaiting while others wait (F2).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hog {
    /// Id of the process.
    pub id: ProcessId,
    /// Name of the function that the process runs.
    pub function: &'static str,
    /// Time since which the process has not awaited.
    pub since: Instant,
}

impl Node {
    /// Returns the processes that occupy a thread now: those that were found not to await for a
    /// millisecond while others waited, and still do not (F2). Their worker continues on another
    /// thread, so they hold up no other process.
    ///
    /// Such a process is reported as a `tracing` warning when it has not yielded for 10 milliseconds:
    /// it computes, blocks, or awaits only what is ready, such as a channel of tokio that has
    /// messages. Such a loop calls [`consume_budget`](crate::consume_budget). A second warning
    /// reports the end, with the time it took. A node logs at most 20 of these warnings per second;
    /// the next one has the number of those that were `suppressed`. A process that delays no other is
    /// not reported. If the process computes, its thread has a lower priority than others unless
    /// [`Builder::os_priorities`](crate::Builder) forbids it.
    ///
    /// ```
    /// use purlin::{Node, Process};
    ///
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// let node = Node::builder().build()?;
    /// node.block_on(async |_: Process<()>| "no process computes for long");
    /// assert!(node.hogs().is_empty());
    /// # node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// COST: a lock, a look-up for each process returned, and the list.
    pub fn hogs(&self) -> Vec<Hog> {
        let hogs = self.inner().scheduler.stalled().into_iter();
        hogs.filter_map(|(slot, since)| seen(&self.inner().node_core, slot, since)).collect()
    }
}

/// Describes a process that does not yield; returns `None` if it has ended.
fn seen(node_core: &NodeCore<ErlangTypes>, slot: Slot, since: Instant) -> Option<Hog> {
    let function = node_core.find(slot)?.snapshot().process_type.function();
    Some(Hog { id: ProcessId::new(node_core.state().creation, slot), function, since })
}

/// Logs that a process does not yield, within the rate limit. Called by sysmon, once per turn, after
/// 10 milliseconds.
pub(crate) fn report(node_core: &NodeCore<ErlangTypes>, slot: Slot, since: Instant) {
    let Some(hog) = seen(node_core, slot, since) else { return };
    let warnings = &node_core.state().stall_warnings;
    let Some(suppressed) = warnings.admit(Instant::now()) else { return };
    let elapsed = since.elapsed();
    // WHY: `contain`, because tracing subscribers are user code.
    contain(|| {
        tracing::warn!(target: TARGET, pid = %hog.id, function = hog.function, ?elapsed, suppressed, "process has not yielded: it computes, blocks, or awaits only what is ready");
    });
}

/// Logs the end of a turn that was reported, within the rate limit. Called by the thread of the turn.
pub(crate) fn report_end(node_core: &NodeCore<ErlangTypes>, slot: Slot, elapsed: Duration) {
    let warnings = &node_core.state().stall_warnings;
    let Some(suppressed) = warnings.admit(Instant::now()) else { return };
    let pid = ProcessId::new(node_core.state().creation, slot);
    contain(|| {
        tracing::warn!(target: TARGET, %pid, ?elapsed, suppressed, "process no longer holds up its thread");
    });
}
