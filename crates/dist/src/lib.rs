//! Erlang distribution: a purlin node in an Erlang cluster ([`cluster`]), and the protocol below it:
//! epmd, the handshake and the connection.
//!
//! Programs with processes use [`cluster::Cluster`] alone. The protocol also works without it:
//!
//! ```no_run
//! use purlin_dist::connect::{self, Lengths};
//! use purlin_dist::control::Control;
//! use purlin_dist::frame::Signal;
//! use purlin_dist::handshake::LocalNode;
//! use purlin_dist::link::{Link, Settings};
//! use purlin_dist::{Cookie, Flags, epmd};
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
//! | [`cluster`] | this node's processes and remote ones, over all modules below | yes |
//! | [`epmd`] | codec, client, registration and a server for epmd | its client and server |
//! | [`handshake`] | both sides of the handshake, with capability flags | none |
//! | [`frame`] | frames: fragments, reassembly, atom cache | none |
//! | [`control`] | control messages | none |
//! | [`ConnectionTable`] | connection table, and the resolution of simultaneous connects | none |
//! | [`connect`], [`Listener`] | handshakes over a stream | a stream, a listening socket |
//! | [`link`] | one connection to one node | a stream |
//!
//! All modules but the first are the protocol below processes: they know pids and names as they are
//! on the wire, and no process of a node. Bytes of an unauthenticated peer are checked against a
//! limit before they are stored, and a peer's statements about itself take effect only after it has
//! proven knowledge of the cookie.

pub mod cluster;
mod protocol;

pub use cluster::net_kernel::{ConnectionTable, Up};
pub use protocol::cookie::Cookie;
pub use protocol::flags::Flags;
pub use protocol::link::Link;
pub use protocol::listener::{Accepted, Listener};
pub use protocol::name::{BadName, NodeName};
pub use protocol::stream::{Duplex, Halves, Stream};
pub use protocol::{connect, control, epmd, frame, handshake, link};
#[cfg(feature = "tls")]
pub use {protocol::tls::Tls, purlin_tls::PemError};

/// Runs the examples of the guide as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/cluster.md")]
    struct Clusters;

    #[cfg(feature = "tls")]
    #[doc = include_str!("../../../docs/guide/cluster-hosts.md")]
    struct Hosts;
}
