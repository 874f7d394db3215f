//! Sysmon: the thread that detects stalled workers and hands their cores to fresh threads.

pub(crate) mod computing;
pub(crate) mod crowd;
pub(crate) mod hand_off;
pub(crate) mod period;
pub(crate) mod policy;
pub(crate) mod stalled;
pub(crate) mod thread;
