//! What the scheduler asks of the layer above.

use std::time::Duration;

use purlin_raw::{Runnable, Slot};

use crate::sync::Instant;

/// What the scheduler asks of the layer above.
///
/// It is called by workers and by the monitor, never under a lock. It must not panic, and what the
/// monitor calls must be short, since it watches nobody meanwhile.
pub trait Above: Send + Sync + 'static {
    /// Runs a worker's loop, exactly once, on a thread that is to be that worker.
    fn thread(&self, worker: usize, run: &mut dyn FnMut());

    /// Has one turn of a process that may block run elsewhere, with
    /// [`Scheduler::run_elsewhere`](crate::Scheduler::run_elsewhere).
    fn offload(&self, runnable: Runnable);

    /// The process in that slot has been holding up a worker since then; its thread has been put
    /// last.
    fn hogging(&self, slot: Slot, since: Instant);

    /// The turn of which [`Above::hogging`] told is over, after so long.
    fn over(&self, slot: Slot, time: Duration);

    /// Processes wait behind others that do not await, and nothing can be done about it.
    fn helpless(&self, why: &str);
}
