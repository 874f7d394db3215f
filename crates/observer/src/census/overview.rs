//! The figures of a node at one moment.
//!
//! Rates are means over the time since the overview before ([`Overview::span`]), which is long ago if nobody has
//! looked; all else is what was read at the moment, each figure on its own.

use std::time::Duration;

use purlin::{Drops, ProcessId};

/// The figures of a node at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Overview {
    /// How long the node had been running.
    pub at: Duration,
    /// The time over which rates are means; zero for the first, whose rates are 0.
    pub span: Duration,
    /// Somebody had looked just before, so that what the workers slept was measured: `false` for the first
    /// overview after nobody has looked.
    pub measured: bool,
    /// Each of the node's workers.
    pub workers: Vec<WorkerLoad>,
    /// Processes that are ready and wait in the common queue, which no worker has taken yet.
    pub queued_outside: usize,
    /// Processes that live: as many as the table has, and those that have been added since it was made, which are
    /// known to within a few hundred.
    pub processes: usize,
    /// How many may live at a time.
    pub max_processes: u32,
    /// Messages and signals sent by the node's processes, a second.
    pub messages_per_second: f64,
    /// The same since the node's start; what its workers are doing just now may be missing.
    pub messages: u64,
    /// Reductions, a second.
    pub reductions_per_second: f64,
    /// The same since the node's start.
    pub reductions: u64,
    /// What memory is taken.
    pub memory: Memory,
    /// Timers that are set and have not fired.
    pub timers: usize,
    /// The processes that hold up a thread now.
    pub hogs: Vec<HogSeen>,
    /// Messages that nobody received.
    pub drops: DropsSeen,
}

/// What one worker of a node does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WorkerLoad {
    /// The part of the time in which it was not asleep, from 0 to 1, by the wall clock; 0 if that was not
    /// [measured](Overview::measured).
    pub busy: f64,
    /// Processes that are ready and wait for this worker.
    pub queue: usize,
    /// Turns of processes, a second.
    pub turns_per_second: f64,
    /// The same since the node's start.
    pub turns: u64,
    /// How often it has taken work over from another worker, a second.
    pub steals_per_second: f64,
    /// The same since the node's start.
    pub steals: u64,
}

/// What memory is taken, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// What the operating system has given the program and keeps in memory (its resident set); `None`
    /// where it does not tell.
    pub resident: Option<u64>,
    /// Processes and the messages that wait for them, without what they point to, as of the last whole
    /// table.
    pub processes: u64,
}

/// A process that holds up a thread (F2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HogSeen {
    /// Its identity.
    pub id: ProcessId,
    /// The function it runs.
    pub function: &'static str,
    /// For how long it has not awaited.
    pub for_so_long: Duration,
}

/// Messages that nobody received.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DropsSeen {
    /// Since the node's start, by the reason.
    pub total: Drops,
    /// All of them together, a second.
    pub per_second: f64,
}
