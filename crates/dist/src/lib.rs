//! Erlang's distribution protocol.

mod bytes;
pub mod connect;
pub mod control;
mod cookie;
pub mod epmd;
mod flags;
pub mod frame;
pub mod handshake;
pub mod link;
mod listener;
mod name;
mod peers;

pub use cookie::Cookie;
pub use flags::Flags;
pub use link::Link;
pub use listener::Listener;
pub use name::{BadName, NodeName};
pub use peers::{Peers, Up};
