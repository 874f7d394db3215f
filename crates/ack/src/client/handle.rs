//! Handle of the users of a client.

use std::fmt;
use std::sync::Arc;

use super::error::{Ended, SendError, Unanswered};
use super::shared::Shared;

/// Sends messages to one server.
///
/// Dropping the client closes it in the background: accepted messages are still sent, for at most
/// [`Builder::give_up_after`](super::Builder::give_up_after) without an answer. Only [`close`](Self::close) reports their fate.
pub struct Client {
    pub(super) shared: Arc<Shared>,
}

impl Client {
    /// Sends a message once the window has capacity, and returns its id. Ids are consecutive from
    /// 0, or continue those of an earlier client: see [`Builder::resume`](super::Builder::resume).
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
    /// Waits no longer than the client lives, which [`Builder::give_up_after`](super::Builder::give_up_after) bounds. Cancel safe.
    ///
    /// # Errors
    /// Returns [`Ended`] if the client ends first.
    pub async fn flush(&self) -> Result<(), Ended> {
        self.shared.flushed().await
    }

    /// Returns the id of the newest answered message. All earlier messages are answered too. An
    /// answer is an ack or a refusal; refusals are reported to [`Builder::on_refused`](super::Builder::on_refused).
    #[must_use]
    pub fn answered(&self) -> Option<u64> {
        self.shared.newest()
    }

    /// Stops accepting messages, waits until all accepted messages are answered, and closes the
    /// connection.
    ///
    /// Waits for at most [`Builder::give_up_after`](super::Builder::give_up_after) after the last answer. If the future is dropped, the
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
