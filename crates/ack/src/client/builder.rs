//! Client configuration and start.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::backoff::Backoff;
use super::connection_task::ConnectionTask;
use super::error::{ConnectError, Lost, Refused};
use super::handle::Client;
use super::outbox::{Outbox, Window};
use super::settings::{Settings, now};
use super::shared::{LAST_RESUMED, Shared};
#[cfg(feature = "tls")]
use crate::tls::client::Tls;
use crate::wire::LARGEST;
use crate::wire::session::{Level, Opening};

/// Configures and connects a [`Client`].
pub struct Builder {
    settings: Settings,
    window: Window,
    batch: usize,
    largest: u32,
    level: Option<Level>,
    client: Option<[u8; 16]>,
    epoch: Option<u64>,
    resume: Option<u64>,
}

impl Client {
    /// Returns a builder for a client of the server at `address`, such as `"host:8006"`. The name
    /// is resolved for each connection.
    ///
    /// The server may have any strategy except request-reply, which takes one message at a time.
    #[must_use]
    pub fn builder(address: impl ToString) -> Builder {
        Builder {
            settings: Settings {
                address: address.to_string(),
                tls: None,
                linger: Duration::ZERO,
                connect: Duration::from_secs(5),
                answer_timeout: Duration::from_secs(30),
                give_up_after: Duration::from_secs(60),
                backoff: Backoff::default(),
                on_refused: Box::new(|refused| {
                    tracing::warn!(id = refused.id, reason = %refused.reason, "a message was refused");
                }),
            },
            window: Window::default(),
            batch: 64 << 10,
            largest: LARGEST,
            level: None,
            client: None,
            epoch: None,
            resume: None,
        }
    }
}

impl Builder {
    /// Requests a session whose acks have this meaning, so that each message is handled once.
    ///
    /// Only a server of the strategy `best` grants sessions. Without a session each message is
    /// handled at least once.
    #[must_use]
    pub fn session(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Connects over TLS. The server's certificate must match the host in the address before
    /// anything is sent.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.settings.tls = Some(tls);
        self
    }

    /// Sets the client's identity for sessions: 16 bytes that no other client has. Random by
    /// default. Keep it secret: without client certificates, any program that knows it can take the
    /// session over.
    #[must_use]
    pub fn identity(mut self, client: [u8; 16]) -> Self {
        self.client = Some(client);
        self
    }

    /// Sets the epoch, which must increase with each start of the client, and may be one day ahead
    /// of the server's clock. Defaults to the time of day in nanoseconds.
    #[must_use]
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.epoch = Some(epoch);
        self
    }

    /// Continues the numbering of an earlier client with the same [identity](Self::identity) and
    /// [epoch](Self::epoch), which was killed, for example. Messages below `next` have been
    /// answered; pass 0 if that is not known. `next` is at most 2^63.
    ///
    /// The first message gets the id `next`, or the one after the newest message that the server
    /// has answered, whichever is higher: [`Client::answered`] returns the id before it. So a
    /// program that keeps its messages by their ids sends the one after [`Client::answered`] next,
    /// and each is handled once. A refusal that the earlier client may have missed is reported
    /// with an empty payload.
    ///
    /// By default ids start at 0, and a client whose epoch is known to the server opens a later one.
    #[must_use]
    pub fn resume(mut self, next: u64) -> Self {
        self.resume = Some(next.min(LAST_RESUMED));
        self
    }

    /// Sets the in-flight window, past which [`Client::send`] waits. Defaults to 262 144 messages
    /// and 16 MiB.
    #[must_use]
    pub fn window(mut self, window: Window) -> Self {
        self.window = Window { messages: window.messages.max(1), ..window };
        self
    }

    /// Sets the target size of a write in bytes. Defaults to 64 KiB.
    #[must_use]
    pub fn batch(mut self, bytes: usize) -> Self {
        self.batch = bytes;
        self
    }

    /// Sets how long a partly filled batch waits for more messages. Defaults to zero.
    ///
    /// With zero, a batch is written as soon as the previous write has finished, and the messages
    /// sent meanwhile are coalesced. A batch never lingers while the window is full, or during a
    /// [flush](Client::flush) or [close](Client::close).
    #[must_use]
    pub fn linger(mut self, time: Duration) -> Self {
        self.settings.linger = time;
        self
    }

    /// Sets the largest accepted payload in bytes. Defaults to 16 MiB. In a session the server sets
    /// the limit.
    #[must_use]
    pub fn largest(mut self, bytes: u32) -> Self {
        self.largest = bytes;
        self
    }

    /// Sets the timeout for connecting, including the session handshake. Defaults to 5 s.
    #[must_use]
    pub fn connect_within(mut self, time: Duration) -> Self {
        self.settings.connect = time;
        self
    }

    /// Sets the answer timeout: the client reconnects if messages are unanswered and no answer
    /// arrives for one to two times this duration. Defaults to 30 s.
    #[must_use]
    pub fn answer_timeout(mut self, time: Duration) -> Self {
        self.settings.answer_timeout = time;
        self
    }

    /// Sets the give-up timeout: the client ends if connections have failed for this duration
    /// without an answer. Defaults to 60 s.
    #[must_use]
    pub fn give_up_after(mut self, time: Duration) -> Self {
        self.settings.give_up_after = time;
        self
    }

    /// Sets the delay between reconnection attempts.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// Sets the callback for refused messages. By default the client logs a warning.
    ///
    /// The connection task calls it and does nothing else until it returns.
    #[must_use]
    pub fn on_refused(mut self, callback: impl FnMut(Refused) + Send + 'static) -> Self {
        self.settings.on_refused = Box::new(callback);
        self
    }

    /// Makes one connection attempt and opens the session, if one was requested.
    ///
    /// Must be called inside a tokio runtime, which every purlin process has; it spawns the
    /// connection task there. Dropping the future closes the connection.
    ///
    /// # Errors
    /// Returns [`ConnectError`] if the connection or the session cannot be established.
    pub async fn connect(self) -> Result<Client, ConnectError> {
        let opening = self.opening().map_err(Lost::Io)?;
        let mut outbox = Outbox::new(self.window, self.batch);
        outbox.grant(u64::MAX, self.largest);
        outbox.start_at(self.resume.unwrap_or(0));
        let resumes = self.resume.is_some();
        let shared = Arc::new(Shared::new(outbox, resumes));
        let mut task = ConnectionTask {
            shared: Arc::clone(&shared),
            settings: self.settings,
            opening,
            resumes,
        };
        let first = task.connect().await?;
        tokio::spawn(task.run(first));
        Ok(Client { shared })
    }

    fn opening(&self) -> io::Result<Option<Opening>> {
        let Some(level) = self.level else { return Ok(None) };
        let client = match self.client {
            Some(client) => client,
            None => {
                let mut drawn = [0; 16];
                getrandom::fill(&mut drawn)?;
                drawn
            }
        };
        Ok(Some(Opening { client, epoch: self.epoch.unwrap_or_else(now), level }))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("address", &self.settings.address).finish_non_exhaustive()
    }
}
