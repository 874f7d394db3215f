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
//! | `settings` | [`Builder`] |
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
mod connection_task;
mod error;
pub(crate) mod open_session;
pub mod outbox;
mod settings;
mod shared;

use std::fmt;
use std::sync::Arc;

pub use backoff::Backoff;
pub use error::{ConnectError, Ended, Lost, Refused, SendError, Unanswered};
pub use settings::Builder;

#[cfg(feature = "tls")]
pub use crate::tls::{PemError, client::Tls};
use shared::Shared;

/// Sends messages to one server.
///
/// Dropping the client closes it in the background: accepted messages are still sent, for at most
/// [`Builder::patience`] without an answer. Only [`close`](Self::close) reports their fate.
pub struct Client {
    shared: Arc<Shared>,
}

impl Client {
    /// Returns a builder for a client of the server at `address`, such as `"host:8006"`. The name
    /// is resolved for each connection.
    ///
    /// The server may have any strategy except request-reply, which takes one message at a time.
    #[must_use]
    pub fn builder(address: impl ToString) -> Builder {
        Builder::new(address.to_string())
    }

    /// Sends a message once the window has capacity, and returns its id. Ids are consecutive from
    /// 0.
    ///
    /// Cancel safe: if the future is dropped, the message was not accepted. COST: a lock and a copy
    /// of the payload.
    ///
    /// # Errors
    /// Returns [`SendError`] if the message is too large or the client has ended.
    pub async fn send(&self, payload: &[u8]) -> Result<u64, SendError> {
        self.shared.push_wait(payload).await
    }

    /// Sends a message if the window has capacity. Returns `None` if it has not.
    ///
    /// # Errors
    /// Returns [`SendError`] if the message is too large or the client has ended.
    pub fn try_send(&self, payload: &[u8]) -> Result<Option<u64>, SendError> {
        self.shared.push(payload)
    }

    /// Waits until all messages sent so far are answered. They do not linger.
    ///
    /// Waits no longer than the client lives, which [`Builder::patience`] bounds. Cancel safe.
    ///
    /// # Errors
    /// Returns [`Ended`] if the client ends first.
    pub async fn flush(&self) -> Result<(), Ended> {
        self.shared.flushed().await
    }

    /// Returns the id of the newest answered message. All earlier messages are answered too. An
    /// answer is an ack or a refusal; refusals are reported to [`Builder::on_refused`].
    #[must_use]
    pub fn answered(&self) -> Option<u64> {
        self.shared.newest()
    }

    /// Stops accepting messages, waits until all accepted messages are answered, and closes the
    /// connection.
    ///
    /// Waits for at most [`Builder::patience`] after the last answer. If the future is dropped, the
    /// client continues closing in the background.
    ///
    /// # Errors
    /// Returns [`Unanswered`] with the messages that are not answered.
    pub async fn close(&self) -> Result<(), Unanswered> {
        self.shared.close();
        let (why, messages) = self.shared.ended().await;
        if messages.is_empty() { Ok(()) } else { Err(Unanswered { why, messages }) }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("answered", &self.answered()).finish_non_exhaustive()
    }
}
