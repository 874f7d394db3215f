//! Process that owns the log.
//!
//! It may block its thread and serves nothing else. It drains its mailbox up to [`TOGETHER`] bytes,
//! commits the blocks as one batch, and then replies to all senders. After a failed write or sync it
//! replies with the error, closes the log and ends with the error as its exit reason.

use purlin::{Exit, ExitReason, Process, Reply};
use purlin_log::{Client, Error, Log, Position};

use crate::handler::Stored;
use crate::wire::{Reason, Refusal};

/// Target size of a batch in bytes; the last block may exceed it.
const TOGETHER: usize = 4 << 20;

/// Why a block was not stored, or a position cannot be determined.
#[derive(Clone, Debug)]
pub(super) struct NotStored(String);

impl std::fmt::Display for NotStored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the messages cannot be stored: {}", self.0)
    }
}

impl std::error::Error for NotStored {}

/// Reply to a request.
type Answer<T> = Reply<Result<T, NotStored>>;

/// Messages of one client.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) client: Option<Client>,
    /// Messages with little-endian sizes.
    pub(super) messages: Vec<u8>,
    pub(super) refused: Vec<purlin_log::Refusal>,
    pub(super) durable: bool,
}

/// Requests to the writer.
#[derive(Debug)]
pub(super) enum Mail {
    /// Stores a block.
    Store(Block, Answer<()>),
    /// Asks for the stored position of a client.
    Stored([u8; 16], Answer<Option<Stored>>),
    /// An exit signal.
    Exit(Exit),
}

impl From<Exit> for Mail {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// State of the writer.
pub(super) struct Writer {
    log: Log,
    /// Blocks to be committed, and the replies that wait for the commit.
    blocks: Vec<Block>,
    wait: Vec<Answer<()>>,
    /// Queries for stored positions, answered after the next commit.
    ///
    /// WHY after: the old connection of the client may have been killed while its messages were in
    /// this mailbox. Answered earlier, the client would send them again.
    asked: Vec<([u8; 16], Answer<Option<Stored>>)>,
    /// Failed write or sync.
    failed: Option<Error>,
}

impl Writer {
    pub(super) fn new(log: Log) -> Self {
        let (blocks, wait, asked) = (Vec::new(), Vec::new(), Vec::new());
        Self { log, blocks, wait, asked, failed: None }
    }

    /// Runs the writer process.
    pub(super) async fn run(mut self, mut me: Process<Mail>) -> Result<ExitReason, Error> {
        me.trap_exit(true);
        loop {
            let mut mail = Some(me.receive().await);
            let (mut bytes, mut reason) = (0, None);
            while let Some(now) = mail {
                match now {
                    Mail::Store(block, reply) => {
                        bytes += block.messages.len();
                        self.blocks.push(block);
                        self.wait.push(reply);
                    }
                    Mail::Stored(client, reply) => self.asked.push((client, reply)),
                    Mail::Exit(exit) => reason = Some(exit.reason),
                }
                mail = if bytes < TOGETHER { me.try_receive() } else { None };
            }
            self.commit();
            self.answer();
            if let Some(error) = self.failed {
                tracing::error!(%error, "messages cannot be stored until the log is opened again");
                return Err(error);
            }
            if let Some(reason) = reason {
                self.log.close()?;
                return Ok(reason);
            }
        }
    }

    /// Commits the collected blocks and replies to the senders.
    fn commit(&mut self) {
        if self.blocks.is_empty() {
            return;
        }
        let durable = self.blocks.iter().any(|block| block.durable);
        let blocks: Vec<_> = self.blocks.iter().map(Block::borrow).collect();
        let committed = self.log.commit(&blocks, durable);
        let committed = self.noted(committed);
        for wait in self.wait.drain(..) {
            wait.send(committed.clone());
        }
        self.blocks.clear();
    }

    /// Answers the queries for stored positions.
    fn answer(&mut self) {
        for (client, reply) in std::mem::take(&mut self.asked) {
            let position = self.log.position(client);
            reply.send(self.noted(position).map(|position| position.map(stored)));
        }
    }

    /// Remembers the first failure of the log.
    fn noted<T>(&mut self, result: Result<T, Error>) -> Result<T, NotStored> {
        result.map_err(|error| {
            let not_stored = NotStored(error.to_string());
            if !matches!(error, Error::Malformed | Error::TooLarge { .. }) {
                self.failed.get_or_insert(error);
            }
            not_stored
        })
    }
}

impl Block {
    fn borrow(&self) -> purlin_log::Block<'_> {
        let Self { client, messages, refused, .. } = self;
        purlin_log::Block { client: *client, messages, refused }
    }
}

fn stored(position: Position) -> Stored {
    let Position { epoch, newest, refused } = position;
    let refused = refused.into_iter();
    let refusal = |purlin_log::Refusal { id, reason }| Refusal { id, reason: Reason(reason) };
    Stored { epoch, newest, refused: refused.map(refusal).collect() }
}
