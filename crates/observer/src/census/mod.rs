//! What was seen of a node at one moment: the *census*.
//!
//! The [`Sampler`] makes one each [`PERIOD`] while a watcher is connected. A census is immutable, so a reader can sort
//! and filter it without blocking the node. The figures of the node
//! ([`Overview`]) are fresh in each. The [`Table`] of processes takes longer to make the more there are:
//! it is made a slice at a time, and a census has the last that is whole, which says how old it is.
//!
//! | file | role |
//! |---|---|
//! | `overview` | the figures of the node |
//! | `table` | a row for each process, kept in columns |
//! | `walk` | making a table, a slice at a time |
//! | `query`, `text` | which rows of a table, in which order |
//! | `history` | the figures of the last ten minutes |
//! | `sampler` | the thread that looks: who watches, and what they are given |
//! | `looker` | what that thread does next, so that it takes no more than its share |
//! | `meter` | what looking costs |

mod history;
mod looker;
mod meter;
mod overview;
mod query;
mod sampler;
mod table;
mod text;
mod walk;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use purlin::ProcessId;
use purlin::observe::Crashes;

pub use history::{History, KEPT};
pub use looker::PERIOD;
pub(crate) use looker::supported;
pub use overview::{DropsSeen, HogSeen, Memory, Overview, WorkerLoad};
pub use query::{Column, Filter, MOST_ROWS_A_PAGE, Page, Query};
pub use sampler::{Sampler, Watching};
pub use table::{Age, MOST_ROWS, Row, Table};

/// What was seen of a node at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Census {
    /// 1 for the first of its sampler; 0 for the empty one that stands for none.
    pub number: u64,
    /// When it was finished, by the wall clock.
    pub when: SystemTime,
    /// The figures of the node.
    pub overview: Arc<Overview>,
    /// The processes, as of the last walk through the node's table that was finished.
    pub processes: Arc<Table>,
    /// Who waits for whom in a call.
    pub calls: Arc<[Call]>,
    /// Crashes and restarts of late.
    pub crashes: Arc<Crashes>,
    /// What it cost.
    pub cost: Cost,
}

/// A process that waits for the answer of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// Who waits.
    pub caller: ProcessId,
    /// Who is to answer.
    pub callee: ProcessId,
}

/// What a census cost, and what it had to leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// Processor time that the sampler's thread took for the figures of the node.
    pub overview: Duration,
    /// Processor time that it took for the table of processes, all slices together.
    pub walk: Duration,
    /// How long that walk lasted, with the rests between its slices.
    pub walk_lasted: Duration,
    /// The part of one core that the sampler has used since the census before, from 0 to 1.
    pub share: f64,
    /// Processes that are not in the table because it has [`MOST_ROWS`] already. Ought to be 0.
    pub left_out: u64,
}

impl Census {
    /// The census of a node that nobody has looked at.
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
