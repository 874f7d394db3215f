//! Acknowledged small messages over TCP: servers, clients and the wire protocol.
//!
//! `docs/ack/protocol.md` specifies the wire format byte by byte. The protocol half of this crate
//! is pure: no sockets, clocks or processes. Its values belong to one connection and may be used
//! from any thread. The other half is servers, built on purlin's processes, and clients.
//!
//! | module | role | used by |
//! |---|---|---|
//! | [`wire`] | encoding of sizes, ids, heads and answers | both sides |
//! | [`read_buffer`] | read buffer of a connection | both sides |
//! | [`frames`] | frame parser | servers |
//! | [`pending_acks`] | pending acks of a connection | servers |
//! | [`verifier`] | verification of answers | clients |
//! | [`session`] | session handshake of `best` | both sides |
//! | [`session_table`] | session table: position of each client | the server `best` |
//! | `connection` | reading, waiting, limits and counters of connections | servers |
//! | [`server`] | listener, connections, limits, graceful shutdown | programs |
//! | [`strategy`] | the six ways to read and acknowledge | both sides |
//! | [`handler`] | message handlers | programs |
//! | [`client`] | at-least-once client | programs |
//! | `tls` | TLS; optional | both sides |
//! | [`load`] | load generator | the `purlin` command |
//!
//! A server loop without a socket:
//!
//! ```
//! use purlin_ack::frames::{needed, summarize};
//! use purlin_ack::pending_acks::PendingAcks;
//! use purlin_ack::read_buffer::ReadBuffer;
//! use purlin_ack::wire::{Head, Id, SizeOrder};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut sent = Vec::new();
//! # for id in 0..50 {
//! #     sent.extend(Head { id: Id::from(id), size: 5 }.to_bytes(SizeOrder::Little));
//! #     sent.extend(b"hello");
//! # }
//! # let mut socket = &sent[..];
//! # let mut answered = Vec::new();
//! use std::io::Read;
//!
//! let (order, limit) = (SizeOrder::Little, 16 << 20);
//! let mut read = ReadBuffer::new(64 << 10);
//! let mut pending = PendingAcks::default();
//! let mut missing = 1;
//! loop {
//!     let count = socket.read(read.spare(missing))?;
//!     if count == 0 {
//!         break;
//!     }
//!     read.filled(count);
//!     let block = summarize(read.waiting(), order, limit);
//!     pending.add(block);
//!     read.consume(block.used);
//!     missing = needed(read.waiting(), order, limit)?;
//!     while let Some(ack) = pending.take() {
//!         answered.extend(ack.to_bytes());
//!     }
//! }
//! assert_eq!(answered, [49, 0, 0, 0, 0, 0, 0, 0, 49, 0, 0, 0]);
//! # Ok(())
//! # }
//! ```

pub mod client;
mod connection;
pub mod handler;
pub mod load;
pub mod server;
pub mod strategy;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
pub mod wire;

pub use connection::{pending_acks, session_table};
#[doc(inline)]
pub use wire::{frames, read_buffer, session, verifier};

/// Documents whose examples are compiled as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/ack.md")]
    struct Ack;

    #[cfg(feature = "tls")]
    #[doc = include_str!("../../../docs/ack/tls.md")]
    struct Tls;
}
