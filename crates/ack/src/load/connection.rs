//! Load connection: writes as fast as it may and reads answers split at any point.
//!
//! The connection is made on a tokio runtime; its rounds run on a dedicated thread with blocking
//! calls. WHY: the load is a straight line of write, read and wait, as in the client of 2015. On an
//! async runtime, a client that waits for each answer would pay for polling all sockets and for a
//! scheduler turn in every round, and the measurement is of the server's time.
//!
//! | state | action |
//! |---|---|
//! | data to write, room in the socket | writes; reads the available answers every `poll_interval` |
//! | data to write, no room in the socket | waits for room, at most one `poll_interval`; reads available answers |
//! | nothing to write: the window is full, or all is written | waits for answers |
//!
//! WHY it does not wait for answers while the socket is full: a server that answers each read would
//! wake the client for each answer, only for it to find the socket still full. The server would pay
//! for these wakeups.
//!
//! Every wait is bounded by `timeout`. Shutting the socket down ends all waits.
//!
//! COST: eight bytes per message for its id; one system call and one clock read per write; two
//! system calls per round of a client in lock-step.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::block::Block;
use super::counters::Counters;
use super::in_flight::InFlight;
use super::plan::Plan;
use super::socket::{ReadOutcome, Socket};
use crate::client::open_session::open;
use crate::client::{ConnectError, Lost};
use crate::strategy::Strategy;
use crate::wire::session::{Level, Opened, Opening};
use crate::wire::verifier::AckVerifier;

/// Size of the buffer for answers, in bytes.
const ANSWERS: usize = 4096;
/// How long to wait for the server to close once all messages are answered.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection of a load, which writes messages and verifies the answers.
#[derive(Debug)]
pub(super) struct Connection {
    /// Number of the connection, from 1.
    number: u32,
    socket: Socket,
    in_flight: InFlight,
    block: Block,
    answers: Vec<u8>,
    window: u64,
    poll_interval: Duration,
    timeout: Duration,
    /// Last clock reading.
    now: Instant,
    /// Time of the last write or answer.
    last_progress: Instant,
}

/// Result of an attempt to write.
enum WriteOutcome {
    Something,
    /// The socket is full.
    Full,
    /// Nothing may be written.
    Nothing,
}

/// Start and end of a round on one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTimes {
    pub(super) began: Instant,
    pub(super) ended: Instant,
}

/// A failed connection.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) number: u32,
    pub(super) answered: u64,
    pub(super) sent: u64,
    pub(super) why: ConnectError,
}

impl Connection {
    pub(super) async fn open(
        plan: &Plan,
        number: u32,
        counters: Arc<Counters>,
    ) -> Result<Self, Broken> {
        let opened = timeout(plan.timeout, Self::establish(plan, number, counters)).await;
        let opened = opened.unwrap_or_else(|_| Err(Lost::Slow(plan.timeout).into()));
        opened.map_err(|why| Broken { number, answered: 0, sent: 0, why })
    }

    async fn establish(
        plan: &Plan,
        number: u32,
        counters: Arc<Counters>,
    ) -> Result<Self, ConnectError> {
        let stream = tokio::net::TcpStream::connect(&plan.address).await;
        let stream = stream.map_err(Lost::Io)?;
        stream.set_nodelay(plan.nodelay).map_err(Lost::Io)?;
        let (opened, socket) = match &plan.tls {
            None => {
                let mut stream = stream;
                (session(&mut stream, plan.level).await?, Socket::new(stream))
            }
            Some(tls) => {
                let mut secured = tls.secure(&plan.address, stream).await.map_err(Lost::Io)?;
                (session(&mut secured, plan.level).await?, Socket::secured(tls.apart(secured)))
            }
        };
        let socket = socket.map_err(Lost::Io)?;
        socket.set_read_timeout(plan.timeout).map_err(Lost::Io)?;
        let window = plan.window.unwrap_or(u64::MAX);
        let (verifier, window) = match opened {
            Some(opened) => (AckVerifier::session(opened.newest), window.min(opened.window.into())),
            None if plan.strategy == Strategy::RequestReply => (AckVerifier::replies(), window),
            None => (AckVerifier::acks(), window),
        };
        let in_a_write = u64::from(plan.batch).min(plan.messages).min(window) as usize;
        let now = Instant::now();
        Ok(Self {
            number,
            socket,
            in_flight: InFlight::new(verifier, counters),
            block: Block::new(in_a_write, plan.size, plan.strategy.order()),
            answers: vec![0; ANSWERS],
            window,
            poll_interval: plan.poll_interval,
            timeout: plan.timeout,
            now,
            last_progress: now,
        })
    }

    /// Returns the socket, so that another thread can shut it down.
    pub(super) fn stream(&self) -> Arc<TcpStream> {
        self.socket.stream()
    }

    /// Sends `messages` messages and waits until all of them are answered. Blocks.
    pub(super) fn round(mut self, messages: u64) -> Result<(Self, RoundTimes), Broken> {
        match self.send_all(self.in_flight.next() + messages) {
            Ok(lap) => Ok((self, lap)),
            Err(lost) => Err(self.broken(lost)),
        }
    }

