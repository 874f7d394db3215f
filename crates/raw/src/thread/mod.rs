//! Threads of the operating system: priorities, barriers, ownership that another thread can revoke.

pub(crate) mod fence;
pub(crate) mod os;
pub(crate) mod revocable;
