//! Discrete-event simulator of many cores.
//!
//! A *machine* ([`Machine`]) has cores with clocks of their own. Each simulated thread has a core to
//! itself and is a coroutine; all of them run on one OS thread. The primitives of this crate have the
//! functions of `std`'s, and each access to a cache line advances the clock of the accessing core by
//! what a coherence model says. The thread with the earliest clock always runs next, so accesses
//! take effect in the order of simulated time. Code between two accesses takes no time unless it
//! calls [`work`].
//!
//! Outside of a simulation the primitives are those of `std` and cost nothing.
//!
//! | module | role |
//! |---|---|
//! | `coherence` | cache lines: owner, sharers, queue of transfers |
//! | `costs` | constants of the model, and the topology |
//! | `deque` | work-stealing deque with the accesses of a Chase-Lev deque |
//! | `local` | thread-locals of simulated threads |
//! | `machine` | cores, clocks and the event loop |
//! | `parker` | parking of a thread |
//! | `run` | state of the simulation in progress |
//! | `sync` | atomics, locks, condition variables and channels |
//! | `thread` | simulated threads |
//! | `time` | clock of the simulated core |

mod coherence;
mod costs;
pub mod deque;
mod local;
mod machine;
mod parker;
mod run;
pub mod sync;
pub mod thread;
mod time;

pub use coherence::Transfers;
pub use costs::{Costs, Topology};
pub use local::{AccessError, LocalKey};
pub use machine::{Machine, Report};
pub use parker::{Parker, Unparker};
pub use run::{core_count, is_running, now, thread_number, work};
pub use time::Instant;

/// Functions of `std::hint`.
pub mod hint {
    /// Pauses the core for the time of one `pause` instruction.
    pub fn spin_loop() {
        crate::run::pause();
    }
}
