//! Observation of a node: load of its workers, a cheap survey of all processes, crashes and restarts.
//!
//! Meant for tools that watch nodes, such as `purlin-observer`. A program that needs information about its own
//! processes uses [`Node::processes`], [`Node::process_info`] and [`Node::hogs`]. No function here stops a process.
//! Where a function takes a contended lock, its documentation states the lock and how long it is held.
//!
//! | file | role |
//! |---|---|
//! | `survey` | iteration over all processes, in slices |
//! | `journal` | recent crashes, supervisor reports and restarts |

mod journal;
mod snapshots;

pub use purlin_raw::ProcessType;
use purlin_sched::Measuring;
pub use purlin_sched::{Load, WorkerLoad};

pub use journal::{Crash, Crashes, OwnIntensityChild, Report, Restarts};
pub(crate) use journal::{Journal, beginning};
pub use snapshots::ProcessSnapshot;

use crate::Node;

/// Guard: while it exists, the workers of its node measure how long they sleep.
#[must_use]
#[derive(Debug)]
pub struct MeasuringSleep {
    _measuring: Measuring,
}

impl Node {
    /// Returns the node's most recent crashes, supervisor reports and restart statistics: the last 256 of each.
    ///
    /// ```
    /// # #[purlin::main] async fn main() {
    /// use purlin::{Node, Process, spawn};
    ///
    /// let pid = spawn(async |_: Process<()>| Err::<(), _>("out of paper"));
    /// pid.ended().await;
    /// let node = Node::current().expect("a process has a node");
    /// let crashes = node.crashes();
    /// assert_eq!(crashes.crashes.last().map(|crash| crash.id), Some(pid.id()));
    /// assert!(crashes.crashes[0].reason.contains("out of paper"));
    /// # }
    /// ```
    ///
    /// COST: takes the journal's lock for a short time, and copies the lists.
    pub fn crashes(&self) -> Crashes {
        self.node_state().journal.read()
    }

    /// Returns what the workers have done since the node started, and how many processes wait for them now.
    ///
    /// ```
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// use purlin::{Node, Process};
    ///
    /// let node = Node::builder().workers(2).build()?;
    /// let _measuring = node.measure_sleep();
    /// node.block_on(async |me: Process<u8>| (0..100).for_each(|n| me.pid().send(n)));
    /// let load = node.load();
    /// assert_eq!((load.workers.len(), load.global_queue), (2, 0));
    /// # node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// COST: a few reads per worker, and the list.
    pub fn load(&self) -> Load {
        self.inner().scheduler.load()
    }

    /// Makes the workers measure how long they sleep ([`WorkerLoad::asleep`]) while the returned guard exists. Sleep
    /// before the call is not counted.
    ///
    /// COST: two clock reads, about 50 ns, each time a worker sleeps.
    pub fn measure_sleep(&self) -> MeasuringSleep {
        MeasuringSleep { _measuring: self.inner().scheduler.measure() }
    }

    /// Returns the number of timers that are set and have not fired. A process that has waited with a
    /// timeout of a second or more keeps a timer until it fires or the process ends.
    ///
    /// COST: takes the lock of each worker's timers for a short time.
    pub fn pending_timers(&self) -> usize {
        self.inner().scheduler.timers().pending()
    }
}
