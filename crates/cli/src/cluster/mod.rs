//! `purlin node` and `purlin call`, and the options with which they and the gateway join an Erlang cluster.

mod call;
mod exports;
mod join;
mod json;
mod node;

pub(crate) use call::{Call, call};
pub(crate) use join::{CookieOption, own_epmd};
pub(crate) use node::{Node, node};
