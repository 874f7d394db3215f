//! Connection task of a client.
//!
//! Each client has one. It alone owns the socket.
//!
//! ```text
//!            ┌──────── lost ────────┐
//!            ▼                      │
//!   wait for unanswered        drive: one half writes batches,
//!   messages and for the       the other reads answers
//!   end of the backoff              ▲
//!            │                      │
//!            └─ connect, open ──────┘      ──► end: closed and all answered, session
//!                                              refused, or give-up timeout expired
//! ```
//!
//! Every wait is bounded: connecting, waiting for an answer to a sent message, and the time for
//! which connections may fail in a row without an answer. A client without unanswered messages does
//! not reconnect.
//!
//! INVARIANT: waiters are notified however the task ends: dropping the `ConnectionTask` ends the
//! client.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::error::{ConnectError, Ended, Lost, Refused};
use super::open_session::open;
use super::settings::{Settings, now};
use super::shared::{Shared, Work};
use crate::wire::session::Opening;
use crate::wire::verifier::AckVerifier;

/// Size of the buffer for answers, in bytes. One ack in it may cover thousands of messages.
const ANSWERS: usize = 4096;
/// Longest linger time: 30 years. WHY: a deadline must not exceed what the clock can represent.
const LONGEST_LINGER: Duration = Duration::from_secs(30 * 365 * 86_400);

/// Connection task of one client.
pub(super) struct ConnectionTask {
    pub(super) shared: Arc<Shared>,
    pub(super) settings: Settings,
    pub(super) opening: Option<Opening>,
    /// The client continues the numbering of an earlier one, so it must keep its epoch.
    pub(super) resumes: bool,
}

/// An established connection.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    verifier: AckVerifier,
}

/// A TCP or TLS connection.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Consecutive connections that were lost without an answer.
struct Failures {
    count: u32,
    since: Instant,
    /// Oldest unanswered message at the first of these failures.
    first: u64,
}

impl ConnectionTask {
    /// Makes a connection. If the server knows messages of this epoch that this client has not
    /// sent, another one uses its identity, or it has lost its numbering: it raises the epoch, and
    /// opens the session once more. Its unanswered messages are sent again in the new epoch. A
    /// client that resumes a numbering keeps its epoch, and the connection fails.
    pub(super) async fn connect(&mut self) -> Result<Connection, ConnectError> {
        let connected = self.attempt().await;
        if let (Err(ConnectError::Lost(Lost::NotSent(_))), Some(opening), false) =
            (&connected, &mut self.opening, self.resumes)
        {
            opening.epoch = now().max(opening.epoch.saturating_add(1));
            self.shared.begin_epoch();
            return self.attempt().await;
        }
        connected
    }

    async fn attempt(&mut self) -> Result<Connection, ConnectError> {
        let most = self.settings.connect;
        match timeout(most, self.establish()).await {
            Ok(established) => established,
            Err(_) => Err(Lost::Slow(most).into()),
        }
    }

    async fn establish(&mut self) -> Result<Connection, ConnectError> {
        let Settings { address, tls, .. } = &self.settings;
        let stream = TcpStream::connect(address).await.map_err(Lost::Io)?;
        // WHY: the outbox coalesces small messages, so Nagle's algorithm only adds delay.
        stream.set_nodelay(true).map_err(Lost::Io)?;
        let mut stream: Box<dyn Stream> = match tls {
            None => Box::new(stream),
            Some(tls) => Box::new(tls.secure(address, stream).await.map_err(Lost::Io)?),
        };
        let verifier = match &self.opening {
            None => {
                self.shared.begin();
                AckVerifier::acks_after(self.shared.newest())
            }
            Some(opening) => {
                let opened = open(&mut stream, opening).await?;
                let mut refused = Vec::new();
                let resumed = self.shared.resume(&opened, &mut refused);
                self.settings.report_refused(refused);
                resumed?;
                // WHY not the position of the server: the server may have forgotten it; the client
                // has not.
                AckVerifier::session(self.shared.newest())
            }
        };
        Ok(Connection { stream, verifier })
    }

    /// Maintains the connection until the client ends.
    pub(super) async fn run(mut self, first: Connection) {
        let why = self.hold(first).await;
        self.shared.end(why);
    }

    async fn hold(&mut self, first: Connection) -> Ended {
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
            if failures.since.elapsed() >= self.settings.give_up_after {
                return Ended::GaveUp(self.settings.give_up_after, Arc::new(lost));
            }
            sleep(self.settings.backoff.wait(failures.count - 1, fastrand::f64())).await;
            connected = self.connect().await;
        }
    }

    /// Writes and reads until the client is closed and all messages are answered, or the connection
    /// is lost.
    async fn drive(&mut self, connection: Connection) -> Result<(), Lost> {
        let Connection { stream, verifier } = connection;
        let answer_timeout = self.settings.answer_timeout;
        let (reader, writer) = split(stream);
        let mut writing = pin!(write(&self.shared, writer, Linger::new(self.settings.linger)));
        let mut reading = pin!(read(&self.shared, reader, verifier, &mut self.settings));
        tokio::select! {
            lost = &mut reading => Err(lost),
            written = &mut writing => match written {
                Ok(()) => Ok(()),
                // WHY a read timeout: answers that the server sent before it closed can still be
                // read.
                Err(error) => Err(timeout(answer_timeout, reading).await.unwrap_or(Lost::Io(error))),
            },
        }
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.shared.end(Ended::Closed);
    }
}

impl Failures {
    /// Counts a failure. The count and the time restart if an answer moved `first` since the last
    /// one.
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
                // WHY: TLS may have buffered the end of the encrypted bytes.
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

/// Reads answers until the connection is lost. Returns the reason.
async fn read(
    shared: &Shared,
    mut reader: impl AsyncRead + Unpin,
    mut verifier: AckVerifier,
    settings: &mut Settings,
) -> Lost {
    let mut buffer = vec![0; ANSWERS];
    let mut refused: Vec<Refused> = Vec::new();
    // Oldest unanswered message at the last read timeout.
    let mut awaited = None;
    loop {
        let count = match timeout(settings.answer_timeout, reader.read(&mut buffer)).await {
            Ok(Ok(0)) => return Lost::Ended,
            Ok(Ok(count)) => count,
            Ok(Err(error)) => return Lost::Io(error),
            Err(_) => {
                let now = shared.awaited();
                if now.is_some() && now == awaited {
                    return Lost::Silent(settings.answer_timeout);
                }
                awaited = now;
                continue;
            }
        };
        awaited = None;
        let applied = shared.answered(&mut verifier, &buffer[..count], &mut refused);
        settings.report_refused(refused.drain(..));
        if let Err(lost) = applied {
            return lost;
        }
    }
}

/// Linger time of a partly filled batch.
struct Linger {
    time: Duration,
    until: Option<Instant>,
}

impl Linger {
    fn new(time: Duration) -> Self {
        Self { time: time.min(LONGEST_LINGER), until: None }
    }

    /// Whether the batch may still wait.
    fn may(&self) -> bool {
        !self.time.is_zero() && self.until.is_none_or(|until| Instant::now() < until)
    }

    /// Returns the deadline. Starts the timer at the first call.
    fn until(&mut self) -> Instant {
        *self.until.get_or_insert_with(|| Instant::now() + self.time)
    }

    /// Resets the timer for the next batch.
    fn reset(&mut self) {
        self.until = None;
    }
}
