//! Calls between nodes: `gen_server:call`, and `rpc:call` and `erpc:call` of exported functions.

pub(super) mod apply;
pub(super) mod call;
pub(super) mod encodable;
pub(super) mod export;
pub(super) mod gen_call;
pub(super) mod into_term;
pub(super) mod offer;
pub(super) mod reply;
pub(super) mod rex;
pub(super) mod unsent;
