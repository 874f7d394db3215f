//! Inbox of a process: the queue that senders push to, and the mailbox behind it.

#[cfg(any(purlin_cores, purlin_measured))]
pub(crate) mod bare;
pub(crate) mod batch;
pub(crate) mod bound;
pub(crate) mod carry;
pub(crate) mod extension;
pub(crate) mod header;
pub(crate) mod markers;
pub(crate) mod priority;
pub(crate) mod save_queue;
pub(crate) mod shards;
pub(crate) mod state;
pub(crate) mod wait_list;
