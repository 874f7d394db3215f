//! Responder: parses and acknowledges for async-ack.
//!
//! It owns the handler. Blocks arrive as they were read, split at any point. Whole messages are
//! handled in place; only a split message is assembled in the `tail`. The responder acknowledges
//! with every [`EVERY`]th block, and after [`QUIET`] without a block if an ack is pending.
//!
//! It is linked to the connection process and ends with it for any reason, if necessary in the
//! middle of the handler. It ignores exit signals of other processes, so that during a shutdown of
//! the node everything read is still acknowledged.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Exit, ExitReason, Process, ProcessId, receive};

use super::helper::{found, write_all};
use crate::connection::budget::{Charge, FREE};
use crate::connection::close_reason::CloseReason;
use crate::connection::pending_acks::PendingAcks;
use crate::connection::shared::Shared;
use crate::connection::socket::Socket;
use crate::connection::timeout::{now, receive_within};
use crate::handler::Handler;
use crate::strategy::handle_batch::{handle_batch, missing_bytes, next_ack, whole_messages};

/// Number of blocks per ack.
const EVERY: u32 = 22;
/// Time without a block after which it acknowledges.
const QUIET: Duration = Duration::from_millis(5);

/// Messages to the responder.
pub(super) enum Item {
    /// From the reader: a block, and when it was read, on the node's clock.
    Block(Vec<u8>, Duration),
    /// From the reader: no block follows.
    Last,
    /// An exit signal.
    Exit(Exit),
}

impl From<Exit> for Item {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// State of the responder.
pub(super) struct Responder<H> {
    handler: H,
    parent: ProcessId,
    socket: Socket,
    shared: Arc<Shared>,
    /// Beginning of an incomplete message, and its charge.
    tail: Vec<u8>,
    charge: Charge,
    pending: PendingAcks,
    /// When the block was read that completed the first pending message.
    pending_since: Duration,
    blocks: u32,
    /// When a message last started or was completed, on the node's clock.
    whole_at: Duration,
}

impl<H: Handler> Responder<H> {
    pub(super) fn new(
        handler: H,
        parent: ProcessId,
        socket: Socket,
        charge: Charge,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            handler,
            parent,
            socket,
            charge,
            shared,
            tail: Vec::new(),
            pending: PendingAcks::default(),
            pending_since: Duration::ZERO,
            blocks: 0,
            whole_at: now(),
        }
    }

    /// Runs the responder process.
    pub(super) async fn run(mut self, mut me: Process<Item>) -> ExitReason {
        let end = loop {
            let item = if self.pending.count() == 0 {
                Some(me.receive().await)
            } else {
                receive_within(&mut me, QUIET).await
            };
            let done = match item {
                Some(Item::Block(block, read_at)) => {
                    if self.pending.count() == 0 {
                        self.pending_since = read_at;
                    }
                    let parent = self.parent;
                    let parsed = tokio::select! {
                        biased;
                        parsed = self.parse(&block) => parsed,
                        () = parent_ended(&mut me, parent) => return ExitReason::Normal,
                    };
                    // What has been handled is acknowledged even if parsing fails.
                    let acked = if parsed.is_err() || self.blocks >= EVERY {
                        self.acknowledge(&mut me).await
                    } else {
                        Ok(())
                    };
                    acked.and(parsed)
                }
                Some(Item::Exit(exit)) if exit.from == Some(self.parent) => {
                    return ExitReason::Normal;
                }
                Some(Item::Exit(_)) => Ok(()),
                Some(Item::Last) => break self.acknowledge(&mut me).await.err(),
                None => self.acknowledge(&mut me).await,
            };
            if let Err(end) = done {
                break Some(end);
            }
        };
        end.map_or(ExitReason::Normal, found)
    }

    async fn parse(&mut self, block: &[u8]) -> Result<(), CloseReason> {
        self.charge.idle().set_in_message(false);
        let (before, begins) = (self.pending.count(), self.tail.is_empty());
        let rest = self.finish_tail(block).await?;
        if let Some(rest) = rest {
            let batch = whole_messages(rest, &self.shared);
            let used = batch.summary().used;
            if used > 0 {
                handle_batch(&mut self.handler, batch, &mut self.pending).await?;
            }
            missing_bytes(&rest[used..], &self.shared)?;
            self.extend_tail(&rest[used..], 0)?;
        }
        // WHY not in the handler: the connection then does not wait for its client.
        self.charge.idle().set_in_message(self.charge.capacity() > FREE);
        self.blocks += 1;
        if begins || self.pending.count() > before {
            self.whole_at = now();
        } else if now().saturating_sub(self.whole_at) > self.shared.idle_timeout {
            return Err(CloseReason::IdleTimeout);
        }
        Ok(())
    }

    /// Completes the message in `tail`, if any. Returns the rest of the block, or `None` if the
    /// block was used up.
    async fn finish_tail<'a>(
        &mut self,
        mut block: &'a [u8],
    ) -> Result<Option<&'a [u8]>, CloseReason> {
        while !self.tail.is_empty() {
            let missing = missing_bytes(&self.tail, &self.shared)?;
            if missing == 0 {
                let batch = whole_messages(&self.tail, &self.shared);
                handle_batch(&mut self.handler, batch, &mut self.pending).await?;
                self.tail.clear();
                // WHY: one large message must not occupy its memory for the life of the connection.
                self.tail.shrink_to(FREE);
                self.charge.lower(self.tail.capacity());
            } else if block.is_empty() {
                return Ok(None);
            } else {
                let (now, later) = block.split_at(missing.min(block.len()));
                self.extend_tail(now, missing)?;
                block = later;
            }
        }
        Ok(Some(block))
    }

    /// Appends bytes to the incomplete message, of which `missing` are known to be missing, within the budget of
    /// the server.
    fn extend_tail(&mut self, bytes: &[u8], missing: usize) -> Result<(), CloseReason> {
        let length = self.tail.len() + bytes.len();
        if length > self.tail.capacity() {
            let ahead = (2 * self.tail.len()).min(self.tail.len().saturating_add(missing));
            let mut capacity = length.max(ahead);
            if !self.charge.try_raise(capacity) {
                capacity = length;
            }
            if !self.charge.try_raise(capacity) {
                // WHY it does not wait: the client finds room when it has reconnected.
                self.charge.budget().make_room();
                return Err(CloseReason::OverBudget);
            }
            self.tail.reserve_exact(capacity - self.tail.len());
        }
        self.tail.extend_from_slice(bytes);
        Ok(())
    }

    async fn acknowledge(&mut self, me: &mut Process<Item>) -> Result<(), CloseReason> {
        self.blocks = 0;
        while let Some(ack) = next_ack(&mut self.pending, &self.shared.counters) {
            let parent = self.parent;
            let left = |item: &Item| matches!(item, Item::Exit(exit) if exit.from == Some(parent));
            write_all(me, &self.socket, &ack, self.shared.idle_timeout, left).await?;
            self.shared.counters.latencies.acked(self.pending_since);
        }
        Ok(())
    }
}

/// Waits for the end of the connection process.
async fn parent_ended(me: &mut Process<Item>, parent: ProcessId) {
    receive!(me, { Item::Exit(exit) if exit.from == Some(parent) => {} });
}
