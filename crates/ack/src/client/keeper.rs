//! The task that keeps a client's connection.
//!
//! One for each client; it alone owns the socket.
//!
//! ```text
//!            ┌──────── lost ────────┐
//!            ▼                      │
//!   rest until there is        drive: one half writes batches,
//!   something unanswered       the other reads answers
//!   and the backoff is over         ▲
//!            │                      │
//!            └─ connect, open ──────┘      ──► end: closed and all answered, no
//!                                              session to be had, or out of patience
//! ```
//!
//! Every wait has a bound: making a connection, an answer to what was sent, and
//! how long connections may fail in a row without an answer. A client that has
//! nothing unanswered makes no connection.
//!
//! INVARIANT: however the task goes, those who wait for it are told: dropping
//! the keeper ends the client.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::error::{ConnectError, Ended, Lost, Refused};
use super::open::open;
use super::settings::{Settings, now};
use super::shared::{Shared, Work};
use crate::checked::Checked;
use crate::session::Opening;

/// Bytes of answers that are read at a time: a thousand messages and more for each ack among them.
const ANSWERS: usize = 4096;

pub(super) struct Keeper {
    shared: Arc<Shared>,
    settings: Settings,
    opening: Option<Opening>,
}

/// What is connected.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    checked: Checked,
}

/// A connection over TCP, or over TLS.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Connections that failed one after the other without an answer.
struct Failures {
    count: u32,
    since: Instant,
    /// The first message that was not answered then.
    first: u64,
}

impl Keeper {
    pub(super) fn new(shared: Arc<Shared>, settings: Settings, opening: Option<Opening>) -> Self {
        Self { shared, settings, opening }
    }

    /// The first connection, of a client that has sent nothing yet.
    pub(super) async fn first(&mut self) -> Result<Connection, ConnectError> {
        match self.connect().await {
            // The server knows messages of this epoch: it is of a client that lost its numbers.
            Err(ConnectError::Lost(Lost::NotSent(_))) => {
                if let Some(opening) = &mut self.opening {
                    opening.epoch = now().max(opening.epoch.saturating_add(1));
                }
                self.connect().await
            }
            first => first,
        }
    }

    async fn connect(&mut self) -> Result<Connection, ConnectError> {
        let most = self.settings.connect;
        match timeout(most, self.establish()).await {
            Ok(established) => established,
            Err(_) => Err(Lost::Slow(most).into()),
        }
    }

    async fn establish(&mut self) -> Result<Connection, ConnectError> {
        let Settings { address, tls, .. } = &self.settings;
        let stream = TcpStream::connect(address).await.map_err(Lost::Io)?;
        // WHY: what is small is put together here, and nowhere else.
        stream.set_nodelay(true).map_err(Lost::Io)?;
        let mut stream: Box<dyn Stream> = match tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.secure(address, stream).await.map_err(Lost::Io)?),
        };
        let checked = match &self.opening {
            None => {
                self.shared.begin();
                Checked::acks_after(self.shared.newest())
            }
            Some(opening) => {
                let opened = open(&mut stream, opening).await?;
                let mut refused = Vec::new();
                let resumed = self.shared.resume(&opened, &mut refused);
                self.settings.tell(refused);
                resumed?;
                // WHY not what the server said: it may have forgotten, and the client has not.
                Checked::session(self.shared.newest())
            }
        };
        Ok(Connection { stream, checked })
    }

    /// Keeps connections until the end.
    pub(super) async fn run(mut self, first: Connection) {
        let why = self.keep(first).await;
        self.shared.end(why);
    }

    async fn keep(&mut self, first: Connection) -> Ended {
        let mut failures = Failures { count: 0, since: Instant::now(), first: 0 };
        let mut connected = Ok(first);
        loop {
            let lost = match connected {
                Ok(connection) => match self.drive(connection).await {
                    Ok(()) => return Ended::Closed,
                    Err(lost) => lost,
                },
                Err(ConnectError::Refused(status)) => return Ended::Refused(status),
                Err(ConnectError::Lost(lost)) => lost,
            };
            tracing::debug!(address = self.settings.address, %lost, "no connection");
            if !self.shared.has_something().await {
                return Ended::Closed;
            }
            failures.add(self.shared.first());
            if failures.since.elapsed() >= self.settings.patience {
                return Ended::GaveUp(self.settings.patience, Arc::new(lost));
            }
            sleep(self.settings.backoff.wait(failures.count - 1, fastrand::f64())).await;
            connected = self.connect().await;
        }
    }

    /// Writes and reads until all is answered and nothing more will come, or the connection is lost.
    async fn drive(&mut self, connection: Connection) -> Result<(), Lost> {
        let Connection { stream, checked } = connection;
        let silence = self.settings.silence;
        let (reader, writer) = split(stream);
        let mut writing = pin!(write(&self.shared, writer, Linger::new(self.settings.linger)));
        let mut reading = pin!(read(&self.shared, reader, checked, &mut self.settings));
        tokio::select! {
            lost = &mut reading => Err(lost),
            written = &mut writing => match written {
                Ok(()) => Ok(()),
                // WHY not at once: what the server answered before it went can still be read.
                Err(error) => Err(timeout(silence, reading).await.unwrap_or(Lost::Io(error))),
            },
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.shared.end(Ended::Closed);
    }
}

