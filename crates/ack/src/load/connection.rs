//! One connection of a load: writes as much as it may, reads answers wherever they are cut, and
//! believes none of them.
//!
//! Belongs to the task that runs a round on it. It waits only when nothing can be
//! written and nothing can be read, and then no longer than its patience.
//!
//! INVARIANT: each answered message is in the histogram once, with the time from
//! when its write was begun to when the answer was read.
//!
//! COST: of a message the eight bytes of its id; of a write a look at the clock.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::block::Block;
use super::plan::Plan;
use super::tally::{Answered, Tally};
use crate::checked::{Answer, Checked};
use crate::client::open::open;
use crate::client::outbox::NotSent;
use crate::client::{ConnectError, Lost};
use crate::session::Opening;
use crate::strategy::Strategy;

/// Bytes of answers that are read at a time.
const ANSWERS: usize = 4096;
/// How long to wait for the server to close, when all is answered.
const FAREWELL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Connection {
    /// Which it is, from 1.
    number: u32,
    stream: TcpStream,
    checked: Checked,
    block: Block,
    /// The first message that has not been put into the block.
    next: u64,
    /// The first that is not answered.
    first: u64,
    /// What is being written and what is written, as far as it is not answered.
    begun: VecDeque<Begun>,
    window: u64,
    look: Duration,
    patience: Duration,
    tally: Arc<Tally>,
}

