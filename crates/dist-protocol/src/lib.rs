//! The Erlang distribution protocol below processes: epmd, the handshake and the connection.
//!
//! Programs with processes use `purlin-dist`, which builds a cluster on this crate and re-exports it. The protocol also
//! works alone:
//!
//! ```no_run
//! use purlin_dist_protocol::connect::{self, Lengths};
//! use purlin_dist_protocol::control::Control;
//! use purlin_dist_protocol::frame::Signal;
//! use purlin_dist_protocol::handshake::LocalNode;
//! use purlin_dist_protocol::link::{Link, Settings};
//! use purlin_dist_protocol::{Cookie, Flags, epmd};
//! use purlin_term::{Atom, Pid, Term};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let epmd = epmd::Epmd::at(([127, 0, 0, 1], epmd::PORT).into());
//! let us = LocalNode { name: "rust@127.0.0.1".parse()?, creation: 4, flags: Flags::OFFERED };
//! let shop = "shop@127.0.0.1".parse()?;
//!
//! let mut stream = connect::dial(&epmd, &shop).await?;
//! let cookie = Cookie::new("secret");
//! let peer = connect::call(&mut stream, Lengths::Two, &us, shop, cookie, || true).await?;
//!
//! let (receive, mut signals) = tokio::sync::mpsc::channel(64);
//! let link = Link::start(stream, peer, Settings::default(), receive);
//! let from = Pid { node: Atom::new(us.name.as_str())?, id: 1, serial: 0, creation: 4 };
//! let control = Control::RegSend { from, to: Atom::new("till")?, token: None };
//! link.send(Signal { control, payload: Some(Term::atom("open")) }).await?;
//! while let Some(Signal { control, payload }) = signals.recv().await {
//!     println!("{control:?} {payload:?}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | module | what it is | I/O |
//! |---|---|---|
//! | [`epmd`] | codec, client, registration and a server for epmd | its client and server |
//! | [`handshake`] | both sides of the handshake, with capability flags | none |
//! | [`frame`] | frames: fragments, reassembly, atom cache | none |
//! | [`control`] | control messages | none |
//! | [`ConnectionTable`] | connection table, and the resolution of simultaneous connects | none |
//! | [`connect`], [`Listener`] | handshakes over a stream | a stream, a listening socket |
//! | [`link`] | one connection to one node | a stream |
//!
//! All of it knows pids and names as they are on the wire, and no process of a node. Bytes of an unauthenticated peer
//! are checked against a limit before they are stored, and a peer's statements about itself take effect only after it
//! has proven knowledge of the cookie.

mod broken;
pub mod connect;
mod connection_table;
pub mod control;
mod cookie;
mod cursor;
pub mod epmd;
mod flags;
pub mod frame;
mod halves;
pub mod handshake;
mod handshakes;
pub mod link;
mod listener;
mod log_limit;
mod name;
mod stream;
#[cfg(feature = "tls")]
mod tls;

pub use connection_table::{ConnectionTable, Up};
pub use cookie::{Cookie, NoCookie};
pub use flags::Flags;
pub use link::Link;
pub use listener::{Accepted, Listener};
pub use name::{BadName, NodeName};
pub use stream::{Duplex, Halves, Stream, Transport};
#[cfg(feature = "tls")]
pub use {purlin_tls::PemError, tls::Tls};
