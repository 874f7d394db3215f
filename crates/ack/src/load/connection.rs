//! One connection of a load: writes as much as it may, and reads answers wherever they are cut.
//!
//! It is made on a runtime of tokio, and its rounds run on a thread of its own, with
//! calls that block. WHY: what a load does is a straight line, as the client of 2015
//! was: write, look, wait. On a runtime a client that waits for each answer would
//! pay for a look at all sockets and a turn of a scheduler in every round, and it
//! is the server's time that is to be seen.
//!
//! | there is | it |
//! |---|---|
//! | something to write, and room | writes; every `look` it reads what answers there are |
//! | something to write, and no room | waits for room, for one `look` at most, and reads what answers there are |
//! | nothing to write: the window is full, or all is written | waits for answers |
//!
//! WHY it does not wait for answers while there is no room: a server that answers
//! each read would wake it for each, only to find that there is still no room, and
//! it is the server that would pay for that.
//!
//! No wait is longer than its patience. Whoever shuts the socket down ends them all.
//!
//! COST: of a message the eight bytes of its id; of a write one call of the system
//! and one look at the clock; of a round of a client in lock-step two calls.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::account::Account;
use super::block::Block;
use super::plan::Plan;
use super::socket::{Came, Socket};
use super::tally::Tally;
use crate::checked::Checked;
use crate::client::open::open;
use crate::client::{ConnectError, Lost};
use crate::session::{Level, Opened, Opening};
use crate::strategy::Strategy;

/// Bytes of answers that are read at a time.
const ANSWERS: usize = 4096;
/// How long to wait for the server to close, when all is answered.
const FAREWELL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Connection {
    /// Which it is, from 1.
    number: u32,
    socket: Socket,
    account: Account,
    block: Block,
    answers: Vec<u8>,
    window: u64,
    look: Duration,
    patience: Duration,
    /// When it last looked at the clock.
    now: Instant,
    /// When it last wrote something or was answered.
    moved: Instant,
}

/// What has become of an attempt to write.
enum Wrote {
    Something,
    /// There is no room.
    Full,
    /// There is nothing that may be written.
    Nothing,
}

/// When a connection began with a round, and when it was done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lap {
    pub(super) began: Instant,
    pub(super) ended: Instant,
}

/// A connection that could not go on.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) number: u32,
    pub(super) answered: u64,
    pub(super) begun: u64,
    pub(super) why: ConnectError,
}

impl Connection {
    pub(super) async fn open(plan: &Plan, number: u32, tally: Arc<Tally>) -> Result<Self, Broken> {
        let opened = timeout(plan.patience, Self::establish(plan, number, tally)).await;
        let opened = opened.unwrap_or_else(|_| Err(Lost::Slow(plan.patience).into()));
        opened.map_err(|why| Broken { number, answered: 0, begun: 0, why })
    }

    async fn establish(plan: &Plan, number: u32, tally: Arc<Tally>) -> Result<Self, ConnectError> {
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
        socket.set_patience(plan.patience).map_err(Lost::Io)?;
        let window = plan.window.unwrap_or(u64::MAX);
        let (checked, window) = match opened {
            Some(opened) => (Checked::session(opened.newest), window.min(opened.window.into())),
            None if plan.strategy == Strategy::RequestReply => (Checked::replies(), window),
            None => (Checked::acks(), window),
        };
        let in_a_write = u64::from(plan.batch).min(plan.messages).min(window) as usize;
        let now = Instant::now();
        Ok(Self {
            number,
            socket,
            account: Account::new(checked, tally),
            block: Block::new(in_a_write, plan.size, plan.strategy.order()),
            answers: vec![0; ANSWERS],
            window,
            look: plan.look,
            patience: plan.patience,
            now,
            moved: now,
        })
    }

    /// Its socket, to shut it down from elsewhere.
    pub(super) fn stream(&self) -> Arc<TcpStream> {
        self.socket.stream()
    }

    /// Sends so many messages and waits until all of them are answered. Blocks.
    pub(super) fn round(mut self, messages: u64) -> Result<(Self, Lap), Broken> {
        match self.send_all(self.account.next() + messages) {
            Ok(lap) => Ok((self, lap)),
            Err(lost) => Err(self.broken(lost)),
        }
    }

