//! Handler that sends blocks to a process and waits for its reply.
//!
//! Each connection has at most one block in flight. A slow process therefore slows its clients
//! down, and its mailbox holds at most one block per connection. COST: an allocation, a copy and a
//! call per batch.

use std::time::Duration;

use purlin::{ExitReason, Pid, Reply};

use super::{Batch, Block, Handler, Unhandled};
use crate::wire::session::Level;

/// A block of messages sent to a process, with the handle for the reply.
///
/// Dropping it without a reply ends the connection, and no message of the block is acknowledged.
#[derive(Debug)]
pub struct HandedBatch {
    /// The messages.
    pub block: Block,
    reply: Reply<Result<(), Unhandled>>,
}

impl HandedBatch {
    /// Acknowledges the messages. The process has taken responsibility up to their
    /// [level](Block::level).
    pub fn done(self) {
        self.reply.send(Ok(()));
    }

    /// Reports that the messages, or some of them, were not handled.
    pub fn not_done(self, why: Unhandled) {
        self.reply.send(Err(why));
    }
}

/// Sends messages to a process, which replies with [`HandedBatch::done`].
///
/// ```
/// use purlin::{Process, spawn};
/// use purlin_ack::handler::{HandedBatch, ToProcess};
/// use purlin_ack::server::Server;
///
/// async fn printer(mut me: Process<HandedBatch>) {
///     loop {
///         let handed = me.receive().await;
///         for frame in handed.block.frames() {
///             println!("{}: {} bytes", frame.id, frame.payload.len());
///         }
///         handed.done();
///     }
/// }
///
/// # #[purlin::main] async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let node = purlin::Node::current().expect("this is a process");
/// let printer = spawn(printer);
/// let server = Server::builder(([127, 0, 0, 1], 0).into())
///     .handler(move |_peer| ToProcess::new(printer.clone()))
///     .start(&node)
///     .await?;
/// # server.drain().await;
/// # Ok(())
/// # }
/// ```
pub struct ToProcess<M> {
    process: Pid<M>,
    patience: Duration,
    offers: Level,
}

impl<M: From<HandedBatch> + Send + 'static> ToProcess<M> {
    /// Creates a handler that sends to `process`. By default the process has 60 s per block, and
    /// the handler offers [`Level::Handled`].
    pub fn new(process: Pid<M>) -> Self {
        Self { process, patience: Duration::from_secs(60), offers: Level::Handled }
    }

    /// Sets the timeout for the reply to a block, after which the connection ends.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the highest level the process supports.
    #[must_use]
    pub fn offering(mut self, level: Level) -> Self {
        self.offers = level;
        self
    }
}

impl<M: From<HandedBatch> + Send + 'static> Handler for ToProcess<M> {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let block = batch.take();
        let done = |reply| M::from(HandedBatch { block, reply });
        match self.process.call_timeout(done, self.patience).await {
            Ok(answer) => answer,
            Err(error) => Err(Unhandled::Failed(ExitReason::error(error))),
        }
    }

    fn offers(&self) -> Level {
        self.offers
    }
}

impl<M: Send + 'static> std::fmt::Debug for ToProcess<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ToProcess").field(&self.process).finish()
    }
}
