//! Workers: the loop that runs processes, its core and queues, and the threads that run it.

pub(crate) mod core;
pub(crate) mod counters;
pub(crate) mod idle;
pub(crate) mod init;
pub(crate) mod launcher;
pub(crate) mod lifo;
pub(crate) mod local_queue;
pub(crate) mod processors;
pub(crate) mod run;
pub(crate) mod shared_queue;
pub(crate) mod status;
