//! A process: its cell, its turns, its own handle and the addresses others hold.

pub(crate) mod address;
pub(crate) mod body;
pub(crate) mod cell;
pub(crate) mod context;
pub(crate) mod owner;
pub(crate) mod snapshot;
pub(crate) mod trace;
pub(crate) mod turn;
pub(crate) mod waker;
