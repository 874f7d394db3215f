//! Timers that send messages.

pub(crate) mod handle;
pub(crate) mod interval;
pub(crate) mod past_bound;
