//! Snapshots of a node.
//!
//! The [`Sampler`] makes a [`Snapshot`] each [`PERIOD`] while a watcher is connected. A snapshot is immutable, so a
//! reader can sort and filter it without blocking the node. Each snapshot has a new [`Overview`] of the node. The time
//! to make the [`Table`] of processes grows with their number, so the sampler makes it in slices; a snapshot holds the
//! last complete table, which states its age.
//!
//! | file | role |
//! |---|---|
//! | `overview` | figures of the node |
//! | `table` | process table in columns, one row per process |
//! | `walk` | making a table in slices |
//! | `query`, `text` | filtering, sorting and paging of a table |
//! | `history` | overviews of the last ten minutes |
//! | `sampler` | the sampler thread and its watchers |
//! | `schedule` | schedule of that thread, which bounds its share of one core |
//! | `meter` | cost of sampling |

#[cfg(test)]
pub(crate) mod fixture;
mod history;
mod meter;
mod overview;
mod query;
mod sampler;
mod schedule;
mod table;
mod text;
mod walk;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use purlin::ProcessId;
use purlin::observe::Crashes;

pub use history::{History, KEPT};
pub use overview::{DropsSeen, HogSeen, Memory, Overview, WorkerLoad};
pub use query::{Column, Filter, MOST_ROWS_A_PAGE, Page, Query};
pub use sampler::{Sampler, Watching};
pub use schedule::PERIOD;
pub(crate) use schedule::supported;
pub use table::{Age, MOST_ROWS, Row, Table};

/// A snapshot of a node.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Sequence number, 1 for the first of its sampler. 0 is the empty snapshot before the first.
    pub number: u64,
    /// Wall-clock time at which the snapshot was completed.
    pub when: SystemTime,
    /// The figures of the node.
    pub overview: Arc<Overview>,
    /// The processes, as of the last complete walk over the node's process table.
    pub processes: Arc<Table>,
    /// Pending calls: which process waits for a reply of which.
    pub calls: Arc<[Call]>,
    /// Recent crashes and restarts.
    pub crashes: Arc<Crashes>,
    /// Cost of the snapshot.
    pub cost: Cost,
}

/// A process that waits for a reply of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The waiting process.
    pub caller: ProcessId,
    /// The process that owes the reply.
    pub callee: ProcessId,
}

/// Cost of a snapshot, and what is missing in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// Processor time of the sampler thread for the overview.
    pub overview: Duration,
    /// Processor time of the sampler thread for the process table, all slices together.
    pub walk: Duration,
    /// Duration of that walk, including the rests between slices.
    pub walk_lasted: Duration,
    /// Share of one core that the sampler has used since the previous snapshot, from 0 to 1.
    pub share: f64,
    /// Number of processes missing in the table because it already has [`MOST_ROWS`] rows. Normally 0.
    pub left_out: u64,
}

impl Snapshot {
    /// Returns the empty snapshot of a node that has not been sampled.
    pub(crate) fn none() -> Self {
        Self {
            number: 0,
            when: SystemTime::UNIX_EPOCH,
            overview: Arc::default(),
            processes: Arc::default(),
            calls: Arc::default(),
            crashes: Arc::default(),
            cost: Cost::default(),
        }
    }
}
