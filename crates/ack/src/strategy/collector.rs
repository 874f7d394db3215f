//! The process to which throttle and head-rest hand each message.
//!
//! It has the handler, and keeps what is owed until the ticker takes it. Linked to
//! the connection's process, and ends with it for whatever reason, in the middle of
//! the handler if need be; exit signals of others are ignored, so that what was read
//! is acknowledged when everybody is told to end.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Exit, ExitReason, Process, ProcessId, Reply, receive};

use super::taking::take;
use crate::handler::{Batch, Handler};
use crate::inbuf::InBuf;
use crate::owed::Owed;
use crate::server::ending::End;
use crate::server::shared::Shared;
use crate::server::waiting::now;

/// What the collector is told.
pub(super) enum Collect {
    /// By the reader: the first message of this buffer, which is whole, and when that was last read to unless it
    /// is just now. The buffer comes back, or why the connection is to end.
    One(Box<InBuf>, Option<Duration>, Handed),
    /// By the ticker: to say when something is owed, and whether anything more will be.
    Due(Reply<bool>),
    /// By the ticker: to hand over what is owed, and when the first message of it had become whole.
    Take(Reply<(Owed, Duration)>),
    /// By the reader: there was the last message.
    Last,
    /// An exit signal.
    Exit(Exit),
}

/// What the reader is answered.
type Handed = Reply<Result<Box<InBuf>, End>>;

impl From<Exit> for Collect {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// What the collector keeps.
pub(super) struct Collector<H> {
    handler: H,
    parent: ProcessId,
    shared: Arc<Shared>,
    owed: Owed,
    /// When the first message that is owed had become whole, on the node's clock.
    owed_since: Duration,
    /// The ticker waits for something to be owed.
    waits: Option<Reply<bool>>,
    last: bool,
}

impl<H: Handler> Collector<H> {
    pub(super) fn new(handler: H, parent: ProcessId, shared: Arc<Shared>) -> Self {
        let (owed, owed_since) = Default::default();
        Self { handler, parent, shared, owed, owed_since, waits: None, last: false }
    }

    /// The process.
    pub(super) async fn run(mut self, mut me: Process<Collect>) -> ExitReason {
        me.trap_exit(true);
        loop {
            match me.receive().await {
                Collect::One(buffer, whole_at, reply) => {
                    if self.owed.count() == 0 {
                        self.owed_since = whole_at.unwrap_or_else(now);
                    }
                    if !self.one(&mut me, buffer, reply).await {
                        return ExitReason::Normal;
                    }
                }
                Collect::Due(reply) => {
                    self.waits = Some(reply);
                    self.tell();
                }
                Collect::Take(reply) => {
                    reply.send((std::mem::take(&mut self.owed), self.owed_since));
                    if self.last {
                        return ExitReason::Normal;
                    }
                }
                Collect::Last => {
                    self.last = true;
                    self.tell();
                }
                Collect::Exit(exit) if exit.from == Some(self.parent) => return ExitReason::Normal,
                Collect::Exit(_) => {}
            }
        }
    }

    /// Takes a message; `false` if the connection's process has ended meanwhile.
    async fn one(
        &mut self,
        me: &mut Process<Collect>,
        mut buffer: Box<InBuf>,
        reply: Handed,
    ) -> bool {
        let (order, level) = (self.shared.strategy.order(), self.shared.level);
        let Some(batch) = Batch::first(buffer.waiting(), order, level) else {
            reply.send(Ok(buffer));
            return true;
        };
        let used = batch.skimmed().used;
        let taken = tokio::select! {
            biased;
            taken = take(&mut self.handler, batch, &mut self.owed) => taken,
            () = left(me, self.parent) => return false,
        };
        buffer.used(used);
        self.tell();
        reply.send(taken.map(|()| buffer));
        true
    }

    /// Tells the ticker, if it waits and there is something to be told.
    fn tell(&mut self) {
        if (self.last || self.owed.count() > 0)
            && let Some(waits) = self.waits.take()
        {
            waits.send(!self.last);
        }
    }
}

/// Waits for the end of the connection's process.
async fn left(me: &mut Process<Collect>, parent: ProcessId) {
    receive!(me, { Collect::Exit(exit) if exit.from == Some(parent) => {} });
}
