//! Collector: the process that runs the handler in the strategies throttle and head-rest.
//!
//! Three processes serve a connection (`collected`): the connection process reads messages and
//! passes each to the collector by a call; the collector runs the handler and stores the pending
//! acks; the `ticker` takes the pending acks and writes them.
//!
//! The collector is linked to the connection process and ends when that process ends, for any
//! reason, even in the middle of the handler. It ignores exit signals from other processes, so that
//! during a shutdown of the node every message read is still acknowledged.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Exit, ExitReason, Process, ProcessId, Reply, receive};

use crate::connection::close_reason::CloseReason;
use crate::connection::pending_acks::PendingAcks;
use crate::connection::shared::Shared;
use crate::connection::timeout::now;
use crate::handler::{Batch, Handler};
use crate::strategy::handle_batch::handle_batch;
use crate::wire::SizeOrder;
use crate::wire::read_buffer::ReadBuffer;

/// Requests to the collector.
pub(super) enum Collect {
    /// From the connection process: handle the first message in this buffer, which must be
    /// complete. The time is that of the last read into the buffer, on the node's clock; `None`
    /// means now. The reply returns the buffer, or the close reason if the handler refused the
    /// message or failed.
    One(Box<ReadBuffer>, Option<Duration>, Handed),
    /// From the ticker: reply once an ack is pending or no message follows. The reply is `true` if
    /// messages may follow.
    Due(Reply<bool>),
    /// From the ticker: take the pending acks, and the time at which the first of their messages
    /// was completely read.
    Take(Reply<(PendingAcks, Duration)>),
    /// From the connection process: no message follows.
    Last,
    /// An exit signal.
    Exit(Exit),
}

/// Reply to [`Collect::One`].
type Handed = Reply<Result<Box<ReadBuffer>, CloseReason>>;

impl From<Exit> for Collect {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// State of the collector.
pub(super) struct Collector<H> {
    handler: H,
    /// The connection process.
    parent: ProcessId,
    shared: Arc<Shared>,
    pending: PendingAcks,
    /// When the first pending message was completely read, on the node's clock.
    pending_since: Duration,
    /// Reply to a ticker that waits in [`Collect::Due`].
    waits: Option<Reply<bool>>,
    /// Whether [`Collect::Last`] was received.
    last: bool,
}

impl<H: Handler> Collector<H> {
    pub(super) fn new(handler: H, parent: ProcessId, shared: Arc<Shared>) -> Self {
        Self {
            handler,
            parent,
            shared,
            pending: PendingAcks::default(),
            pending_since: Duration::ZERO,
            waits: None,
            last: false,
        }
    }

    /// Runs the collector process.
    pub(super) async fn run(mut self, mut me: Process<Collect>) -> ExitReason {
        loop {
            match me.receive().await {
                Collect::One(buffer, whole_at, reply) => {
                    if self.pending.count() == 0 {
                        self.pending_since = whole_at.unwrap_or_else(now);
                    }
                    if !self.one(&mut me, buffer, reply).await {
                        return ExitReason::Normal;
                    }
                }
                Collect::Due(reply) => {
                    self.waits = Some(reply);
                    self.reply_if_due();
                }
                Collect::Take(reply) => {
                    reply.send((std::mem::take(&mut self.pending), self.pending_since));
                    if self.last {
                        return ExitReason::Normal;
                    }
                }
                Collect::Last => {
                    self.last = true;
                    self.reply_if_due();
                }
                Collect::Exit(exit) if exit.from == Some(self.parent) => return ExitReason::Normal,
                Collect::Exit(_) => {}
            }
        }
    }

    /// Handles one message. Returns `false` if the connection process ended during the handler.
    async fn one(
        &mut self,
        me: &mut Process<Collect>,
        mut buffer: Box<ReadBuffer>,
        reply: Handed,
    ) -> bool {
        let first = Batch::first(buffer.waiting(), SizeOrder::Little, self.shared.level);
        let Some(batch) = first else {
            // Does not happen: the connection process sends complete messages only.
            reply.send(Ok(buffer));
            return true;
        };
        let used = batch.summary().used;
        let taken = tokio::select! {
            biased;
            taken = handle_batch(&mut self.handler, batch, &mut self.pending) => taken,
            () = parent_ended(me, self.parent) => return false,
        };
        buffer.consume(used);
        self.reply_if_due();
        reply.send(taken.map(|()| buffer));
        true
    }

    /// Replies to the waiting ticker if an ack is pending or no message follows.
    fn reply_if_due(&mut self) {
        if (self.last || self.pending.count() > 0)
            && let Some(waits) = self.waits.take()
        {
            waits.send(!self.last);
        }
    }
}

/// Waits for the exit signal of the connection process. Other messages stay in the mailbox.
async fn parent_ended(me: &mut Process<Collect>, parent: ProcessId) {
    receive!(me, { Collect::Exit(exit) if exit.from == Some(parent) => {} });
}