    fn send_all(&mut self, end: u64) -> Result<RoundTimes, Lost> {
        let began = Instant::now();
        (self.now, self.last_progress) = (began, began);
        let mut read_at = began;
        while self.in_flight.first() < end {
            match self.write(end)? {
                WriteOutcome::Something => {
                    self.now = Instant::now();
                    self.last_progress = self.now;
                    if self.now - read_at < self.poll_interval {
                        continue;
                    }
                    self.read(false)?;
                }
                WriteOutcome::Full => {
                    self.socket.wait_writable(self.poll_interval.min(self.timeout))?;
                    self.read(false)?;
                }
                WriteOutcome::Nothing => self.read(true)?,
            }
            read_at = self.now;
            if self.now - self.last_progress >= self.timeout {
                return Err(Lost::Silent(self.timeout));
            }
        }
        Ok(RoundTimes { began, ended: self.now })
    }

    /// Makes one write, if something may be written.
    fn write(&mut self, end: u64) -> Result<WriteOutcome, Lost> {
        if self.block.left().is_empty() {
            match self.socket.flush() {
                Ok(true) => {}
                Ok(false) => return Ok(WriteOutcome::Full),
                Err(error) => return Err(self.loss_after_write_error(error)),
            }
            let (first, next) = (self.in_flight.first(), self.in_flight.next());
            let count = self.block.messages().min(end - next);
            // WHY whole blocks only: the load measures the cost of a write of that size.
            if count == 0 || next - first > self.window - count {
                return Ok(WriteOutcome::Nothing);
            }
            self.block.fill(next, count);
            self.in_flight.begin(count, self.now);
        }
        match self.socket.write(self.block.left()) {
            Ok(Some(count)) => {
                self.block.wrote(count);
                Ok(WriteOutcome::Something)
            }
            Ok(None) => Ok(WriteOutcome::Full),
            Err(error) => Err(self.loss_after_write_error(error)),
        }
    }

    /// Returns why a connection with a failed write is lost. First applies the answers that the
    /// server sent before it closed.
    fn loss_after_write_error(&mut self, error: io::Error) -> Lost {
        loop {
            let before = self.in_flight.first();
            match self.read(false) {
                Err(lost) => return lost,
                Ok(()) if self.in_flight.first() == before => return Lost::Io(error),
                Ok(()) => {}
            }
        }
    }

    /// Reads the available answers, or waits until some arrive.
    fn read(&mut self, mut waits: bool) -> Result<(), Lost> {
        loop {
            let read = self.socket.read(&mut self.answers, waits);
            self.now = Instant::now();
            match read? {
                ReadOutcome::Bytes(0) => return Err(Lost::Ended),
                ReadOutcome::Bytes(count) => {
                    if self.in_flight.answered(&self.answers[..count], self.now)? {
                        self.last_progress = self.now;
                    }
                    if count < self.answers.len() {
                        return Ok(());
                    }
                    waits = false;
                }
                ReadOutcome::Nothing => return Ok(()),
                ReadOutcome::Late => return Err(Lost::Silent(self.timeout)),
            }
        }
    }

    /// Closes the connection and checks that no answer arrives for a message that was not sent.
    /// Blocks for at most 1 s.
    pub(super) fn finish(mut self) -> Result<(), Broken> {
        match self.part() {
            Ok(()) => Ok(()),
            Err(lost) => Err(self.broken(lost)),
        }
    }

    fn part(&mut self) -> Result<(), Lost> {
        let until = Instant::now() + CLOSE_TIMEOUT;
        // WHY only answers count from here: all messages are answered, so other errors are
        // harmless.
        let _ = self.socket.finish();
        loop {
            let now = Instant::now();
            let left = until.saturating_duration_since(now);
            if left.is_zero() || self.socket.set_read_timeout(left).is_err() {
                return Ok(());
            }
            match self.socket.read(&mut self.answers, true) {
                Ok(ReadOutcome::Bytes(count @ 1..)) => {
                    self.in_flight.answered(&self.answers[..count], now)?;
                }
                Ok(ReadOutcome::Nothing) => {}
                Ok(ReadOutcome::Bytes(0) | ReadOutcome::Late) | Err(_) => return Ok(()),
            }
        }
    }

    fn broken(self, lost: Lost) -> Broken {
        let Self { number, in_flight, .. } = self;
        Broken { number, answered: in_flight.first(), sent: in_flight.next(), why: lost.into() }
    }
}

/// Opens a session if `level` is set.
async fn session<S>(stream: &mut S, level: Option<Level>) -> Result<Option<Opened>, ConnectError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(level) = level else { return Ok(None) };
    let mut client = [0; 16];
    getrandom::fill(&mut client).map_err(|error| Lost::Io(error.into()))?;
    open(stream, &Opening { client, epoch: 0, level }).await.map(Some)
}
