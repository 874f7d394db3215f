//! Hooks: callbacks from the scheduler into the layer above.

use std::time::Duration;

use purlin_raw::{Runnable, Slot};

use crate::sync::Instant;

/// Scheduling priorities that a node may give to its own threads.
///
/// They matter when computing threads outnumber the processors. On systems other than Linux
/// priorities never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OsPriorities {
    /// Every thread keeps the priority with which it was started. Processes that compute without
    /// awaiting then compete with the others as equals. Workers still request short time slices,
    /// which change no thread's share of the processor. No thread is interrupted.
    Unchanged,
    /// The thread of a process that computes without awaiting gets a lower priority for good: a
    /// tenth of the processor time that other threads get when they compete. If such threads occupy
    /// all processors and the kernel keeps another thread of the node waiting, the signal `SIGURG`
    /// makes them yield, unless the program had a handler for it when the thread started. A system
    /// call that the signal interrupts is restarted, or fails with `EINTR` where `signal(7)` says so.
    /// Needs no privilege.
    #[default]
    Lower,
    /// The same, and sysmon is a real-time thread while a worker may be stalled, if the program may
    /// have real-time threads (`CAP_SYS_NICE` or `RLIMIT_RTPRIO`). Stalled workers are then
    /// detected on time although all processors are busy.
    Realtime,
}

/// Callbacks from the scheduler into the layer above.
///
/// Workers and sysmon call them, never under a lock. An implementation must not panic. The
/// callbacks that sysmon makes must be short, because sysmon watches no worker meanwhile.
pub trait Hooks: Send + Sync + 'static {
    /// Returns the priorities that the scheduler may set. Called at the start of its threads.
    fn os_priorities(&self) -> OsPriorities {
        OsPriorities::default()
    }

    /// Calls `run`, the loop of worker number `worker`, exactly once on the current thread.
    fn thread(&self, worker: usize, run: &mut dyn FnMut());

    /// Runs one turn of a blocking process on another thread, with
    /// [`Scheduler::run_detached_turn`](crate::Scheduler::run_detached_turn).
    fn offload(&self, runnable: Runnable);

    /// Reports that the process in `slot` has stalled its worker since `since`. Its thread has been
    /// detached and, if it computes and [`OsPriorities`] allow it, has a lower priority.
    fn stalled(&self, slot: Slot, since: Instant);

    /// Reports that the turn announced by [`Hooks::stalled`] has ended after `time`.
    fn stall_ended(&self, slot: Slot, time: Duration);

    /// Reports that processes wait behind a stalled worker and no thread can be started for them.
    fn threads_exhausted(&self, why: &str);
}
