//! Work-stealing scheduler: worker threads that run processes.
//!
//! The scheduler knows a process only as the right to run it ([`purlin_raw::Runnable`]). It
//! receives runnable processes through [`purlin_raw::Host`]. A *turn* is one poll of a process.
//!
//! | module | role |
//! |---|---|
//! | `scheduler` | shared state: queues, workers, start and stop |
//! | `above` | hooks: callbacks into the layer above |
//! | `crew` | launcher: starts threads and counts those that run |
//! | `simulation` | single-threaded deterministic scheduler with a seed and a manual clock |
//! | `worker` | worker loop: picks the next process, steals, parks |
//! | `post` | the worker's core: run queue and LIFO slots; sysmon can hand it off to another thread |
//! | `recent` | LIFO stack of recently woken processes |
//! | `backlog` | FIFO run queue with a local and a stealable part |
//! | `queue` | a worker's queue as other workers see it, and its steal threshold |
//! | `spread` | load balancing: short turns on one worker or on all |
//! | `idle` | sleeping and searching workers, and the choice of the worker to wake |
//! | `timers` | timers: one timing wheel per worker |
//! | `timer` | handle to a timer: cancel, read, poll |
//! | `wheel` | hierarchical timing wheel, as a pure data structure |
//! | `slab` | slab allocator for the entries of a wheel |
//! | `clock` | the system clock, or a manual clock |
//! | `seat` | worker status: what a thread publishes about its current turn |
//! | `monitor` | sysmon: the thread that detects stalled workers |
//! | `ebb` | trim: returns freed memory to the operating system |
//! | `judge` | the policy of sysmon, as pure code |
//! | `load` | statistics of the workers |
//! | `hogs` | detached threads: those whose core was handed off and whose turn still runs |
//! | `relief` | hand-off record that a detached thread shares with sysmon |
//! | `sync` | synchronization primitives of `std` and crossbeam, or of a model checker |
//!
//! # Order of execution
//!
//! 1. on every 61st turn, the global queue, so that it is never starved;
//! 2. the process woken or spawned last, at most [`LIFO_STREAK`] times in a row, or
//!    [`LIFO_STREAK_OF_SHORT_TURNS`];
//! 3. the worker's local run queue, first in, first out;
//! 4. the global queue;
//! 5. half of the stealable part of another worker's queue.

// WHY: the loom models reach the private parts through `model`, which exists only under loom.
#![cfg_attr(not(loom), allow(unreachable_pub))]

mod above;
mod backlog;
mod clock;
mod crew;
mod ebb;
mod hogs;
mod idle;
mod judge;
mod load;
mod monitor;
mod post;
mod queue;
mod recent;
mod relief;
mod scheduler;
mod seat;
mod simulation;
mod slab;
mod spread;
mod sync;
mod timer;
mod timers;
mod wheel;
mod worker;

pub use above::Above;
pub use clock::{Clock, Hand};
pub use load::{Load, Measuring, WorkerLoad};
pub use scheduler::{Scheduler, Stopped};
pub use simulation::{Drove, Simulation};
pub use timer::Timer;
pub use timers::{Alarm, TimerWheel, Timers};

/// Maximum number of consecutive turns from the LIFO slots before a worker takes from its queue.
pub const LIFO_STREAK: u32 = if cfg!(shuttle) { 2 } else { 32 };
/// [`LIFO_STREAK`] for a worker with short turns: more than sixty in a millisecond.
pub const LIFO_STREAK_OF_SHORT_TURNS: u32 = 4 * LIFO_STREAK;

/// The types that the loom models exercise directly.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    pub use crate::idle::Idle;
    pub use crate::relief::Relief;
}

/// The clock of the shuttle models.
#[cfg(shuttle)]
#[doc(hidden)]
pub mod model {
    pub use crate::sync::time::{Instant, begin, forward};
}
