//! Threads of the operating system: priorities, processors, timers that make a thread yield, barriers,
//! ownership that another thread can revoke.

pub(crate) mod affinity;
pub(crate) mod fence;
pub(crate) mod os;
pub(crate) mod revocable;
pub(crate) mod yield_timer;
