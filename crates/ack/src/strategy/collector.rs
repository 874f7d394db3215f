//! Collector: handler process of throttle and head-rest.
//!
//! It owns the handler and keeps the pending acks until the ticker takes them. It is linked to the
//! connection process and ends with it for any reason, if necessary in the middle of the handler.
//! It ignores exit signals of other processes, so that during a shutdown of the node everything
//! read is still acknowledged.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Exit, ExitReason, Process, ProcessId, Reply, receive};

use super::handle_batch::handle_batch;
use crate::handler::{Batch, Handler};
use crate::pending_acks::PendingAcks;
use crate::read_buffer::ReadBuffer;
use crate::server::close_reason::CloseReason;
use crate::server::shared::Shared;
use crate::server::timeout::now;

/// Requests to the collector.
pub(super) enum Collect {
    /// From the reader: handle the first message of this buffer, which is complete. The time is
    /// when the buffer was last read to, or `None` for now. The reply returns the buffer or the
    /// close reason.
    One(Box<ReadBuffer>, Option<Duration>, Handed),
    /// From the ticker: reply once an ack is pending. The reply is `false` after the last message.
    Due(Reply<bool>),
    /// From the ticker: take the pending acks and the time at which the first of their messages was
    /// completed.
    Take(Reply<(PendingAcks, Duration)>),
    /// From the reader: no message follows.
    Last,
    /// An exit signal.
    Exit(Exit),
}

/// Reply to the reader.
type Handed = Reply<Result<Box<ReadBuffer>, CloseReason>>;

impl From<Exit> for Collect {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// State of the collector.
pub(super) struct Collector<H> {
    handler: H,
    parent: ProcessId,
    shared: Arc<Shared>,
    pending: PendingAcks,
    /// When the first pending message was completed, on the node's clock.
    pending_since: Duration,
    /// Reply to the waiting ticker.
    waits: Option<Reply<bool>>,
    last: bool,
}

impl<H: Handler> Collector<H> {
    pub(super) fn new(handler: H, parent: ProcessId, shared: Arc<Shared>) -> Self {
        let (owed, owed_since) = Default::default();
        Self {
            handler,
            parent,
            shared,
            pending: owed,
            pending_since: owed_since,
            waits: None,
            last: false,
        }
    }

    /// Runs the collector process.
    pub(super) async fn run(mut self, mut me: Process<Collect>) -> ExitReason {
        me.trap_exit(true);
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

    /// Handles one message. Returns `false` if the connection process has ended meanwhile.
    async fn one(
        &mut self,
        me: &mut Process<Collect>,
        mut buffer: Box<ReadBuffer>,
        reply: Handed,
    ) -> bool {
        let (order, level) = (self.shared.strategy.order(), self.shared.level);
        let Some(batch) = Batch::first(buffer.waiting(), order, level) else {
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

/// Waits for the end of the connection process.
async fn parent_ended(me: &mut Process<Collect>, parent: ProcessId) {
    receive!(me, { Collect::Exit(exit) if exit.from == Some(parent) => {} });
}
