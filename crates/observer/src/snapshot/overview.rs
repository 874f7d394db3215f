//! Figures of a node at one moment.
//!
//! Rates are means over the time since the previous overview ([`Overview::span`]), which is long after a time without
//! watchers. All other figures are instantaneous, each read separately.

use std::time::Duration;

use purlin::{Drops, ProcessId};

/// Figures of a node at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Overview {
    /// Uptime of the node.
    pub at: Duration,
    /// Time over which rates are means. Zero for the first overview, whose rates are 0.
    pub span: Duration,
    /// Whether the workers' sleep was measured. `false` for the first overview after a time without watchers.
    pub measured: bool,
    /// Load of each worker of the node.
    pub workers: Vec<WorkerLoad>,
    /// Runnable processes in the global queue, which no worker has taken yet.
    pub global_queue: usize,
    /// Live processes: the rows of the table plus the processes added since it was made. The latter number is accurate
    /// to a few hundred.
    pub processes: usize,
    /// Limit of live processes.
    pub max_processes: u32,
    /// Messages and signals sent by the node's processes, per second. Like the three figures below it counts turns on
    /// workers only: not those of blocking processes, and not those in virtual time.
    pub messages_per_second: f64,
    /// Messages and signals sent since the node's start. May lag behind the workers' current turns.
    pub messages: u64,
    /// Reductions, per second.
    pub reductions_per_second: f64,
    /// Reductions since the node's start.
    pub reductions: u64,
    /// Memory in use.
    pub memory: Memory,
    /// Pending timers.
    pub timers: usize,
    /// Processes that block a worker thread now.
    pub hogs: Vec<HogSeen>,
    /// Dropped messages.
    pub drops: DropsSeen,
}

/// Load of one worker of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WorkerLoad {
    /// Share of wall-clock time in which the worker was not asleep, from 0 to 1. 0 if that was not
    /// [measured](Overview::measured).
    pub busy: f64,
    /// Runnable processes in this worker's queue.
    pub queue: usize,
    /// Process turns, per second.
    pub turns_per_second: f64,
    /// Process turns since the node's start.
    pub turns: u64,
    /// Steals from other workers, per second.
    pub steals_per_second: f64,
    /// Steals since the node's start.
    pub steals: u64,
}

/// Memory in use, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// Resident set of the program. `None` if the operating system does not report it.
    pub resident: Option<u64>,
    /// Processes and their queued messages, without heap data that they point to, as of the last complete table.
    pub processes: u64,
}

/// A process that blocks a worker thread (F2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HogSeen {
    /// Identity of the process.
    pub id: ProcessId,
    /// Function of the process.
    pub function: &'static str,
    /// Time since the process last awaited.
    pub for_so_long: Duration,
}

/// Dropped messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DropsSeen {
    /// Drops since the node's start, by reason.
    pub total: Drops,
    /// Drops of all reasons, per second.
    pub per_second: f64,
}
