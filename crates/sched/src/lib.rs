//! The scheduler: worker threads that run processes.
//!
//! It knows processes only as the right to run them ([`purlin_raw::Runnable`]) and is told what to
//! run through [`purlin_raw::Host`].
//!
//! | file | role |
//! |---|---|
//! | `scheduler` | the shared part: queues, workers, start and stop |
//! | `above` | what it asks of the layer above |
//! | `crew` | its threads: how one begins, and how they are counted out |
//! | `simulation` | one thread instead of workers, a seed and a clock that is moved |
//! | `worker` | one thread's loop: what to run next |
//! | `post` | who is to run on a worker, in which order; it can be taken from its thread |
//! | `recent` | those who were woken last |
//! | `backlog` | the queue of the others: near the worker, or where others can take from it |
//! | `queue` | a worker's queue as the others see it, and when it is to be helped |
//! | `spread` | whether short turns are kept together or spread |
//! | `idle` | who sleeps, who searches, and whom to wake |
//! | `timers` | messages and wake-ups for later: a wheel for each worker |
//! | `timer` | one that was set: taken back, looked at, polled |
//! | `wheel` | what is due when, without a thread, a lock or a clock |
//! | `slab` | memory for the entries of a wheel |
//! | `clock` | the machine's clock, or one that a test moves |
//! | `seat` | what a thread shows of itself |
//! | `monitor` | the thread that watches the workers |
//! | `ebb` | when memory is given back |
//! | `judge` | what the monitor decides |
//! | `load` | what the workers have done, for those who look |
//! | `hogs` | the threads that were relieved and are still in that turn |
//! | `relief` | what such a thread and the monitor agree on |
//! | `sync` | what threads share and wait with: `std`'s and crossbeam's, or a model's |
//!
//! # What runs next
//!
//! 1. every 61st time, what came from outside, so that it is never starved;
//! 2. the process woken or spawned last, at most [`LIFO_STREAK`] times in a row, or
//!    [`LIFO_STREAK_OF_SHORT_TURNS`];
//! 3. the worker's own queue, first in, first out;
//! 4. what came from outside;
//! 5. half of what another worker has queued for others to take.

// WHY: the loom models reach the private parts through `model`, which exists only for them.
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

/// How often in a row a worker runs a process just woken or spawned before it turns to its queue.
pub const LIFO_STREAK: u32 = if cfg!(shuttle) { 2 } else { 32 };
/// The same where turns are short: a worker makes more than sixty in a millisecond.
pub const LIFO_STREAK_OF_SHORT_TURNS: u32 = 4 * LIFO_STREAK;

/// The parts that the loom models exercise directly.
#[cfg(loom)]
#[doc(hidden)]
pub mod model {
    pub use crate::idle::Idle;
    pub use crate::relief::Relief;
}

/// The time of shuttle's models.
#[cfg(shuttle)]
#[doc(hidden)]
pub mod model {
    pub use crate::sync::time::{Instant, begin, forward};
}
