//! A process: its cell, its turns, its own handle and the addresses others hold.

pub(crate) mod address;
pub(crate) mod body;
pub(crate) mod cell;
pub(crate) mod code;
pub(crate) mod context;
pub(crate) mod deferred_rc;
pub(crate) mod discard;
pub(crate) mod end;
pub(crate) mod mailbox;
pub(crate) mod node_base;
pub(crate) mod owner;
pub(crate) mod sealed_message;
pub(crate) mod send;
pub(crate) mod signal_outcome;
pub(crate) mod snapshot;
pub(crate) mod trace;
pub(crate) mod turn;
pub(crate) mod unopened;
pub(crate) mod waiter;
pub(crate) mod waker;
