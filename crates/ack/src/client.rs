//! A client that loses nothing: batches, a window, and connections that are made again.
//!
//! Any task or process may send through a [`Client`], many at a time. A message
//! is the client's from [`Client::send`] on, until the server has answered it:
//! the client sends it again on another connection if the first is lost. So it
//! is handled at least once; in a session with a server of the strategy `best`,
//! once, as long as the server remembers (`docs/ack/protocol.md`).
//!
//! | module | role |
//! |---|---|
//! | [`outbox`] | what is not answered yet; pure |
//! | [`backoff`](Backoff) | how long to wait before trying again; pure |
//! | `shared` | what users and the keeper share |
//! | `keeper` | the task with the socket |
//! | `open` | how a session is opened |
//! | `settings` | [`Builder`] |
//! | `error` | what can go wrong |
//!
//! ```
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # use purlin_ack::{frames::skim, owed::Owed, wire::SizeOrder};
//! # async fn server(listener: tokio::net::TcpListener) -> std::io::Result<()> {
//! #     let (mut socket, _) = listener.accept().await?;
//! #     let (mut read, mut owed) = (Vec::new(), Owed::default());
//! #     while socket.read_buf(&mut read).await? > 0 {
//! #         let block = skim(&read, SizeOrder::Little, 1000);
//! #         owed.add(block);
//! #         read.drain(..block.used);
//! #         while let Some(ack) = owed.take() { socket.write_all(&ack.to_bytes()).await?; }
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
//! COST: a send takes a lock that nobody holds for long and copies the message
//! once; it allocates nothing as long as answers keep pace. A client is one task,
//! 4 KiB for answers, and what is unanswered, which the window bounds.

mod backoff;
mod error;
mod keeper;
pub(crate) mod open;
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
/// When it is dropped what it has taken is still sent, in the background, for as long as its
/// patience; only [`close`](Self::close) tells what became of it.
pub struct Client {
    shared: Arc<Shared>,
}

impl Client {
    /// A client of the server at this address, such as `"host:8006"`, which is looked up for each
    /// connection.
    ///
    /// The server may be of any strategy but request-reply, which takes one message at a time.
    #[must_use]
    pub fn builder(address: impl ToString) -> Builder {
        Builder::new(address.to_string())
    }

    /// Takes a message, when the window has room for it, and tells its id: 0 for the first, and one
    /// more for each.
    ///
    /// If the future is dropped the message was not taken. COST: a lock, a copy of the payload.
    ///
    /// # Errors
    /// The message is too large, or the client has ended.
    pub async fn send(&self, payload: &[u8]) -> Result<u64, SendError> {
        self.shared.push_wait(payload).await
    }

    /// Takes a message if the window has room for it now; nothing if it has not.
    ///
    /// # Errors
    /// The message is too large, or the client has ended.
    pub fn try_send(&self, payload: &[u8]) -> Result<Option<u64>, SendError> {
        self.shared.push(payload)
    }

    /// Waits until all that has been sent is answered, and has nothing of it linger.
    ///
    /// Waits for no longer than the client lives, which its patience bounds. Can be given up at any
    /// time.
    ///
    /// # Errors
    /// The client has ended before.
    pub async fn flush(&self) -> Result<(), Ended> {
        self.shared.flushed().await
    }

    /// The newest message that is answered; so are all before it. An answer is an ack, or a refusal
    /// of which [`Builder::on_refused`] tells.
    #[must_use]
    pub fn answered(&self) -> Option<u64> {
        self.shared.newest()
    }

    /// Takes no more messages, waits until those that were taken are answered, and closes the
    /// connection.
    ///
    /// Waits for no longer than the client's patience after the last answer. If it is given up the
    /// client goes on closing.
    ///
    /// # Errors
    /// Messages are left that are not answered. They are handed back.
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
