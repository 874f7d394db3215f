//! Work-stealing scheduler: worker threads that run processes.
//!
//! The scheduler knows a process only as the right to run it ([`purlin_raw::Runnable`]). It
//! receives runnable processes through [`purlin_raw::Host`]. A *turn* is one poll of a process.
//!
//! | module | role |
//! |---|---|
//! | `scheduler` | creation, start, statistics and stop of the workers |
//! | `shared` | state shared by the threads: queues, counters, timers |
//! | `hooks` | callbacks into the layer above |
//! | `worker::run` | worker loop: picks the next process, steals, parks |
//! | `worker::core` | the worker's core: run queue and LIFO slots, which sysmon can hand off |
//! | `worker::lifo` | LIFO stack of recently woken processes |
//! | `worker::local_queue` | FIFO run queue with a local and a stealable part |
//! | `worker::shared_queue` | a worker's queue as other workers see it, and its steal threshold |
//! | `worker::status` | what a worker's thread publishes about its current turn |
//! | `worker::idle` | sleeping and searching workers, and the choice of the worker to wake |
//! | `worker::init` | everything a thread needs to become a worker |
//! | `worker::launcher` | starts threads and counts those that run |
//! | `worker::counters` | statistics of the workers |
//! | `sysmon::thread` | sysmon: the thread that detects stalled workers |
//! | `sysmon::policy` | the policy of sysmon, as pure code |
//! | `sysmon::period` | the period of sysmon, which grows while all workers compute |
//! | `sysmon::hand_off` | hand-off record that a detached thread shares with sysmon |
//! | `sysmon::stalled` | detached threads: their core was handed off and their turn still runs |
//! | `balance` | load balancing: short turns on one worker or on all |
//! | `timers` | timers: one timing wheel per worker |
//! | `timers::timer` | handle to a timer: cancel, read, poll |
//! | `timers::wheel` | hierarchical timing wheel, as a pure data structure |
//! | `timers::slab` | slab allocator for the entries of a wheel |
//! | `clock` | the system clock, or a manual clock |
//! | `simulation` | single-threaded deterministic scheduler with a seed and a manual clock |
//! | `trim` | returns freed memory to the operating system |
//! | `sync` | synchronization primitives of `std` and crossbeam, or of a model checker |
//!
//! # Order of execution
//!
//! 1. on every 61st turn, or more often if turns are long, the global queue, so that it is never
//!    starved;
//! 2. the process woken or spawned last, at most [`LIFO_STREAK`] times in a row, fewer if turns are
//!    long, and [`LIFO_STREAK_OF_LONG_TURNS`] times if they are very long;
//! 3. the worker's local run queue, first in, first out;
//! 4. the global queue;
//! 5. half of the stealable part of another worker's queue.

// WHY: the loom models reach the private parts through `model`, which exists only under loom.
#![cfg_attr(not(loom), allow(unreachable_pub))]

mod balance;
mod clock;
mod hooks;
mod scheduler;
mod shared;
mod simulation;
mod sync;
mod sysmon;
mod timers;
mod trim;
mod worker;

pub use clock::{Clock, ClockHand};
pub use hooks::{Hooks, OsPriorities};
pub use scheduler::{Measuring, Scheduler, Stopped};
pub use simulation::{DriveOutcome, Simulation};
pub use timers::timer::Timer;
pub use timers::{TimerAction, TimerWheel, Timers};
pub use worker::counters::{Load, WorkerLoad};
pub use worker::run::poll_after;

/// Maximum number of consecutive turns from the LIFO slots before a worker takes from its queue.
pub const LIFO_STREAK: u32 = if cfg!(shuttle) { 8 } else { 128 };
/// [`LIFO_STREAK`] for a worker with long turns. WHY four: a process and a server that it calls get
/// two turns each.
pub const LIFO_STREAK_OF_LONG_TURNS: u32 = if cfg!(shuttle) { 2 } else { 4 };

/// The types that the loom models exercise directly.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    pub use crate::sysmon::hand_off::HandOff;
    pub use crate::worker::idle::Idle;
}

/// The clock of the shuttle models.
#[cfg(shuttle)]
#[doc(hidden)]
pub mod model {
    pub use crate::sync::time::{Instant, begin, forward};
}
