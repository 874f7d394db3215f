//! Hooks: callbacks from the scheduler into the layer above.

use std::time::Duration;

use purlin_raw::{Runnable, Slot};

use crate::sync::Instant;

/// Callbacks from the scheduler into the layer above.
///
/// Workers and sysmon call them, never under a lock. An implementation must not panic. The
/// callbacks that sysmon makes must be short, because sysmon watches no worker meanwhile.
pub trait Hooks: Send + Sync + 'static {
    /// Calls `run`, the loop of worker number `worker`, exactly once on the current thread.
    fn thread(&self, worker: usize, run: &mut dyn FnMut());

    /// Runs one turn of a blocking process on another thread, with
    /// [`Scheduler::run_detached_turn`](crate::Scheduler::run_detached_turn).
    fn offload(&self, runnable: Runnable);

    /// Reports that the process in `slot` has stalled its worker since `since`. Its thread has been
    /// detached and, if it computes, has the lowest scheduling priority.
    fn stalled(&self, slot: Slot, since: Instant);

    /// Reports that the turn announced by [`Hooks::stalled`] has ended after `time`.
    fn stall_ended(&self, slot: Slot, time: Duration);

    /// Reports that processes wait behind a stalled worker and no thread can be started for them.
    fn threads_exhausted(&self, why: &str);
}