    fn send_all(&mut self, end: u64) -> Result<Lap, Lost> {
        let began = Instant::now();
        (self.now, self.moved) = (began, began);
        let mut looked = began;
        while self.account.first() < end {
            match self.write(end)? {
                Wrote::Something => {
                    self.now = Instant::now();
                    self.moved = self.now;
                    if self.now - looked < self.look {
                        continue;
                    }
                    self.read(false)?;
                }
                Wrote::Full => {
                    self.socket.wait_for_room(self.look.min(self.patience))?;
                    self.read(false)?;
                }
                Wrote::Nothing => self.read(true)?,
            }
            looked = self.now;
            if self.now - self.moved >= self.patience {
                return Err(Lost::Silent(self.patience));
            }
        }
        Ok(Lap { began, ended: self.now })
    }

    /// Writes once, if there is something that may be written.
    fn write(&mut self, end: u64) -> Result<Wrote, Lost> {
        if self.block.left().is_empty() {
            match self.socket.flush() {
                Ok(true) => {}
                Ok(false) => return Ok(Wrote::Full),
                Err(error) => return Err(self.parted(error)),
            }
            let (first, next) = (self.account.first(), self.account.next());
            let count = self.block.messages().min(end - next);
            // WHY whole blocks only: what a write costs is what is to be seen.
            if count == 0 || next - first > self.window - count {
                return Ok(Wrote::Nothing);
            }
            self.block.fill(next, count);
            self.account.begin(count, self.now);
        }
        match self.socket.write(self.block.left()) {
            Ok(Some(count)) => {
                self.block.wrote(count);
                Ok(Wrote::Something)
            }
            Ok(None) => Ok(Wrote::Full),
            Err(error) => Err(self.parted(error)),
        }
    }

    /// Why a connection that cannot be written to is lost. What the server answered before it went can
    /// still be read.
    fn parted(&mut self, error: io::Error) -> Lost {
        loop {
            let before = self.account.first();
            match self.read(false) {
                Err(lost) => return lost,
                Ok(()) if self.account.first() == before => return Lost::Io(error),
                Ok(()) => {}
            }
        }
    }

    /// Reads what there is, or waits until something comes.
    fn read(&mut self, mut waits: bool) -> Result<(), Lost> {
        loop {
            let read = self.socket.read(&mut self.answers, waits);
            self.now = Instant::now();
            match read? {
                Came::Bytes(0) => return Err(Lost::Ended),
                Came::Bytes(count) => {
                    if self.account.answered(&self.answers[..count], self.now)? {
                        self.moved = self.now;
                    }
                    if count < self.answers.len() {
                        return Ok(());
                    }
                    waits = false;
                }
                Came::Nothing => return Ok(()),
                Came::Late => return Err(Lost::Silent(self.patience)),
            }
        }
    }

    /// Closes, and makes sure that no answers come to what was not sent. Blocks, for a second at most.
    pub(super) fn finish(mut self) -> Result<(), Broken> {
        match self.part() {
            Ok(()) => Ok(()),
            Err(lost) => Err(self.broken(lost)),
        }
    }

    fn part(&mut self) -> Result<(), Lost> {
        let until = Instant::now() + FAREWELL;
        // WHY nothing but answers counts from here: all that was to be done is done.
        let _ = self.socket.finish();
        loop {
            let now = Instant::now();
            let left = until.saturating_duration_since(now);
            if left.is_zero() || self.socket.set_patience(left).is_err() {
                return Ok(());
            }
            match self.socket.read(&mut self.answers, true) {
                Ok(Came::Bytes(count @ 1..)) => {
                    self.account.answered(&self.answers[..count], now)?;
                }
                Ok(Came::Nothing) => {}
                Ok(Came::Bytes(0) | Came::Late) | Err(_) => return Ok(()),
            }
        }
    }

    fn broken(self, lost: Lost) -> Broken {
        let Self { number, account, .. } = self;
        Broken { number, answered: account.first(), begun: account.next(), why: lost.into() }
    }
}

/// Opens a session, if acks are to mean something of their own.
async fn session<S>(stream: &mut S, level: Option<Level>) -> Result<Option<Opened>, ConnectError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(level) = level else { return Ok(None) };
    let mut client = [0; 16];
    getrandom::fill(&mut client).map_err(|error| Lost::Io(error.into()))?;
    open(stream, &Opening { client, epoch: 0, level }).await.map(Some)
}
