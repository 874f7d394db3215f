//! `purlin node` and `purlin call`, and the options with which they and the gateway join an Erlang cluster.

mod call;
mod join;
mod node;
mod offer;

pub(crate) use call::{Call, call};
pub(crate) use join::{Secret, own_epmd};
pub(crate) use node::{Node, node};
