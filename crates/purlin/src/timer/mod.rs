//! Timers that send messages.

pub(crate) mod handle;
pub(crate) mod interval;
