//! At-least-once client: batching, in-flight window, reconnection and resend.
//!
//! Tasks and processes may send through one [`Client`] concurrently. The client keeps a message
//! from [`Client::send`] until the server has answered it, and resends it on a new connection if
//! the present one is lost. Messages are handled at least once; in a session with a server of the
//! strategy `best` they are handled exactly once for as long as the server remembers the client
//! (`docs/ack/protocol.md`).
//!
//! | module | role |
//! |---|---|
//! | [`outbox`] | unanswered messages; pure |
//! | [`backoff`](Backoff) | delay between reconnection attempts; pure |
//! | `shared` | state shared by the users and the connection task |
//! | `connection_task` | connection task: owns the socket |
//! | `open_session` | session handshake |
//! | `builder`, `settings` | configuration and start |
//! | `handle` | [`Client`] |
//! | `error` | error types |
//!
//! ```
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # use purlin_ack::{frames::summarize, pending_acks::PendingAcks, wire::SizeOrder};
//! # async fn server(listener: tokio::net::TcpListener) -> std::io::Result<()> {
//! #     let (mut socket, _) = listener.accept().await?;
//! #     let (mut read, mut pending) = (Vec::new(), PendingAcks::default());
//! #     while socket.read_buf(&mut read).await? > 0 {
//! #         let block = summarize(&read, SizeOrder::Little, 1000);
//! #         pending.add(block);
//! #         read.drain(..block.used);
//! #         while let Some(ack) = pending.take() { socket.write_all(&ack.to_bytes()).await?; }
//! #     }
//! #     Ok(())
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let address = listener.local_addr()?;
//! # tokio::spawn(server(listener));
//! use purlin_ack::client::Client;
//!
//! let client = Client::builder(address).connect().await?;
//! for reading in 0..1000u32 {
//!     client.send(&reading.to_le_bytes()).await?;
//! }
//! client.flush().await?;
//! assert_eq!(client.answered(), Some(999));
//! client.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! COST: a send takes an uncontended lock and copies the message once. It does not allocate while
//! answers keep pace. A client is one task, a 4 KiB buffer for answers, and the unanswered
//! messages, which the window bounds.

mod backoff;
mod builder;
mod connection_task;
mod error;
mod handle;
pub(crate) mod open_session;
pub mod outbox;
mod settings;
mod shared;

pub use backoff::Backoff;
pub use builder::Builder;
pub use error::{ConnectError, Ended, Lost, Refused, SendError, Unanswered};
pub use handle::Client;

#[cfg(feature = "tls")]
pub use crate::tls::{PemError, client::Tls};