impl Failures {
    /// One more, with this as the first message that is not answered.
    fn add(&mut self, first: u64) {
        if self.count == 0 || first > self.first {
            *self = Self { count: 0, since: Instant::now(), first };
        }
        self.count = self.count.saturating_add(1);
    }
}

async fn write(
    shared: &Shared,
    mut writer: impl AsyncWrite + Unpin,
    mut linger: Linger,
) -> std::io::Result<()> {
    loop {
        match shared.work(linger.may()) {
            Work::Write(piece) => {
                linger.reset();
                writer.write_all(&piece).await?;
                // WHY: of what is encrypted the end may have stayed behind.
                writer.flush().await?;
            }
            Work::Linger => tokio::select! {
                () = sleep_until(linger.until()) => {}
                () = shared.more_work() => {}
            },
            Work::Wait => shared.more_work().await,
            Work::End => return writer.shutdown().await,
        }
    }
}

/// Reads answers until there will be none, and tells why.
async fn read(
    shared: &Shared,
    mut reader: impl AsyncRead + Unpin,
    mut checked: Checked,
    settings: &mut Settings,
) -> Lost {
    let mut buffer = vec![0; ANSWERS];
    let mut refused: Vec<Refused> = Vec::new();
    // What has been waited for, if for the whole of a silence.
    let mut awaited = None;
    loop {
        let count = match timeout(settings.silence, reader.read(&mut buffer)).await {
            Ok(Ok(0)) => return Lost::Ended,
            Ok(Ok(count)) => count,
            Ok(Err(error)) => return Lost::Io(error),
            Err(_) => {
                let now = shared.awaited();
                if now.is_some() && now == awaited {
                    return Lost::Silent(settings.silence);
                }
                awaited = now;
                continue;
            }
        };
        awaited = None;
        let applied = shared.answered(&mut checked, &buffer[..count], &mut refused);
        settings.tell(refused.drain(..));
        if let Err(lost) = applied {
            return lost;
        }
    }
}

/// How long a batch that is not full waits for more.
struct Linger {
    time: Duration,
    until: Option<Instant>,
}

impl Linger {
    fn new(time: Duration) -> Self {
        Self { time, until: None }
    }

    /// Whether it may wait.
    fn may(&self) -> bool {
        !self.time.is_zero() && self.until.is_none_or(|until| Instant::now() < until)
    }

    /// Until when it waits.
    fn until(&mut self) -> Instant {
        *self.until.get_or_insert_with(|| Instant::now() + self.time)
    }

    /// The next one waits for as long again.
    fn reset(&mut self) {
        self.until = None;
    }
}
