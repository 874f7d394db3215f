//! epmd, the Erlang port mapper daemon: maps the nodes of a host to their ports.
//!
//! [`codec`] encodes and decodes, without I/O. [`Epmd`] is the client, and [`Registration`] keeps
//! this node registered. There is one daemon per host, on port 4369 unless `ERL_EPMD_PORT` is set.
//!
//! Answers of an epmd are bounded. They are trusted only as a hint that a node may listen on a
//! port: the handshake then verifies its identity.

mod client;
pub mod codec;
mod registration;
mod server;

pub use client::{Epmd, Failed};
pub use codec::{Alive, Found, Kind};
pub use registration::Registration;
pub use server::Server;

/// Default port of epmd.
pub const PORT: u16 = 4369;
