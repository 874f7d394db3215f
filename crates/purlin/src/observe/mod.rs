//! What an observer sees of a node: figures, all processes at little cost, and what has gone wrong.
//!
//! For whoever watches nodes, as `purlin-observer` does; programs that only want to know about their own
//! processes have [`Node::processes`], [`Node::process_info`] and [`Node::hogs`]. Nothing here stops a process
//! or takes a lock that one waits for, but those that are named, and those for no longer than is said.
//!
//! | file | role |
//! |---|---|
//! | `survey` | looking at all processes, a slice at a time |
//! | `journal` | crashes and restarts of late |

mod journal;
mod survey;

use purlin_sched::Measuring;
pub use purlin_sched::{Load, WorkerLoad};

pub use journal::{Crash, Crashes, Report, Restarts};
pub(crate) use journal::{Journal, beginning, moment};
pub use survey::{ProcessKind, Seen};

use crate::Node;

/// The workers of a node measure how long they sleep, for as long as this is kept.
#[must_use]
#[derive(Debug)]
pub struct MeasuringSleep {
    _measuring: Measuring,
}

impl Node {
    /// What the workers have done since the node was started, and who waits for them now.
    ///
    /// ```
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// use purlin::{Node, Process};
    ///
    /// let node = Node::builder().workers(2).build()?;
    /// let _measuring = node.measure_sleep();
    /// node.block_on(async |me: Process<u8>| (0..100).for_each(|n| me.pid().send(n)));
    /// let load = node.load();
    /// assert_eq!((load.workers.len(), load.outside), (2, 0));
    /// # node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// COST: a few reads for each worker, and the list.
    pub fn load(&self) -> Load {
        self.inner().scheduler.load()
    }

    /// Has the workers measure how long they sleep ([`WorkerLoad::asleep`]), for as long as what is returned is
    /// kept. What they slept before does not count.
    ///
    /// COST: two readings of the clock, some 50 ns, each time a worker sleeps.
    pub fn measure_sleep(&self) -> MeasuringSleep {
        MeasuringSleep { _measuring: self.inner().scheduler.measure() }
    }

    /// Timers that are set and have not fired.
    ///
    /// COST: for each worker the lock of its timers, for a moment.
    pub fn pending_timers(&self) -> usize {
        self.inner().scheduler.timers().pending()
    }
}
