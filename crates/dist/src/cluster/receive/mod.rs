//! Incoming signals and messages: from a connection to local processes.

pub(super) mod answer_queues;
mod classify;
pub(super) mod decoders;
pub(super) mod deliver;
pub(super) mod incoming;
pub(super) mod requests;
