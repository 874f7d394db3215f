//! Erlang's distribution protocol.

mod bytes;
mod cookie;
pub mod epmd;
mod flags;
pub mod handshake;
mod name;

pub use cookie::Cookie;
pub use flags::Flags;
pub use name::{BadName, NodeName};
