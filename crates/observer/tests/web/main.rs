//! The page of a node and what it asks, over real connections.

mod api;
mod safety;
mod support;
