//! The distribution protocol: everything below processes. It imports nothing of [`crate::cluster`].
//!
//! From below: node names, flags and the cookie; `epmd` and `handshake`; `control` and `frame`; `link`, one connection
//! over a `stream`. `connect` and `listener` perform handshakes over streams.

mod broken;
pub mod connect;
pub mod control;
pub(crate) mod cookie;
mod cursor;
pub mod epmd;
pub(crate) mod flags;
pub mod frame;
pub mod handshake;
pub mod link;
pub(crate) mod listener;
pub(crate) mod name;
pub(crate) mod stream;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
pub(crate) mod tls;
