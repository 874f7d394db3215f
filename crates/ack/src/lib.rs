//! Millions of small messages over TCP, acknowledged.
//!
//! What is on the wire is settled byte by byte in `docs/ack/protocol.md`. The half
//! of this crate that says so is pure: no sockets, no clock, no processes. Any thread
//! may use any of it; every value belongs to one connection, or to whoever holds it.
//! The other half are servers, on purlin's processes, and clients.
//!
//! | module | role | used by |
//! |---|---|---|
//! | [`wire`] | sizes, ids, heads and answers as bytes | both sides |
//! | [`inbuf`] | where a connection reads to | both sides |
//! | [`frames`] | the whole messages in a block, given out or only counted | servers |
//! | [`owed`] | what a connection has to acknowledge | servers |
//! | [`checked`] | answers, verified | clients |
//! | [`session`] | how a client of `best` opens a session | both sides |
//! | [`remembered`] | what is acknowledged to which client | the server `best` |
//! | [`server`] | listening, connections, limits, stopping | programs |
//! | [`strategy`] | the six ways to read and acknowledge | both sides |
//! | [`handler`] | what becomes of the messages | programs |
//! | [`client`] | sends, and loses nothing | programs |
//! | `tls` | what is read and written is encrypted; optional | both sides |
//! | [`load`] | sends as much as there can be, and measures | the `purlin` command |
//!
//! A server in one loop, without its socket:
//!
//! ```
//! use purlin_ack::frames::{needed, skim};
//! use purlin_ack::inbuf::InBuf;
//! use purlin_ack::owed::Owed;
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
//! let mut read = InBuf::new(64 << 10);
//! let mut owed = Owed::default();
//! let mut room = 1;
//! loop {
//!     let count = socket.read(read.room(room))?;
//!     if count == 0 {
//!         break;
//!     }
//!     read.filled(count);
//!     let block = skim(read.waiting(), order, limit);
//!     owed.add(block);
//!     read.used(block.used);
//!     room = needed(read.waiting(), order, limit)?;
//!     while let Some(ack) = owed.take() {
//!         answered.extend(ack.to_bytes());
//!     }
//! }
//! assert_eq!(answered, [49, 0, 0, 0, 0, 0, 0, 0, 49, 0, 0, 0]);
//! # Ok(())
//! # }
//! ```

mod attempt;
pub mod checked;
pub mod client;
pub mod frames;
pub mod handler;
pub mod inbuf;
pub mod load;
pub mod owed;
pub mod remembered;
pub mod server;
pub mod session;
pub mod strategy;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
pub mod wire;

/// Documents whose examples are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/ack.md")]
    struct Ack;

    #[cfg(feature = "tls")]
    #[doc = include_str!("../../../docs/ack/tls.md")]
    struct Tls;
}
