//! Processes spawned on other nodes, and for other nodes.

pub(super) mod pending;
pub(super) mod request;
pub(super) mod serve;
