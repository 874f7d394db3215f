//! Connections to other nodes, as Erlang's `net_kernel` establishes them, and notification of node changes.

mod connect;
pub(super) mod discovery;
pub(super) mod hosts;
pub(super) mod monitor;
pub(super) mod nodes;
pub(super) mod ping;
pub(super) mod reach;
