//! How a client is set.
//!
//! Belongs to whoever makes a client, then to its keeper.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Client;
use super::backoff::Backoff;
use super::error::{ConnectError, Lost, Refused};
use super::keeper::Keeper;
use super::outbox::{Outbox, Window};
use super::shared::Shared;
use crate::session::{Level, Opening};
use crate::tls::client::Tls;
use crate::wire::LARGEST;

/// Makes a [`Client`].
pub struct Builder {
    settings: Settings,
    window: Window,
    batch: usize,
    largest: u32,
    level: Option<Level>,
    client: Option<[u8; 16]>,
    epoch: Option<u64>,
}

/// What the keeper has to know.
pub(super) struct Settings {
    pub(super) address: String,
    pub(super) tls: Option<Tls>,
    pub(super) linger: Duration,
    pub(super) connect: Duration,
    pub(super) silence: Duration,
    pub(super) patience: Duration,
    pub(super) backoff: Backoff,
    on_refused: Box<dyn FnMut(Refused) + Send>,
}

impl Builder {
    pub(super) fn new(address: String) -> Self {
        let settings = Settings {
            address,
            tls: None,
            linger: Duration::ZERO,
            connect: Duration::from_secs(5),
            silence: Duration::from_secs(30),
            patience: Duration::from_secs(60),
            backoff: Backoff::default(),
            on_refused: Box::new(|refused| {
                tracing::warn!(id = refused.id, reason = %refused.reason, "a message was refused");
            }),
        };
        Self {
            settings,
            window: Window::default(),
            batch: 64 << 10,
            largest: LARGEST,
            level: None,
            client: None,
            epoch: None,
        }
    }

    /// Asks for a session in which an ack means this, so that each message is handled once.
    ///
    /// Only a server of the strategy `best` grants one. Without, a message is handled once or more.
    #[must_use]
    pub fn session(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Speaks TLS. The server has to prove that it is who its address says, before anything is sent.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.settings.tls = Some(tls);
        self
    }

    /// Who the client is in its sessions: 16 bytes that no other client has. Drawn by chance
    /// unless it is set.
    #[must_use]
    pub fn identity(mut self, client: [u8; 16]) -> Self {
        self.client = Some(client);
        self
    }

    /// Which of the times it was started. Must be higher than the last; the time of day in
    /// nanoseconds unless it is set.
    #[must_use]
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.epoch = Some(epoch);
        self
    }

    /// How much may be unanswered before [`Client::send`] waits. A quarter of a million messages
    /// and 16 MiB unless it is set.
    #[must_use]
    pub fn window(mut self, window: Window) -> Self {
        self.window = Window { messages: window.messages.max(1), ..window };
        self
    }

    /// How many bytes are written at a time: 64 KiB unless it is set.
    #[must_use]
    pub fn batch(mut self, bytes: usize) -> Self {
        self.batch = bytes;
        self
    }

    /// How long a batch that is not full waits for more messages: not at all unless it is set.
    ///
    /// Without, a message goes out as soon as those before it have been written, and what comes
    /// meanwhile goes out together. With it, nothing lingers either when the window is full, or
    /// somebody [flushes](Client::flush) or [closes](Client::close).
    #[must_use]
    pub fn linger(mut self, time: Duration) -> Self {
        self.settings.linger = time;
        self
    }

    /// The largest payload that is taken, in bytes: 16 MiB unless it is set. In a session the
    /// server says it.
    #[must_use]
    pub fn largest(mut self, bytes: u32) -> Self {
        self.largest = bytes;
        self
    }

    /// How long making a connection and opening a session may take: 5 s unless it is set.
    #[must_use]
    pub fn connect_within(mut self, time: Duration) -> Self {
        self.settings.connect = time;
        self
    }

    /// A connection is given up when messages are unanswered and no answer comes for this time, or
    /// up to twice as long: 30 s unless it is set.
    #[must_use]
    pub fn silence(mut self, time: Duration) -> Self {
        self.settings.silence = time;
        self
    }

    /// The client ends when connections have failed for this time and none has brought an answer:
    /// 60 s unless it is set.
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Self {
        self.settings.patience = time;
        self
    }

    /// How long it waits between attempts to connect.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// What becomes of a message that the server will not take; unless it is set a line is logged.
    ///
    /// Called by the client's own task, which does nothing else meanwhile.
    #[must_use]
    pub fn on_refused(mut self, tell: impl FnMut(Refused) + Send + 'static) -> Self {
        self.settings.on_refused = Box::new(tell);
        self
    }

    /// Connects, once, and opens the session if there is to be one.
    ///
    /// Has to be called in a runtime of tokio, as every process of purlin's is; there the client's
    /// task goes on. If it is not awaited to the end there is no client and no connection.
    ///
    /// # Errors
    /// There is no connection, or no session to be had.
    pub async fn connect(self) -> Result<Client, ConnectError> {
        let opening = self.opening().map_err(Lost::Io)?;
        let mut outbox = Outbox::new(self.window, self.batch);
        outbox.grant(u64::MAX, self.largest);
        let shared = Arc::new(Shared::new(outbox));
        let mut keeper = Keeper::new(Arc::clone(&shared), self.settings, opening);
        let first = keeper.first().await?;
        tokio::spawn(keeper.run(first));
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

impl Settings {
    /// Tells of messages that were refused.
    pub(super) fn tell(&mut self, refused: impl IntoIterator<Item = Refused>) {
        refused.into_iter().for_each(&mut self.on_refused);
    }
}

/// The time of day in nanoseconds, as an epoch.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