/// A write, up to this message.
#[derive(Clone, Copy, Debug)]
struct Begun {
    end: u64,
    at: Instant,
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
        let mut stream = TcpStream::connect(&plan.address).await.map_err(Lost::Io)?;
        stream.set_nodelay(plan.nodelay).map_err(Lost::Io)?;
        let mut window = plan.window.unwrap_or(u64::MAX);
        let mut checked = match plan.strategy {
            Strategy::RequestReply => Checked::replies(),
            _ => Checked::acks(),
        };
        if let Some(level) = plan.level {
            let mut client = [0; 16];
            getrandom::fill(&mut client).map_err(|error| Lost::Io(error.into()))?;
            let opened = open(&mut stream, &Opening { client, epoch: 0, level }).await?;
            window = window.min(opened.window.into());
            checked = Checked::session(opened.newest);
        }
        let in_a_write = u64::from(plan.batch).min(plan.messages).min(window) as usize;
        Ok(Self {
            number,
            stream,
            next: checked.newest().map_or(0, |newest| newest + 1),
            first: checked.newest().map_or(0, |newest| newest + 1),
            checked,
            block: Block::new(in_a_write, plan.size, plan.strategy.order()),
            begun: VecDeque::new(),
            window,
            look: plan.look,
            patience: plan.patience,
            tally,
        })
    }

    /// Sends so many messages and waits until all of them are answered.
    pub(super) async fn round(mut self, messages: u64) -> Result<(Self, Lap), Broken> {
        match self.send_all(self.next + messages).await {
            Ok(lap) => Ok((self, lap)),
            Err(lost) => Err(self.broken(lost)),
        }
    }

    async fn send_all(&mut self, end: u64) -> Result<Lap, Lost> {
        let began = Instant::now();
        let mut looked = began;
        while self.first < end {
            let wrote = self.write(end)?;
            if wrote && looked.elapsed() < self.look {
                continue;
            }
            if wrote {
                // WHY: it is in between that the runtime learns what can be read, and others get to run.
                yield_now().await;
            }
            looked = Instant::now();
            let read = self.read()?;
            if !wrote && !read {
                self.wait().await?;
            }
        }
        Ok(Lap { began, ended: Instant::now() })
    }

    /// Writes once, if there is something that may be written; whether any of it went.
    fn write(&mut self, end: u64) -> Result<bool, Lost> {
        if self.block.left().is_empty() {
            let count = self.block.messages().min(end - self.next);
            // WHY whole blocks only: what a write costs is what is to be seen.
            if count == 0 || self.next - self.first > self.window - count {
                return Ok(false);
            }
            self.block.fill(self.next, count);
            self.next += count;
            self.begun.push_back(Begun { end: self.next, at: Instant::now() });
        }
        match self.stream.try_write(self.block.left()) {
            Ok(count) => {
                self.block.wrote(count);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(Lost::Io(error)),
        }
    }

    /// Reads what there is; whether there was anything.
    fn read(&mut self) -> Result<bool, Lost> {
        let mut buffer = [0; ANSWERS];
        let mut any = false;
        loop {
            match self.stream.try_read(&mut buffer) {
                Ok(0) => return Err(Lost::Ended),
                Ok(count) => {
                    self.answered(&buffer[..count])?;
                    any = true;
                    if count < buffer.len() {
                        return Ok(true);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(any),
                Err(error) => return Err(Lost::Io(error)),
            }
        }
    }

    /// Verifies answers, and counts them.
    fn answered(&mut self, mut bytes: &[u8]) -> Result<(), Lost> {
        let (now, before) = (Instant::now(), self.first);
        let mut answered = Answered::default();
        while let Some(answer) = self.checked.take(&mut bytes)? {
            let id = match answer {
                Answer::Acked { id, .. } => id,
                Answer::Refused(refusal) => {
                    answered.refused += 1;
                    refusal.id
                }
            };
            if id >= self.next {
                return Err(NotSent { id }.into());
            }
            answered.answers += 1;
            self.first = id + 1;
        }
        answered.messages = self.first - before;
        self.tally.add(answered, waits(&mut self.begun, before..self.first, now));
        Ok(())
    }

    /// Waits until something can be read, or written where something is to be.
    async fn wait(&self) -> Result<(), Lost> {
        let mut interest = Interest::READABLE;
        if !self.block.left().is_empty() {
            interest |= Interest::WRITABLE;
        }
        match timeout(self.patience, self.stream.ready(interest)).await {
            Ok(ready) => ready.map(|_| ()).map_err(Lost::Io),
            Err(_) => Err(Lost::Silent(self.patience)),
        }
    }

    /// Closes, and makes sure that no answers come to what was not sent.
    pub(super) async fn finish(mut self) -> Result<(), Broken> {
        match self.part().await {
            Ok(()) => Ok(()),
            Err(lost) => Err(self.broken(lost)),
        }
    }

    async fn part(&mut self) -> Result<(), Lost> {
        self.stream.shutdown().await.map_err(Lost::Io)?;
        let mut buffer = vec![0; ANSWERS];
        // WHY nothing but answers counts: all that was to be done is done.
        while let Ok(Ok(count @ 1..)) = timeout(FAREWELL, self.stream.read(&mut buffer)).await {
            self.answered(&buffer[..count])?;
        }
        Ok(())
    }

    fn broken(self, lost: Lost) -> Broken {
        let Self { number, first, next, .. } = self;
        Broken { number, answered: first, begun: next, why: lost.into() }
    }
}

/// How many of these messages have waited, and for how long. Takes away what is answered.
fn waits(
    begun: &mut VecDeque<Begun>,
    mut answered: Range<u64>,
    now: Instant,
) -> impl Iterator<Item = (u64, Duration)> {
    std::iter::from_fn(move || {
        if answered.is_empty() {
            return None;
        }
        let &Begun { end, at } = begun.front()?;
        let count = answered.end.min(end) - answered.start;
        answered.start += count;
        if answered.start == end {
            begun.pop_front();
        }
        Some((count, now.saturating_duration_since(at)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answered_message_has_waited_since_its_write_was_begun() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let begun = [(3, 0), (6, 10), (9, 20)].map(|(end, millis)| Begun { end, at: at(millis) });
        let mut begun = VecDeque::from(begun);
        let mut waits = |answered, millis| {
            let waits = waits(&mut begun, answered, at(millis));
            waits.map(|(count, wait)| (count, wait.as_millis())).collect::<Vec<_>>()
        };
        assert_eq!(waits(0..2, 5), [(2, 5)]);
        assert_eq!(waits(2..7, 30), [(1, 30), (3, 20), (1, 10)]);
        assert_eq!(waits(7..7, 40), []);
        assert_eq!(waits(7..9, 50), [(2, 30)]);
        assert!(begun.is_empty());
    }
}
