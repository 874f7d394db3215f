//! epmd: who tells nodes on which port another node of a host listens.
//!
//! [`codec`] knows the bytes, and does no I/O. [`Epmd`] asks, [`Registration`] keeps our
//! own name there. The daemon is one per host, on port 4369 unless `ERL_EPMD_PORT` says
//! otherwise.
//!
//! Whatever comes from an epmd is bounded and believed no further than that somebody may
//! listen on that port: who it is, the handshake shows.

mod client;
pub mod codec;
mod registration;
mod server;

pub use client::{Epmd, Failed};
pub use codec::{Alive, Found, Kind};
pub use registration::Registration;
pub use server::Server;

/// The port of epmd, unless the environment or the user says another.
pub const PORT: u16 = 4369;
